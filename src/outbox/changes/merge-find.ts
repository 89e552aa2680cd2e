import { Issue, makeErrorIssue, makeWarningIssue } from '../../base/issue.ts';
import { cmd, joinMessages, type Message, msg } from '../../base/message.ts';
import type { FindElements } from '../../finds/fields.ts';
import type { Find } from '../../finds/find.ts';
import type { ImportEntry } from '../entry.ts';
import { findImportOfFind, getWantedElements } from '../entry-queries.ts';
import { type AskedRow, makeStoredMessage, parseStoredMessage } from '../facts.ts';
import type { Outbox } from '../open-outbox.ts';
import { getImportedRow, type ImportedRow, type StoredFind } from '../stored-finds.ts';
import { STATE_WORDS } from '../views/entry-words.ts';
import { type MergedRow, type MergeSide, mergeRow, type RowDifference } from './merge-row.ts';
import type { RowPlan } from './plan-rows.ts';

/** A find with a row that was merged into it; nothing is stored. */
export type FindMerge = {
  readonly stored: StoredFind;
  readonly entry: ImportEntry | undefined;
  /** With the number that was set since, which an exported table contains. */
  readonly elements: FindElements;
  /** The row as last imported. */
  readonly before: ImportedRow | undefined;
  /**
   * `taken`: the find becomes `merged`. The others leave it unchanged: `sent`: the service has it or
   * may have it; `conflict`: the find and the row changed an element to different values.
   */
  readonly kind: 'taken' | 'sent' | 'conflict';
  readonly merged: MergedRow;
};

/**
 * Merges a row with its find, over the row as last imported.
 * @param side wins where both changed; undefined leaves it unresolved
 * @param replaces the input replaces the find, since the person saw its current values
 */
export function mergeFind(
  outbox: Outbox,
  stored: StoredFind,
  find: Find,
  side: MergeSide | undefined,
  replaces: boolean,
): FindMerge {
  const entry = findImportOfFind(outbox, stored.uuid);
  const before = getImportedRow(stored);
  const elements = getWantedElements(outbox, stored);
  const base = (replaces ? undefined : before?.elements) ?? elements;
  const merged = mergeRow(base, elements, find.elements, find.covered, side);
  const isOpen = merged.conflicts.length > 0 && side === undefined;
  const changed = isOpen ? 'conflict' : 'taken';
  const kind = isSent(entry) ? 'sent' : changed;
  return {
    stored,
    entry,
    elements,
    before,
    kind: merged.differences.length === 0 ? 'taken' : kind,
    merged: withStoredNumber(merged, stored, elements),
  };
}

/** Separates the number that was set since, which is an entry of its own, from the elements. */
function withStoredNumber(merged: MergedRow, stored: StoredFind, shown: FindElements): MergedRow {
  const { evidencni_cislo: storedNumber } = stored.elements;
  const { evidencni_cislo: now, ...otherElements } = merged.elements;
  if (now === storedNumber || now !== shown.evidencni_cislo) return merged;
  return {
    ...merged,
    elements:
      storedNumber === undefined
        ? otherElements
        : { evidencni_cislo: storedNumber, ...otherElements },
  };
}

/**
 * Tells if an import was sent, or may have been, so that it must not be changed; true also for a
 * dropped one, false for none.
 */
export function isSent(entry: ImportEntry | undefined): boolean {
  return entry !== undefined && !['draft', 'queued', 'refused'].includes(entry.state);
}

/** Makes the warning about a row that differs from its sent find. */
export function makeSentIssue(
  { entry, stored }: FindMerge,
  differences: readonly RowDifference[],
  { source }: Find,
  areListed: boolean,
): Issue {
  const word = entry === undefined ? msg`sent` : STATE_WORDS[entry.state];
  const identCely = entry?.identCely ?? null;
  const changes = formatDifferences(differences);
  const list = areListed
    ? msg`Correct it in the service.`
    : msg`Correct it in the service; --corrections FILE lists such corrections.`;
  const message =
    identCely === null
      ? msg`The row differs from the find that is ${word}: ${changes}. The find was not changed. ${list}`
      : msg`The row differs from the find that was sent as ${identCely}: ${changes}. The find was not changed. ${list}`;
  return makeWarningIssue('already-sent', message, { find: stored.localId, ...source });
}

