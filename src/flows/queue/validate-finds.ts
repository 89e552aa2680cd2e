import { statSync } from 'node:fs';
import { FileError, UsageError } from '../../base/errors.ts';
import { hasErrors, Issue } from '../../base/issue.ts';
import { cmd, msg } from '../../base/message.ts';
import { checkMapping, type Mapping } from '../../columns/mapping.ts';
import { checkDocument } from '../../find/check-document.ts';
import type { LookupTerm } from '../../find/lookup.ts';
import { type ValidationContext, validateFind } from '../../find/validate-find.ts';
import { type ImportContent, importOfFind, replaceImport } from '../../outbox/entries.ts';
import type { ImportEntry } from '../../outbox/entry.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { allFinds, findById, findByIdentCely, findByLocalId, type StoredFind } from '../../outbox/stored-finds.ts';
import { asFind } from './as-find.ts';
import { contentOf } from './enqueue-finds.ts';
import { foldUnchecked } from './fold-issues.ts';
import { findsNamed } from './named-finds.ts';

type Verdict = { readonly valid: number; readonly invalid: number; readonly issues: readonly Issue[] };

type ToValidate = {
  /** By their names; undefined for all. */
  readonly finds: readonly string[] | undefined;
  readonly documents: readonly (readonly [name: string, bytes: Buffer])[];
  /** The museum's own terms, with the vocabularies' own lookup. */
  readonly terms: { readonly mapping: Mapping; readonly lookupTerm: LookupTerm } | undefined;
  readonly onProgress: (done: number, total: number) => void;
};

/**
 * Judges documents and finds by all that is known now, and brings the entries of the finds up to date: what was a draft may be complete
 * since the vocabularies were harvested.
 * @throws UsageError, FileError for a name that no find has
 */
export function validateAll(outbox: Outbox, known: ValidationContext, request: ToValidate): Verdict {
  const { finds, documents, terms, onProgress } = request;
  for (const name of finds ?? []) refuseOtherFile(outbox, name);
  const verdicts: (readonly Issue[])[] = documents.map(([name, bytes]) => checkDocument(name, bytes, known));
  const all = finds === undefined ? [...allFinds(outbox)] : findsNamed(outbox, finds);
  for (const [index, stored] of all.entries()) {
    onProgress(index, all.length);
    verdicts.push(validateStored(outbox, stored, known));
  }
  const invalid = verdicts.filter(hasErrors).length;
  // A term that leads nowhere spoils no find that is here; it would spoil the next that is imported.
  const conflicts = terms === undefined ? [] : checkMapping(terms.mapping, terms.lookupTerm);
  const issues = [...foldUnchecked(verdicts.flat()), ...conflicts.map((issue) => issue.with({ severity: 'warning' }))];
  return { valid: verdicts.length - invalid, invalid, issues };
}

/** @throws FileError, UsageError where the name is no find's, and a folder or a file that is no XML has it */
function refuseOtherFile(outbox: Outbox, name: string): void {
  const isFind = (findByLocalId(outbox, name) ?? findByIdentCely(outbox, name)) !== undefined;
  const found = isFind ? undefined : statSync(name, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isDirectory()) throw new FileError(name, msg`${name} is a folder, not a file.`);
  throw new UsageError(msg`${name} is neither a find nor a file that ends in .xml.`, {
    hint: msg`To check a table: ${cmd`pas import ${name} --dry-run`}`,
  });
}

/** Judges a find, and its entry's document with it. Another pas may change the find meanwhile: then it is judged anew. */
function validateStored(outbox: Outbox, read: StoredFind, known: ValidationContext): readonly Issue[] {
  for (let stored: StoredFind | undefined = read; stored !== undefined; stored = findById(outbox, read.id)) {
    const find = asFind(stored);
    const validated = validateFind(find, known);
    if (isBroughtUpToDate(outbox, stored, contentOf(find, validated))) {
      const where = { find: stored.localId, ...find.source };
      return validated.issues.map((issue) => new Issue({ ...where, ...issue }));
    }
  }
  return [];
}

/** @returns whether the find is as it was read, so that its entry has this content now; a push may have taken the entry */
function isBroughtUpToDate(outbox: Outbox, { id, version }: StoredFind, content: ImportContent): boolean {
  if (importToReplace(outbox, id, content) === undefined) return true;
  return outbox.change(() => {
    if (findById(outbox, id)?.version !== version) return false;
    const entry = importToReplace(outbox, id, content);
    if (entry !== undefined) replaceImport(outbox, entry, content);
    return true;
  });
}

/** The import that is not as it should be; undefined where nothing is to be done. */
function importToReplace(outbox: Outbox, findId: number, content: ImportContent): ImportEntry | undefined {
  const entry = importOfFind(outbox, findId);
  if (entry === undefined || (entry.state !== 'draft' && entry.state !== 'queued')) return undefined;
  const same = content.document === null ? entry.document === null : entry.document?.equals(content.document) === true;
  return same ? undefined : entry;
}
