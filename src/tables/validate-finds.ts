import { statSync } from 'node:fs';
import { FileError, UsageError } from '../base/errors.ts';
import { hasErrors, Issue, makeErrorIssue, makeWarningIssue } from '../base/issue.ts';
import { cmd, msg } from '../base/message.ts';
import { checkDocument } from '../finds/check-document.ts';
import { findSchemaNamesProblem } from '../finds/document.ts';
import type { LookupTerm } from '../finds/find.ts';
import { type ValidationContext, validateFind } from '../finds/rules.ts';
import { makeNumberLookup } from '../outbox/changes/enqueue-change.ts';
import { convertStoredFind, makePreparedDocument } from '../outbox/changes/enqueue-finds.ts';
import { selectCorrectableIssues } from '../outbox/changes/merge-row.ts';
import { findNamedFinds, makeFindLookup } from '../outbox/changes/resolve-finds.ts';
import type { ImportEntry } from '../outbox/entry.ts';
import { findImportOfFind } from '../outbox/entry-queries.ts';
import type { PreparedDocument } from '../outbox/intents.ts';
import { findKnownAccount, type Outbox } from '../outbox/open-outbox.ts';
import { findByUuid, iterateFinds, type StoredFind } from '../outbox/stored-finds.ts';
import { storePreparedDocument } from '../outbox/wishes.ts';
import { collapseRepeatedWarnings } from './collapse-issues.ts';
import { checkMapping, type Mapping } from './own-terms/mapping.ts';

/** Counts of finds and documents together, and the issues of all. */
type FindVerdict = {
  readonly valid: number;
  readonly invalid: number;
  readonly issues: readonly Issue[];
};

type ToValidate = {
  /** By name; undefined for all. */
  readonly finds: readonly string[] | undefined;
  readonly documents: readonly (readonly [name: string, bytes: Buffer])[];
  /** The museum's own terms, with the lookup of the vocabularies. */
  readonly terms: { readonly mapping: Mapping; readonly lookupTerm: LookupTerm } | undefined;
  readonly onProgress: (doneCount: number, total: number) => void;
};

/**
 * Validates finds by the vocabularies of now, and stores the document of each that has another one
 * now, in a transaction of its own, so that a draft may become complete. Finds that were sent or
 * are being sent keep theirs. The given documents are validated as well, and nothing of them is
 * stored. The issues include those of the profile's schema names and of the mapping, whose
 * conflicts are warnings here; `valid` and `invalid` do not count them. `onProgress` is called
 * before each find.
 * @throws UsageError for an unknown or ambiguous find, or the name of a file in its place;
 * FileError for that of a folder; DatabaseError where the disk fails: the documents before it stay
 * stored
 */
export function validateAndRenewFinds(
  outbox: Outbox,
  ruleContext: ValidationContext,
  request: ToValidate,
): FindVerdict {
  const { finds, documents, terms, onProgress } = request;
  for (const name of finds ?? []) assertNoOtherFile(outbox, name);
  const verdicts: (readonly Issue[])[] = documents.map(([name, bytes]) =>
    checkDocument(name, bytes, ruleContext),
  );
  const findContext = { ...ruleContext, lookupNumber: makeNumberLookup(outbox) };
  const all = finds === undefined ? [...iterateFinds(outbox)] : findNamedFinds(outbox, finds);
  for (const [index, stored] of all.entries()) {
    onProgress(index, all.length);
    verdicts.push(validateStored(outbox, stored, findContext));
  }
  const invalid = verdicts.filter(hasErrors).length;
  // A conflict of the mapping does not invalidate stored finds, only later imports.
  const conflicts = terms === undefined ? [] : checkMapping(terms.mapping, terms.lookupTerm);
  const issues = [
    ...checkNames(outbox, ruleContext),
    ...collapseRepeatedWarnings(verdicts.flat()),
    ...conflicts.map((issue) => issue.with({ severity: 'warning' })),
  ];
  return { valid: verdicts.length - invalid, invalid, issues };
}

/**
 * Makes the documents of finds again, by the vocabularies of now, and stores each that differs, in
 * a transaction of its own. Finds that were sent or are being sent keep theirs; unknown ones are
 * passed over.
 * @param uuids of the finds
 * @returns the issues of the finds that have become drafts
 * @throws DatabaseError where the disk fails: the documents before it stay stored
 */
