import { Issue, makeErrorIssue, makeWarningIssue } from '../../base/issue.ts';
import { cmd, joinMessages, type Message, msg } from '../../base/message.ts';
import type { FindElements } from '../../find/fields.ts';
import type { Find } from '../../find/find.ts';
import {
  createFindIndex,
  type FindIndex,
  isDistinct,
  makeComparable,
  matchFinds,
} from '../../find/match-finds.ts';
import {
  asFoundDifferences,
  type Difference,
  formatMergeValue,
  isSameFind,
  listDifferingTraits,
  type MergedRow,
  type MergeSide,
  mergeRow,
} from '../../find/merge-row.ts';
import type { ImportEntry } from '../../outbox/entry.ts';
import {
  findImportOfFind,
  getLatestNumber,
  listEntriesOfFind,
} from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import {
  findByLocalId,
  getImportedRow,
  type ImportedRow,
  iterateFinds,
  listNamesOfFinds,
  type StoredFind,
} from '../../outbox/stored-finds.ts';
import { makeIdKey } from '../../text/characters.ts';
import { STATE_WORDS } from '../finds/entry-words.ts';

export type MergeAnswers = {
  /** Returns the side that wins a conflict; undefined leaves it unresolved. */
  readonly chooseSide?: (localId: string) => MergeSide | undefined;
  /**
   * Rows that seem to describe another find, or come from another table, are the finds of their
   * local ids.
   */
  readonly same?: boolean;
  /** A row that equals a find of another local id is that find under a new local id. */
  readonly rename?: boolean;
  /** Such a row is a find of its own. */
  readonly asNew?: boolean;
  /** The input replaces the find, since the person saw its current values. */
  readonly replaces?: boolean;
};

/**
 * `taken`: the find becomes `merged`. The others leave it unchanged: `sent`: the service has it or
 * may have it; `conflict`: both changed; `another`: the row seems to describe another find;
 * `asked`: the row comes from another table.
 */
export type Merge = {
  readonly kind: 'taken' | 'sent' | 'conflict' | 'another' | 'asked';
  readonly merged: MergedRow;
};

export type Existing = {
  readonly stored: StoredFind;
  readonly entry: ImportEntry | undefined;
  readonly elements: FindElements;
  readonly row: ImportedRow | undefined;
};

/**
 * Returns a find for the merge, with the number that was set since, which an exported table
 * contains.
 */
export function makeExistingFind(outbox: Outbox, stored: StoredFind): Existing {
  const entries = listEntriesOfFind(outbox, stored.id);
  const entry = entries.find((each) => each.kind === 'import');
  const number = getLatestNumber(entries);
  const elements = stored.elements as FindElements;
  return {
    stored,
    entry,
    row: getImportedRow(stored),
    elements: number === undefined ? elements : { ...elements, evidencni_cislo: number },
  };
}

/** @param path full path of the row's table, with the sheet; undefined where it has none */
export function mergeFind(
  { stored, entry, row, elements }: Existing,
  find: Find,
  path: string | undefined,
  { chooseSide, replaces = false, same = replaces }: MergeAnswers,
): Merge {
  const base = (replaces ? undefined : (row?.elements as FindElements | undefined)) ?? elements;
  const merged = mergeRow(base, elements, find.elements, find.covered, chooseSide?.(find.localId));
  const classifyMerge = (): Merge['kind'] => {
    if (merged.differences.length === 0) return 'taken';
    if (!same && listDifferingTraits(base, elements, find.elements).length > 1) return 'another';
    if (isSent(entry)) return 'sent';
    const isElsewhere = (path ?? null) !== stored.sourcePath && !isUniversal(find.localId);
    if (!same && isElsewhere && asFoundDifferences(merged.differences).length > 0) return 'asked';
    return merged.conflicts.length > 0 && chooseSide?.(find.localId) === undefined
      ? 'conflict'
      : 'taken';
  };
  return { kind: classifyMerge(), merged: withStoredNumber(merged, stored, elements) };
}

