import type { Archive } from '../records/archive.ts';
import { type ArchiveRecord, childOf, idOf, listOf, textOf } from '../records/record.ts';
import type { Viewer } from './viewer.ts';
import { isVisible } from './visibility.ts';

/** Who really sees a record on the deployed service (B-SEE-11): its rule for finds is not the contract's. */
export function isVisibleDeployed(archive: Archive, record: ArchiveRecord, viewer: Viewer): boolean {
  if (record.entity !== 'samostatny_nalez' || viewer.letter === 'D' || record.stav === 4) return isVisible(record, viewer);
  if (viewer.user === null) return false;
  if (latestChangeRegistersBy(record, viewer.user)) return true;
  return viewer.letter === 'C' && viewer.organisation !== null && organisationsOf(archive, record).includes(viewer.organisation);
}

/** An own find disappears for its finder once another entry, such as its submission, follows the registration. */
function latestChangeRegistersBy({ body }: ArchiveRecord, user: string): boolean {
  const latest = childOf(listOf(body['historie']).at(-1));
  return textOf(latest?.['typ_zmeny']) === 'SN01' && idOf(latest?.['uzivatel']) === user;
}

function organisationsOf(archive: Archive, { body }: ArchiveRecord): Array<string | undefined> {
  const project = archive.live('projekt', idOf(body['projekt']) ?? '');
  return [idOf(project?.body['organizace']), idOf(body['predano_organizace'])];
}
