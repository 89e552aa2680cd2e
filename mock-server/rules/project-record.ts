import type { Archive } from '../state/records/archive.ts';
import { orderChildren } from '../state/records/child-order.ts';
import { type Body, getText } from '../state/records/record.ts';

/** Accessibility of a project without finds: public (S-ACCESS-3). */
const ANONYMOUS = 'HES-000865';

/** Updates a project's list of finds and its accessibility; its datestamp changes (A-HISTORY-4). */
export function rewriteProject(archive: Archive, ident: string): void {
  const project = archive.findLive('projekt', ident);
  if (project === undefined) return;
  const finds = archive.findIdentsOfProject(ident).map((find) => ({ '@id': find, '#': find }));
  const accessibility = project.body['pristupnost_pom'];
  const body = orderChildren('projekt', {
    ...project.body,
    pristupnost_pom: accessibility && computeAccessibility(archive, ident),
    samostatny_nalez: finds.length === 0 ? undefined : finds,
  });
  archive.put({ entity: 'projekt', body });
}

/** Returns the entry with the lowest `razeni` among the project's finds. */
function computeAccessibility(archive: Archive, project: string): Body {
  const entries = archive
    .listAccessibilitiesOfProject(project)
    .map((id) => archive.findLive('heslo', id))
    .filter((entry) => entry !== undefined)
    .sort(
      (a, b) => Number(getText(a.body['razeni']) ?? 0) - Number(getText(b.body['razeni']) ?? 0),
    );
  const entry = entries[0] ?? archive.findLive('heslo', ANONYMOUS);
  const ident = entry?.ident ?? ANONYMOUS;
  return { '@lang': 'cs', '@id': ident, '#': getText(entry?.body['heslo']) ?? ident };
}