/** Separates the number that was set since, which is an entry of its own, from the elements. */
function withStoredNumber(merged: MergedRow, stored: StoredFind, shown: FindElements): MergedRow {
  const { evidencni_cislo: storedNumber } = stored.elements as FindElements;
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

/** Tells if an import was sent, or may have been, so that it must not be changed. */
export function isSent(entry: ImportEntry | undefined): boolean {
  return entry !== undefined && !['draft', 'queued', 'refused'].includes(entry.state);
}

/** Tells if a local id is a UUID of a phone, which is unique across tables. */
function isUniversal(localId: string): boolean {
  return /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i.test(localId);
}

export function isMerged({ stored }: Existing, { merged }: Merge): boolean {
  return isSameFind(stored.elements as FindElements, merged.elements);
}

/** @param areListed the import writes the corrections to a file */
export function mergeIssues(
  { kind, merged }: Merge,
  find: Find,
  existing: Existing,
  areListed = false,
): Issue[] {
  const { stored, entry, elements } = existing;
  const { localId } = find;
  const where = { find: localId, ...find.source };
  switch (kind) {
    case 'taken':
      return [];
    case 'conflict':
      return merged.conflicts.map((conflict) => makeConflictIssue(conflict, find));
    case 'sent':
      return [
        makeWarningIssue(
          'already-sent',
          makeSentMessage(entry, merged.differences, areListed),
          where,
        ),
      ];
    case 'another': {
      const here = summarizeFind(elements);
      const row = summarizeFind(find.elements);
      const message = msg`${localId} is ${here} here, but ${row} in the table. Nothing was changed. If they are two finds, add --id-prefix P: the finds of this table are then called P${localId} and so on. If it is one find, corrected: --same`;
      return [makeErrorIssue('another-find', message, where)];
    }
    case 'asked': {
      const from = stored.sourceFile ?? msg`no table`;
      const changes = formatDifferences(merged.differences);
      const message = msg`${localId} comes from ${from}, but this table has other values: ${changes}. Nothing was changed. To use this table's values: --same. If they are two finds: --id-prefix P`;
      return [makeErrorIssue('other-table', message, where)];
    }
  }
}

function makeConflictIssue({ element, base, ours, theirs }: Difference, find: Find): Issue {
  const { localId } = find;
  const was = base ?? '–';
  const here = ours ?? '–';
  const row = theirs ?? '–';
  const message = msg`When the table was last imported, it was ${was}; it is ${here} here and ${row} in the table. Nothing was changed. To use the table's values: --theirs, to keep those here: --ours; for this find only: --theirs-of ${localId} or --ours-of ${localId}`;
  const column = find.columns?.[element];
  const where = {
    find: localId,
    ...find.source,
    element,
    column,
  };
  return new Issue({
    rule: 'conflict',
    says: message,
    severity: 'error',
    ...where,
    base: base ?? null,
    ours: ours ?? null,
    theirs: theirs ?? null,
  });
}

function makeSentMessage(
  entry: ImportEntry | undefined,
  differences: readonly Difference[],
  areListed: boolean,
): Message {
  const word = entry === undefined ? msg`sent` : STATE_WORDS[entry.state];
  const identCely = entry?.identCely ?? null;
  const changes = formatDifferences(differences);
  const list = areListed
    ? msg`Correct it in the service.`
    : msg`Correct it in the service; --as-correction FILE lists such corrections.`;
  return identCely === null
    ? msg`The row differs from the find that is ${word}: ${changes}. The find was not changed. ${list}`
    : msg`The row differs from the find that was sent as ${identCely}: ${changes}. The find was not changed. ${list}`;
}

/** Formats `hloubka 30 → 35, poznamka – → okraj`. */
function formatDifferences(differences: readonly Difference[]): Message {
  return joinMessages(
    differences.map(({ element, ours, theirs }) => `${element} ${ours ?? '–'} → ${theirs ?? '–'}`),
    ', ',
  );
}

function summarizeFind(elements: FindElements): Message {
  const { druh_nalezu, datum_nalezu, geom_wkt, geom_sjtsk_wkt, lokalizace } = elements;
  const parts = [druh_nalezu, datum_nalezu, geom_wkt ?? geom_sjtsk_wkt ?? lokalizace].flatMap(
    (value) => formatMergeValue(value) ?? [],
  );
  return joinMessages(parts, ', ');
}

/**
 * Makes the issue of a new row that equals a find of another local id, or has nearly its local id.
 */
export function makeEqualIssue(find: Find, other: EqualFind): Issue {
  const name = other.localId;
  const word = STATE_WORDS[other.entry.state];
  const isTried = other.entry.attempts > 0;
  const own = find.localId;
  const reads = other.isAlike
    ? msg`It has the local_id ${own}, which differs from that of find ${name}, ${word}, only in capitals or blanks.`
    : msg`It is the same as find ${name}, ${word}.`;
  const advice = isTried
    ? msg`It was skipped, so that it is not sent twice. Give the row its old local_id; if it is another find, add --as-new.`
    : msg`It was skipped. If it is that find under a new local_id, add --rename; if it is another find, --as-new.`;
  return makeErrorIssue('equal-find', joinMessages([reads, advice], ' '), {
    find: find.localId,
    ...find.source,
  });
}

export function makeDroppedIssue({ localId, source }: Find): Issue {
  const message = msg`The find was dropped and is not queued again. To queue it again: ${cmd`pas resolve ${localId} --resend`}`;
  return makeWarningIssue('given-up', message, { find: localId, ...source });
}

type EqualFind = {
  readonly localId: string;
  readonly stored: StoredFind;
  readonly entry: ImportEntry;
  /** The local ids differ in case and blanks only, whatever the content. */
  readonly isAlike: boolean;
};

/** Finds before the import, indexed by their local ids and their content. */
export type EqualFinds = {
  /**
   * Returns a find with nearly the local id of a row; else one that is the same, and whose local id
   * is not in the row's table, each once.
   */
  take(find: Find, isInTable: (localId: string) => boolean): EqualFind | undefined;
};

/** Loads the finds on first use. */
export function openEqualFinds(outbox: Outbox): EqualFinds {
  let known: FindIndex<string> | undefined;
  let idsByKey: Map<string, string> | undefined;
  const taken = new Set<string>();
  const findKnown = (localId: string, isAlike: boolean): EqualFind | undefined => {
    const stored = findByLocalId(outbox, localId);
    const entry =
      stored === undefined || stored.isHidden ? undefined : findImportOfFind(outbox, stored.id);
    return stored === undefined || entry === undefined || (!isAlike && entry.state === 'dropped')
      ? undefined
      : { localId: stored.localId, stored, entry, isAlike };
  };
  const findAlike = ({ localId }: Find): EqualFind | undefined => {
    idsByKey ??= new Map(
      listNamesOfFinds(outbox).map((each) => [makeIdKey(each.localId), each.localId]),
    );
    const alikeId = idsByKey.get(makeIdKey(localId));
    if (alikeId === undefined) idsByKey.set(makeIdKey(localId), localId);
    return alikeId === undefined || alikeId === localId ? undefined : findKnown(alikeId, true);
  };
  return {
    take(find, isInTable) {
      const alike = findAlike(find);
      if (alike !== undefined) return alike;
      known ??= indexFinds(outbox);
      const comparable = makeComparable(find.elements);
      if (!isDistinct(comparable)) return undefined;
      const same = known
        .list(comparable)
        .find(
          ({ find: other, item }) =>
            !taken.has(item) &&
            item !== find.localId &&
            !isInTable(item) &&
            matchFinds(comparable, other) === 'same',
        );
      if (same === undefined) return undefined;
      taken.add(same.item);
      return findKnown(same.item, false);
    },
  };
}

function indexFinds(outbox: Outbox): FindIndex<string> {
  const index = createFindIndex<string>();
  for (const { localId, elements } of iterateFinds(outbox))
    index.add(makeComparable(elements as FindElements), localId);
  return index;
}
