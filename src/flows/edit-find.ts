import { UsageError } from '../base/errors.ts';
import { hasErrors, type Issue } from '../base/issue.ts';
import { t } from '../base/language.ts';
import { shellWord } from '../base/shell-word.ts';
import { type Cells, differingCells, elementsOfLine } from '../find/edit-text.ts';
import type { Find, FindElements } from '../find/find.ts';
import type { LookupTerm } from '../find/lookup.ts';
import { mapTable } from '../find/map-table.ts';
import { unreadable } from '../find/reading.ts';
import type { ValidatedFind } from '../find/validate.ts';
import { addImport, importOfFind, replaceImport, wasGivenUp } from '../outbox/entries.ts';
import type { EntryState, ImportEntry } from '../outbox/entry.ts';
import { findById, type StoredFind, updateFind } from '../outbox/finds.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import { contentOf } from './enqueue-finds.ts';

export type EditContext = {
  readonly outbox: ServiceOutbox;
  readonly lookupTerm: LookupTerm;
  readonly validate: (find: Find) => ValidatedFind;
};

/** What a line of the find said, and says now; undefined where it said nothing. */
export type CellChange = { readonly element: string; readonly was: string | undefined; readonly is: string | undefined };

/** `unreadable`: a value says nothing that could be kept, so nothing was changed. */
export type Edited =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'unreadable'; readonly issues: readonly Issue[] }
  | {
      readonly kind: 'stored';
      readonly changed: readonly CellChange[];
      readonly state: EntryState;
      readonly issues: readonly Issue[];
    };

/**
 * Gives a find new values. It is queued if it is complete now, and a draft if it is not.
 * @param before the cells that the find was shown with: what was not touched stays exactly as it is
 * @throws UsageError where the find was sent, or changed meanwhile
 */
export function editFind(context: EditContext, stored: StoredFind, before: Cells, after: Cells): Edited {
  const { outbox } = context;
  const changed = differingCells(before, after);
  if (changed.length === 0) return { kind: 'unchanged' };
  const read = readCells(stored, after, context.lookupTerm);
  if (read.find === undefined) return { kind: 'unreadable', issues: read.issues };
  // What is wrong now is no matter of the table's row any more.
  const find: Find = {
    localId: stored.localId,
    photos: [],
    elements: keepingUntouched(stored.elements as FindElements, read.find.elements, changed),
  };
  const validated = context.validate(find);
  return outbox.change(() => {
    const now = findById(outbox, stored.id);
    if (now === undefined || JSON.stringify(now.elements) !== JSON.stringify(stored.elements)) {
      throw new UsageError(t`Another pas changed ${stored.localId} meanwhile.`, { hint: t`Edit it again.` });
    }
    const entry = editableImport(outbox, stored);
    updateFind(outbox, { localId: find.localId, elements: find.elements });
    if (entry === undefined) addImport(outbox, stored.id, contentOf(find, validated));
    else replaceImport(outbox, entry, contentOf(find, validated));
    const state = importOfFind(outbox, stored.id)?.state ?? 'draft';
    const changes = changed.map((element) => ({ element, was: before.get(element), is: after.get(element) }));
    return { kind: 'stored', changed: changes, state, issues: validated.issues };
  });
}

/**
 * The import that an edit would change; undefined where the find has none under this profile yet.
 * @throws UsageError where it was sent, with what can be done about it
 */
export function editableImport(outbox: ServiceOutbox, { id, localId }: StoredFind): ImportEntry | undefined {
  const entry = importOfFind(outbox, id);
  const word = shellWord(localId);
  switch (entry?.state) {
    case 'accepted': {
      const ident = entry.identCely ?? '';
      throw new UsageError(t`${localId} was sent as ${ident} and cannot be changed from here.`, {
        hint: t`Correct it in the pages of the service. A number or photographs can be added: pas number set ${word} VALUE, pas photo add ${word} FILE`,
      });
    }
    case 'uncertain':
      throw new UsageError(t`Nobody knows whether the service has ${localId}, so it is not changed.`, {
        hint: t`Find out first: pas reconcile ${word}`,
      });
    case 'sending':
      throw new UsageError(t`${localId} is being sent.`, {
        hint: t`Wait for the push to end; pas show ${word} says how it went. If none is running, pas doctor says what to do.`,
      });
    case undefined:
      if (!wasGivenUp(outbox, id)) return undefined;
      throw new UsageError(t`${localId} was given up.`, { hint: t`Take it back first: pas resolve ${word} --resend` });
    default:
      return entry;
  }
}

/** The same way as a row of a table goes. */
function readCells({ localId, sourceFile }: StoredFind, cells: Cells, lookupTerm: LookupTerm) {
  const header = ['local_id', ...cells.keys()];
  const row = { row: 1, line: 1, cells: [localId, ...cells.values()] };
  const table = { file: sourceFile ?? localId, header, rows: [row], rowCount: 1, issues: [] };
  const word = shellWord(localId);
  const resolvePhoto = () => unreadable('photos', t`Photographs are not edited here: pas photo add ${word} FILE`);
  const mapped = mapTable(table, { lookupTerm, resolvePhoto });
  const [first] = hasErrors(mapped.issues) ? [] : mapped.rows;
  const issues = [...mapped.issues, ...(first?.issues ?? [])];
  const find = first?.find;
  const withoutTable = issues.map(({ file: _file, row: _row, column, ...issue }) => {
    const element = issue.element ?? column;
    return { ...issue, ...(element === undefined ? {} : { element }) };
  });
  return { find, issues: withoutTable };
}

function keepingUntouched(before: FindElements, read: FindElements, changed: readonly string[]): FindElements {
  const touched = new Set(changed.flatMap(elementsOfLine));
  const kept = Object.entries(before).filter(([name]) => !touched.has(name as keyof FindElements));
  return { ...read, ...Object.fromEntries(kept) };
}
