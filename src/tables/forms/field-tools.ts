import { UsageError } from '../../base/errors.ts';
import { makeReferenceResolver } from '../../finds/resolve-references.ts';
import { findRoleRank } from '../../finds/value-rules.ts';
import { type FindDefaults, parseSettings } from '../columns/settings.ts';
import type { FieldFormOrder, FieldFormWriter } from './form-lists.ts';

/** Programs that record finds on a phone. The code of a form is loaded only for its program. */
const MAKERS = {
  odk: async (request) => (await import('./make-odk-form.ts')).writeOdkForm(request),
  qfield: async (request) => (await import('./make-qfield-project.ts')).writeQfieldProject(request),
} as const satisfies Readonly<Record<string, FieldFormWriter>>;

/** Phone app that `--for` names. */
export type FieldApp = keyof typeof MAKERS;

/** Apps for which there is a form, as `--for` lists them. */
export const FIELD_APPS = Object.keys(MAKERS) as readonly FieldApp[];

/**
 * Writes the form of a find for a phone app, with the given defaults. Where they have no target
 * state, it is 1 for a researcher or an unknown role, else 2. Photographs among the defaults are
 * ignored.
 * @param defaults of config.toml and flags, for every find
 * @returns paths of the files that must be copied to the phone, the form first
 * @throws UsageError where a default cannot be read, a vocabulary was not harvested, or a file
 * exists that may not be replaced; FileError where the path is not writable; DatabaseError where
 * the disk is full
 */
export async function writeFieldForm(
  tool: FieldApp,
  defaults: FindDefaults,
  wanted: FieldFormOrder,
): Promise<readonly string[]> {
  const resolveReference = makeReferenceResolver(wanted.rules.lookupTerm);
  const { elements, issues } = parseSettings(defaults, '', { resolveReference });
  const issue = issues.find(({ severity }) => severity === 'error');
  if (issue !== undefined) throw new UsageError(issue.message);
  const rank = findRoleRank(wanted.rules);
  // A researcher, and so perhaps an unknown account, may import into state 1 only.
  const stav = rank === undefined || rank === 'researcher' ? 1 : 2;
  return MAKERS[tool]({ ...wanted, starting: { stav, ...elements } });
}
