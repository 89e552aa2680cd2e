import { statSync } from 'node:fs';
import { FileError, UsageError } from '../../base/errors.ts';
import { hasErrors, Issue } from '../../base/issue.ts';
import { cmd, msg } from '../../base/message.ts';
import { checkMapping, type Mapping } from '../../columns/mapping.ts';
import { checkDocument } from '../../find/check-document.ts';
import type { LookupTerm } from '../../find/lookup.ts';
import { type ValidationContext, validateFind } from '../../find/validate-find.ts';
import { type ImportContent, importOfFind, replaceImport } from '../../outbox/entries.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { allFinds, findByIdentCely, findByLocalId } from '../../outbox/stored-finds.ts';
import { asFind, contentOf } from './enqueue-finds.ts';
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
export function validateAll(outbox: ServiceOutbox, known: ValidationContext, request: ToValidate): Verdict {
  const { finds, documents, terms, onProgress } = request;
  for (const name of finds ?? []) refuseOtherFile(outbox, name);
  const verdicts: (readonly Issue[])[] = documents.map(([name, bytes]) => checkDocument(name, bytes, known));
  const all = finds === undefined ? [...allFinds(outbox)] : findsNamed(outbox, finds);
  for (const [index, stored] of all.entries()) {
    onProgress(index, all.length);
    const find = asFind(stored);
    const validated = validateFind(find, known);
    verdicts.push(validated.issues.map((issue) => new Issue({ find: stored.localId, ...find.source, ...issue })));
    const content = contentOf(find, validated);
    outbox.change(() => bringUpToDate(outbox, stored.id, content));
  }
  const invalid = verdicts.filter(hasErrors).length;
  // A term that leads nowhere spoils no find that is here; it would spoil the next that is imported.
  const conflicts = terms === undefined ? [] : checkMapping(terms.mapping, terms.lookupTerm);
  const issues = [...foldUnchecked(verdicts.flat()), ...conflicts.map((issue) => issue.with({ severity: 'warning' }))];
  return { valid: verdicts.length - invalid, invalid, issues };
}

/** @throws FileError, UsageError where the name is no find's, and a folder or a file that is no XML has it */
function refuseOtherFile(outbox: ServiceOutbox, name: string): void {
  const isFind = (findByLocalId(outbox, name) ?? findByIdentCely(outbox, name)) !== undefined;
  const found = isFind ? undefined : statSync(name, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isDirectory()) throw new FileError(name, msg`${name} is a folder, not a file.`);
  throw new UsageError(msg`${name} is neither a find nor a file that ends in .xml.`, {
    hint: msg`To check a table: ${cmd`pas import ${name} --dry-run`}`,
  });
}

/** As the entry is at this moment: a push may have taken it since the find was read. */
function bringUpToDate(outbox: ServiceOutbox, findId: number, content: ImportContent): void {
  const entry = importOfFind(outbox, findId);
  if (entry === undefined || (entry.state !== 'draft' && entry.state !== 'queued')) return;
  const same = content.document === null ? entry.document === null : entry.document?.equals(content.document) === true;
  if (!same) replaceImport(outbox, entry, content);
}