/** Formats `hloubka 30 → 35, poznamka – → okraj`. */
function formatDifferences(differences: readonly RowDifference[]): Message {
  return joinMessages(
    differences.map(({ element, ours = '–', theirs = '–' }) => `${element} ${ours} → ${theirs}`),
    ', ',
  );
}

/**
 * Makes the question about a row that is left out, with all that an answer needs to import it then.
 * @param path of the table, with the sheet; undefined for standard input
 */
export function makeAskedRow(
  { stored, elements, merged }: FindMerge,
  find: Find,
  plan: RowPlan,
  path: string | undefined,
): AskedRow {
  const isQuestion = plan.kind === 'question';
  const basis = isQuestion ? plan.basis : 'row-changed';
  const { differences } = isQuestion
    ? mergeRow(elements, elements, find.elements, find.covered)
    : merged;
  return {
    basis,
    question: makeStoredMessage(describeAskedRow(basis, stored.localId, find, differences)),
    matched: isQuestion ? plan.matched : 'same',
    key: find.localId,
    localId: isQuestion ? plan.localId : stored.localId,
    elements: find.elements,
    covered: find.covered === undefined ? undefined : [...find.covered],
    photos: find.coversPhotos === false ? [] : find.photos,
    ...getFileAndRow(find),
    path: path ?? null,
  };
}

/** A waypoint or a feature is known by its name, not by its number. */
export function getFileAndRow({ source }: Find): { file: string | null; row: number | null } {
  const isRow = source !== undefined && source.unit === undefined;
  return { file: source?.file ?? null, row: isRow ? (source.row ?? null) : null };
}

/** Returns the rows about which a find is asked, without the answered ones; undefined for none. */
export function listOpenAskedRows(
  { wish }: StoredFind,
  isAnswered: (row: AskedRow) => boolean,
): AskedRow[] | undefined {
  const left = wish.asked?.filter((row) => !isAnswered(row));
  return left?.length === 0 ? undefined : left;
}

function describeAskedRow(
  basis: AskedRow['basis'],
  name: string,
  { source, localId }: Find,
  differences: readonly RowDifference[],
): Message {
  const table = source?.file ?? msg`no table`;
  const row = source?.row ?? localId;
  const changes = formatDifferences(differences);
  switch (basis) {
    case 'row-near':
      return differences.length === 0
        ? msg`row ${row} of ${table} is equal to ${name}: is it the same find?`
        : msg`row ${row} of ${table} differs little from ${name} (${changes}): is it the same find?`;
    case 'row-another':
      return msg`row ${row} of ${table} has the number of ${name}, but looks like another find (${changes}): is it the same find?`;
    case 'row-changed':
      return msg`${name} was changed here and in row ${row} of ${table} (${changes}): which values are right?`;
  }
}

/** Makes the issues of a row that is left out until a person answers. */
export function makeQuestionIssues(
  asked: AskedRow,
  { stored, merged }: FindMerge,
  find: Find,
): Issue[] {
  const where = { find: stored.localId, ...find.source };
  const answer = cmd`pas resolve ${stored.localId}`;
  if (asked.basis !== 'row-changed') {
    const question = parseStoredMessage(asked.question);
    return [makeErrorIssue('question', msg`Not imported: ${question} Answer: ${answer}`, where)];
  }
  return merged.conflicts.map(({ element, base, ours, theirs }) => {
    const was = base ?? '–';
    const here = ours ?? '–';
    const row = theirs ?? '–';
    return new Issue({
      rule: 'conflict',
      says: msg`When the table was last imported, it was ${was}; it is ${here} here and ${row} in the table. Nothing was changed. Answer: ${answer}`,
      severity: 'error',
      ...where,
      element,
      column: find.getColumn?.(element),
      base: base ?? null,
      ours: ours ?? null,
      theirs: theirs ?? null,
    });
  });
}

/** Makes the warning about a row of a find that a person dropped. */
export function makeDroppedIssue({ localId }: StoredFind, { source }: Find): Issue {
  const message = msg`The find was dropped and is not queued again. To queue this row: ${cmd`pas resolve ${localId} --resend`}, then import the table again.`;
  return makeWarningIssue('given-up', message, { find: localId, ...source });
}
