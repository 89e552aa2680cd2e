import { dirname, resolve } from 'node:path';
import { type Issue, warningIssue } from '../base/issue.ts';
import { msgid, ngettext } from '../base/language.ts';
import { localDate } from '../base/local-date.ts';
import type { Find, FindElements } from '../find/find.ts';
import { withMapping } from '../find/mapping.ts';
import { NOT_HARVESTED } from '../find/rule.ts';
import { openFindSchema } from '../find/schema.ts';
import { type ValidatedFind, validateFind } from '../find/validate.ts';
import { keepingPhotographs, type PhotographKeeping } from '../flows/kept-photographs.ts';
import { knownAccount } from '../outbox/accounts.ts';
import type { StoredFind } from '../outbox/finds.ts';
import type { Profile } from './config.ts';
import type { Context } from './context.ts';
import { readMappingFile } from './own-files.ts';
import { documentProfileOf, ownSchemaReader } from './own-schema.ts';

/** All that is known here for validating: the profile's schema, the account's role and organisation, what was harvested. */
export async function openValidationContext(context: Context) {
  const profile = context.profile();
  const schema = await openFindSchema(documentProfileOf(profile), ownSchemaReader(context));
  const lookups = await openLookups(context, profile);
  const account = knownAccount(await context.outbox());
  const who = account === undefined ? {} : { role: account.role, organisation: account.organisation };
  return { schema, ...lookups, today: localDate(context.clock.now()), ...who };
}

export async function openValidation(context: Context): Promise<(find: Find) => ValidatedFind> {
  const known = await openValidationContext(context);
  return (find) => validateFind(find, known);
}

/** What was harvested, looked up by the museum's own terms as well. */
export async function openLookups(context: Context, profile: Profile) {
  const { lookupTerm, ...others } = (await context.vocabulary()).lookups(profile.oaiBase ?? '');
  return { ...others, lookupTerm: withMapping(lookupTerm, readMappingFile(context)) };
}

/** What entries of vocabularies are offered from, in lines as long as the terminal's. */
export async function offerSources(context: Context) {
  const vocabulary = (await context.vocabulary()).source(context.profile().oaiBase ?? '');
  return { vocabulary, mapping: readMappingFile(context), columns: context.streams.stderr.columns ?? 80 };
}

export type KeepingFlags = { readonly link?: boolean; readonly stripGps?: boolean };

export function photographKeeping(context: Context, { link = false, stripGps = false }: KeepingFlags): PhotographKeeping {
  return keepingPhotographs(context.places.photosFolder, { maxBytes: context.profile().photoMaxBytes, link, stripGps });
}

/** The find layer's view of a stored find. Its photographs are entries of their own by now. */
export function asFind(stored: StoredFind): Find {
  return {
    localId: stored.localId,
    elements: stored.elements as FindElements,
    photos: [],
    ...(stored.sourceFile === null || stored.sourceRow === null
      ? {}
      : { source: { file: stored.sourceFile, row: stored.sourceRow } }),
  };
}

export function photoRootOf(tablePath: string, option: string | undefined): string {
  return option === undefined ? dirname(resolve(tablePath)) : resolve(option);
}

/**
 * A table without harvested vocabularies has a warning for every cell that names a term, and one of a doubtful project for every
 * row: one says the same.
 *
 * @param more of the former that were counted and not kept
 */
export function foldUnchecked(issues: readonly Issue[], more = 0): Issue[] {
  const checked = issues.filter((issue) => issue.rule !== NOT_HARVESTED);
  const unchecked = issues.length - checked.length + more;
  const rest = foldProjects(checked);
  if (unchecked === 0) return rest;
  const message = ngettext(
    msgid`${unchecked} identifier is taken unchecked, because its vocabulary was not harvested. Run pas harvest-vocab to check it.`,
    `${unchecked} identifiers are taken unchecked, because their vocabularies were not harvested. Run pas harvest-vocab to check them.`,
    unchecked,
  );
  return [...rest, warningIssue(NOT_HARVESTED, message)];
}

function foldProjects(issues: readonly Issue[]): Issue[] {
  const alike = new Map<string, number>();
  for (const { severity, element, message } of issues) {
    if (severity === 'warning' && element === 'projekt') alike.set(message, (alike.get(message) ?? 0) + 1);
  }
  return issues.flatMap((issue) => {
    const { rule, message } = issue;
    const count = alike.get(message) ?? 1;
    if (count === 1) return [issue];
    alike.set(message, 0);
    const named = ngettext(msgid`${count} find names it.`, `${count} finds name it.`, count);
    return count === 0 ? [] : [warningIssue(rule, `${message} ${named}`, { element: 'projekt' })];
  });
}
