import { dirname, resolve } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { type Issue, warningIssue } from '../base/issue.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import { localDate } from '../base/local-date.ts';
import type { Profile } from '../config.ts';
import type { Context } from '../context.ts';
import type { Find, FindElements } from '../find/find.ts';
import { withMapping } from '../find/mapping.ts';
import { NOT_HARVESTED } from '../find/rule.ts';
import { openFindSchema } from '../find/schema.ts';
import { type ValidatedFind, type ValidationContext, validateFind } from '../find/validate.ts';
import { targetOf } from '../flows/enqueue-change.ts';
import { keepingPhotographs, type PhotographKeeping } from '../flows/kept-photographs.ts';
import { knownAccount } from '../outbox/accounts.ts';
import { entriesOfRecord, recordKey, type Target } from '../outbox/entries.ts';
import { findByIdentCely, findByLocalId, type StoredFind } from '../outbox/finds.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { readMappingFile } from './mapping-file.ts';
import { documentProfileOf, ownSchemaReader } from './own-schema.ts';

/** All that is known here for validating: the profile's schema, the account's role, what was harvested. */
export async function openValidationContext(context: Context): Promise<ValidationContext> {
  const profile = context.profile();
  const schema = await openFindSchema(documentProfileOf(profile), ownSchemaReader(context));
  const lookups = await openLookups(context, profile);
  const role = knownAccount(await context.outbox(), profile.name)?.role;
  return { schema, ...lookups, today: localDate(context.clock.now()), ...(role === undefined ? {} : { role }) };
}

export async function openValidation(context: Context): Promise<(find: Find) => ValidatedFind> {
  const known = await openValidationContext(context);
  return (find) => validateFind(find, known);
}

/** What was harvested, looked up by the museum's own terms as well. */
export async function openLookups(context: Context, profile: Profile) {
  const { lookupTerm, lookupArea } = (await context.vocabulary()).lookups(profile.oaiBase ?? '');
  return { lookupTerm: withMapping(lookupTerm, readMappingFile(context)), lookupArea };
}

export type KeepingFlags = { readonly link?: boolean; readonly stripGps?: boolean };

export function photographKeeping(context: Context, { link = false, stripGps = false }: KeepingFlags): PhotographKeeping {
  return keepingPhotographs(context.places.photosFolder, { maxBytes: context.profile().photoMaxBytes, link, stripGps });
}

/** Names as the user gave them → stored finds. @throws UsageError naming those that are not there */
export function findsNamed(outbox: Outbox, profile: string, names: readonly string[]): StoredFind[] {
  const found = names.map((name) => findByLocalId(outbox, name) ?? findByIdentCely(outbox, name, profile));
  const missing = names.filter((_, index) => found[index] === undefined);
  if (missing.length > 0) {
    const named = missing.join(', ');
    throw new UsageError(t`There is no find ${named}.`, { hint: t`\`pas list\` shows the finds.` });
  }
  return found.filter((find) => find !== undefined);
}

/**
 * Names as the user gave them → the keys of their records: of finds, or of records of the service that are not kept here
 * and that something was queued for.
 * @throws UsageError naming those of which nothing is known
 */
export function recordsNamed(outbox: Outbox, profile: string, names: readonly string[]): string[] {
  return names.map((name) => {
    const target = targetOf(outbox, profile, name);
    if (target.findId === null) refuseUntouched(outbox, target, name);
    return recordKey(target);
  });
}

/** @throws UsageError where nothing was queued for a record that is no find here */
export function refuseUntouched(outbox: Outbox, { profile }: Target, identCely: string): void {
  if (entriesOfRecord(outbox, identCely, profile).length > 0) return;
  throw new UsageError(t`${identCely} is not kept here, and nothing is queued for it under profile ${profile}.`, {
    hint: t`A number or a photograph for it can be queued: pas number set ${identCely} VALUE, pas photo add ${identCely} FILE`,
  });
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
 * A table without harvested vocabularies has a warning for every cell that names a term: one says the same.
 *
 * @param more of these warnings that were counted and not kept
 */
export function foldUnchecked(issues: readonly Issue[], more = 0): Issue[] {
  const rest = issues.filter((issue) => issue.rule !== NOT_HARVESTED);
  const unchecked = issues.length - rest.length + more;
  if (unchecked === 0) return rest;
  const message = ngettext(
    msgid`${unchecked} identifier is taken unchecked, because its vocabulary was not harvested. Run pas harvest-vocab to check it.`,
    `${unchecked} identifiers are taken unchecked, because their vocabularies were not harvested. Run pas harvest-vocab to check them.`,
    unchecked,
  );
  return [...rest, warningIssue(NOT_HARVESTED, message)];
}