export function renewDocuments(
  outbox: Outbox,
  uuids: readonly string[],
  ruleContext: ValidationContext,
): Issue[] {
  const findContext = { ...ruleContext, lookupNumber: makeNumberLookup(outbox) };
  return uuids.flatMap((uuid) => {
    const stored = findByUuid(outbox, uuid);
    if (stored === undefined) return [];
    const { state } = findImportOfFind(outbox, uuid) ?? {};
    const issues = validateStored(outbox, stored, findContext);
    return state === 'queued' && hasErrors(issues) ? issues : [];
  });
}

/**
 * Compares the profile's schema names with those in the last answer about the account; empty where
 * they agree or there was none. Only a certain refusal is an error.
 */
function checkNames(outbox: Outbox, { schema }: ValidationContext): Issue[] {
  const account = findKnownAccount(outbox);
  const problem = account && findSchemaNamesProblem(schema.profile, account);
  if (problem === undefined) return [];
  const issue = problem.isCertain ? makeErrorIssue : makeWarningIssue;
  return [issue('schema-declaration', msg`${problem.message} ${problem.todo}`)];
}

/**
 * @throws FileError, UsageError for the name of a folder, or of a file other than XML, in place of
 * a find
 */
function assertNoOtherFile(outbox: Outbox, name: string): void {
  const isFind = makeFindLookup(outbox)(name) !== undefined;
  const stats = isFind ? undefined : statSync(name, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isDirectory()) throw new FileError(name, msg`${name} is a folder, not a file.`);
  throw new UsageError(msg`${name} is neither a find nor a file that ends in .xml.`, {
    hint: msg`To check a table: ${cmd`pas import ${name} --dry-run`}`,
  });
}

/**
 * Validates a find, updates its entry's document and returns the issues that can be corrected;
 * repeats where another process changed the find meanwhile. Empty where that removed it.
 */
function validateStored(
  outbox: Outbox,
  read: StoredFind,
  ruleContext: ValidationContext,
): readonly Issue[] {
  for (
    let stored: StoredFind | undefined = read;
    stored !== undefined;
    stored = findByUuid(outbox, read.uuid)
  ) {
    const find = convertStoredFind(stored);
    const validated = validateFind(find, ruleContext);
    if (updateImport(outbox, stored, makePreparedDocument(validated))) {
      const where = { find: stored.localId, ...find.source };
      const entry = findImportOfFind(outbox, stored.uuid);
      return selectCorrectableIssues(validated.issues, entry).map(
        (issue) => new Issue({ ...where, ...issue }),
      );
    }
  }
  return [];
}

/**
 * Stores the document of a find in its entry, unless it is current, or {@link findImportToUpdate}
 * says that it must stay.
 * @returns false, with nothing stored, where another process changed the find meanwhile
 */
function updateImport(
  outbox: Outbox,
  { uuid, version }: StoredFind,
  content: PreparedDocument,
): boolean {
  if (findImportToUpdate(outbox, uuid, content) === undefined) return true;
  return outbox.change(() => {
    if (findByUuid(outbox, uuid)?.version !== version) return false;
    const entry = findImportToUpdate(outbox, uuid, content);
    if (entry !== undefined) storePreparedDocument(outbox, entry, content);
    return true;
  });
}

/**
 * Returns the import to update, whose document differs: a draft, a queued one, also where only its
 * issues are more or fewer, or, if the find is complete, a refused one. Undefined for any other,
 * such as one that was sent or is being sent, and for a draft that stays one, even with other
 * issues.
 */
function findImportToUpdate(
  outbox: Outbox,
  uuid: string,
  content: PreparedDocument,
): ImportEntry | undefined {
  const entry = findImportOfFind(outbox, uuid);
  // A refused find keeps its refusal, with the bytes that are sent if a person resends it.
  const isRefused = entry?.state === 'refused' && content.document !== null;
  if (entry?.state !== 'draft' && entry?.state !== 'queued' && !isRefused) return undefined;
  const same =
    content.document === null
      ? entry.document === null
      : entry.document?.equals(content.document) === true &&
        (isRefused || entry.issues.length === content.issues.length);
  return same ? undefined : entry;
}
