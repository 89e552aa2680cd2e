import { isReadable } from '../base/issue.ts';
import { msgid } from '../base/language.ts';
import { joinMessages, type Message, msg, nmsg } from '../base/message.ts';
import type { ColumnName } from '../find/fields.ts';
import { parsePosition } from '../place/read-position.ts';
import type { Table } from '../tables/table.ts';
import { foldName } from '../text/names.ts';
import { type ColumnCandidate, type LookupSources, rankCandidates } from './candidates.ts';
import { type ColumnProfile, getShare, isOfPlaces, profileColumns } from './column-profile.ts';
import { type ColumnMap, type ColumnRule, JOINED, LABELLED, OPEN_UNIT } from './column-rule.ts';
import { isWrittenByPas } from './columns.ts';
import { NUMBER_COLUMNS } from './number-rows.ts';
import { type PointProposal, proposePoint } from './propose-points.ts';
import type { Setting } from './settings.ts';

export type ColumnProposal = {
  readonly profile: ColumnProfile;
  readonly rule: ColumnRule;
  readonly reasons: readonly Message[];
  /** Reason for a person to check it. */
  readonly doubt?: Message;
  /** No element fits; the values go into the note. */
  readonly isLeftOver?: boolean;
};

type FixedProposal = {
  readonly element: ColumnName;
  readonly text: string;
  readonly reasons: readonly Message[];
};

/** Tells if the table does not answer a question, so that a person must. */
export function isOpen({ rule }: ColumnProposal): boolean {
  return rule.kind === 'read' && rule.unit === OPEN_UNIT;
}

export type TableProposal = {
  readonly columns: readonly ColumnProposal[];
  readonly fixed: readonly FixedProposal[];
  /** Elements that every find requires, and that have no value yet. */
  readonly undecided: readonly ColumnName[];
  /** The format has its own geometry, with a coordinate system. */
  readonly hasPoints: boolean;
};

/** Elements that every state requires. */
const NEEDED: readonly ColumnName[] = ['projekt', 'stav', 'geom_system', 'pristupnost'];

/** Columns that the service derives from the point. */
const DERIVED = [
  'katastr',
  'k_u',
  'ku',
  'kat_uzemi',
  'katastralni_uzemi',
  'okres',
  'kraj',
  'cadastre',
  'district',
];

/** Proposes an element for each column of a foreign table. A person confirms the proposal. */
export function proposeColumns(
  table: Table,
  givenSettings: readonly Setting[],
  knowledge: LookupSources,
): TableProposal {
  const profiles = profileColumns(table);
  const point = proposePoint(table, profiles, knowledge.lookupArea);
  const ofPoint = new Map(point?.columns.map((column) => [column.profile.index, column]));
  const fixedElements = new Set(givenSettings.map(({ name }) => name));
  const free = profiles.filter(({ index }) => !ofPoint.has(index) && !isDerived(profiles[index]));
  const candidateByColumn = assign(
    free.map((profile) => ({ profile, candidates: rankCandidates(profile, knowledge) })),
    new Set<ColumnName>(point === undefined ? [] : ['wkt', 'lon', 'lat', 'geom_x', 'geom_y']),
  );
  const key =
    [...candidateByColumn].find(([, { element }]) => element === 'local_id') ??
    guessKeyColumn(free, candidateByColumn);
  const keyProfile = profiles[key?.[0] ?? -1];
  if (key !== undefined && keyProfile !== undefined)
    candidateByColumn.set(key[0], scoreKey(table, keyProfile, key[1]));
  const columns = profiles.map((profile): ColumnProposal => {
    const axis = ofPoint.get(profile.index);
    if (axis !== undefined) return { profile, rule: axis.rule, reasons: axis.reasons };
    const candidate = candidateByColumn.get(profile.index);
    if (candidate === undefined) return describeLeftOver(profile);
    const { rule, reasons, doubt } = candidate;
    return {
      profile,
      rule,
      reasons,
      doubt,
    };
  });
  const read = new Set(columns.flatMap(({ rule }) => (rule.kind === 'read' ? [rule.element] : [])));
  const fixed = [
    ...givenSettings.map(({ name, value }) => ({
      element: name,
      text: value,
      reasons: [msg`set with --set`],
    })),
    ...proposeDefaults(point ?? proposeSystem(columns), read).filter(
      ({ element }) => !fixedElements.has(element),
    ),
  ];
  const hasPoints = [...table.rows].some((row) => row.point !== undefined);
  return { columns, fixed, undecided: listUnresolvedColumns(columns, fixed, hasPoints), hasPoints };
}

/**
 * Proposes columns for registration numbers; `undecided` has the required ones that no column of
 * the table fits.
 */
export function proposeNumberColumns(table: Table, knowledge: LookupSources): TableProposal {
  const profiles = profileColumns(table);
  const candidateByColumn = assign(
    profiles.map((profile) => ({
      profile,
      candidates: [...judgeIdents(profile), ...rankCandidates(profile, knowledge)].filter(
        isOfNumber,
      ),
    })),
    new Set(),
  );
  const columns = profiles.map((profile): ColumnProposal => {
    const {
      rule = { kind: 'ignored' } as const,
      reasons = [msg`not needed for a number`],
      doubt,
    } = candidateByColumn.get(profile.index) ?? {};
    return { profile, rule, reasons, doubt };
  });
  const read = new Set([...candidateByColumn.values()].map(({ element }) => element));
  const undecided: ColumnName[] = read.has('evidencni_cislo') ? [] : ['evidencni_cislo'];
  if (!read.has('local_id') && !read.has('ident_cely')) undecided.push('local_id');
  return { columns, fixed: [], undecided, hasPoints: false };
}

function isOfNumber({ element }: ColumnCandidate): boolean {
  return NUMBER_COLUMNS.some((name) => name === element);
}

function judgeIdents(profile: ColumnProfile): ColumnCandidate[] {
  if (getShare(profile, (text) => /^(?:X-)?[CM]-\d{9}-N\d{5}$/.test(text)) < 0.8) return [];
  const reasons = [msg`its values are identifiers of finds`];
  return [
    { element: 'ident_cely', score: 1.5, rule: { kind: 'read', element: 'ident_cely' }, reasons },
  ];
}

/** Returns the required elements that neither a column nor a fixed value fills. */
export function listUnresolvedColumns(
  columns: readonly ColumnProposal[],
  fixed: readonly FixedProposal[],
  hasPoints: boolean,
): ColumnName[] {
  const decided = new Set(fixed.map(({ element }) => element));
  if (hasPoints) decided.add('geom_system');
  for (const { rule } of columns) {
    if (rule.kind === 'read') decided.add(rule.element);
    if (rule.kind === 'read' && (rule.element === 'lon' || rule.form === 'position'))
      decided.add('geom_system');
  }
  return NEEDED.filter((element) => !decided.has(element));
}

/**
 * Assigns the best pairs first; a column has one element, and an element one column unless it joins
 * several.
 */
function assign(
  open: readonly {
    readonly profile: ColumnProfile;
    readonly candidates: readonly ColumnCandidate[];
  }[],
  taken: Set<ColumnName>,
): Map<number, ColumnCandidate> {
  const candidateByColumn = new Map<number, ColumnCandidate>();
  const pairs = open.flatMap(({ profile, candidates }) =>
    candidates.map((candidate) => ({ index: profile.index, candidate })),
  );
  for (const { index, candidate } of pairs.sort(
    (a, b) => b.candidate.score - a.candidate.score || a.index - b.index,
  )) {
    const { element, rule } = candidate;
    const isAnother = taken.has(element);
    if (candidateByColumn.has(index) || (isAnother && !JOINED.includes(element))) continue;
    const label = open.find(({ profile }) => profile.index === index)?.profile.header ?? '';
    const isLabelled = isAnother && LABELLED.includes(element);
    candidateByColumn.set(
      index,
      isLabelled ? { ...candidate, rule: { ...rule, label } } : candidate,
    );
    taken.add(element);
  }
  return candidateByColumn;
}

/**
 * Returns the system of all positions of a column; undefined where they differ, since each row then
 * has its own.
 */
function proposeSystem(
  columns: readonly ColumnProposal[],
): Pick<PointProposal, 'system' | 'reasons'> | undefined {
  const values =
    columns
      .find(({ rule }) => rule.kind === 'read' && rule.form === 'position')
      ?.profile.values.keys() ?? [];
  const positions = [...values].map(parsePosition).filter(isReadable);
  const [system, another] = new Set(positions.map(({ value }) => value.system));
  return system === undefined || another !== undefined
    ? undefined
    : { system, reasons: [msg`its positions are in it`] };
}

function proposeDefaults(
  point: Pick<PointProposal, 'system' | 'reasons'> | undefined,
  read: ReadonlySet<ColumnName>,
): FixedProposal[] {
  const systemKnown = read.has('geom_system') || point === undefined;
  return [
    ...(read.has('stav')
      ? []
      : [
          {
            element: 'stav' as const,
            text: '1',
            reasons: [msg`state 1 has the fewest required elements`],
          },
        ]),
    ...(systemKnown
      ? []
      : [{ element: 'geom_system' as const, text: point.system, reasons: point.reasons }]),
  ];
}

function isDerived(profile: ColumnProfile | undefined): boolean {
  return profile !== undefined && DERIVED.includes(foldName(profile.header));
}

/**
 * Makes the proposal of a column without an element: its values go into the note, unless they are
 * useless there.
 */
function describeLeftOver(profile: ColumnProfile): ColumnProposal {
  const { filled: count, key } = profile;
  const ignore = (why: Message): ColumnProposal => ({
    profile,
    rule: { kind: 'ignored' },
    reasons: [why],
  });
  if (count === 0) return ignore(msg`the column is empty`);
  const values = nmsg(msgid`${count} value`, msgid`${count} values`, count);
  if (isDerived(profile)) return ignore(msg`${values}; the service derives it from the point`);
  if (isWrittenByPas(profile.header)) return ignore(msg`${values}; pas writes this column itself`);
  if (isOfPlaces(profile))
    return ignore(msg`${values}; coordinates, which do not belong in a note that others may read`);
  const reasons = [msg`${values}, like no element: kept in the note`];
  return {
    profile,
    rule: { kind: 'read', element: 'poznamka', label: key },
    reasons,
    isLeftOver: true,
  };
}

export function makeMapOfProposal(file: string, { columns, fixed }: TableProposal): ColumnMap {
  return {
    file,
    columns: new Map(columns.map(({ profile, rule }) => [profile.key, rule])),
    fixed: fixed.map(({ element, text }) => ({ name: element, givenName: element, value: text })),
  };
}

/**
 * Proposes a column that could be the local id, with a doubt, since none has that name. Without
 * one, a find whose row is edited later would become another find.
 */
function guessKeyColumn(
  free: readonly ColumnProfile[],
  chosen: ReadonlyMap<number, ColumnCandidate>,
): [number, ColumnCandidate] | undefined {
  const profile = free.find(
    ({ index, unique, filled, rowCount, values }) =>
      unique &&
      rowCount > 1 &&
      filled === rowCount &&
      !chosen.has(index) &&
      [...values.keys()].every(mayBeKey),
  );
  if (profile === undefined) return undefined;
  const doubt = msg`no column is named like a find number; is it this one?`;
  return [
    profile.index,
    {
      element: 'local_id',
      score: 0,
      rule: { kind: 'read', element: 'local_id' },
      reasons: [],
      doubt,
    },
  ];
}

/** Tells if a text may be a key: short, with a digit, and no measurement. */
function mayBeKey(text: string): boolean {
  return /^(?=.*\d).{1,30}$/.test(text) && !/^\d+[.,]\d+$/.test(text);
}

/** Judges a column of local ids: duplicates and empty cells. */
function scoreKey(
  table: Table,
  profile: ColumnProfile,
  candidate: ColumnCandidate,
): ColumnCandidate {
  const repeated = findRepeatedTexts(table, profile.index);
  const empty = profile.rowCount - profile.filled;
  const doubts = [
    ...(candidate.doubt === undefined ? [] : [candidate.doubt]),
    ...(repeated.length === 0 ? [] : [makeRepeatedDoubt(repeated)]),
    ...(empty === 0
      ? []
      : [
          nmsg(
            msgid`${empty} row has none and will be skipped`,
            msgid`${empty} rows have none and will be skipped`,
            empty,
          ),
        ]),
  ];
  const reasons =
    repeated.length === 0 && empty === 0
      ? [...candidate.reasons, msg`filled in every row, without duplicates`]
      : candidate.reasons;
  return {
    ...candidate,
    reasons,
    doubt: doubts.length === 0 ? undefined : joinMessages(doubts, '; '),
  };
}

type RepeatedText = { readonly text: string; readonly rows: readonly number[] };

const MAX_NAMED = 3;

function makeRepeatedDoubt(repeated: readonly RepeatedText[]): Message {
  const named = repeated.slice(0, MAX_NAMED).map(({ text, rows }) => {
    const numbers = `${rows.slice(0, MAX_NAMED).join(', ')}${rows.length > MAX_NAMED ? ' …' : ''}`;
    return msg`"${text}" in rows ${numbers}`;
  });
  const all = joinMessages([...named, ...(repeated.length > MAX_NAMED ? ['…'] : [])], ', ');
  return msg`duplicate numbers: ${all}; these rows are skipped until each has its own`;
}

function findRepeatedTexts({ rows }: Table, index: number): RepeatedText[] {
  const rowsByText = new Map<string, number | number[]>();
  for (const { row, cells } of rows) {
    const text = (cells[index] ?? '').trim();
    const before = rowsByText.get(text);
    if (text === '') continue;
    if (before === undefined) rowsByText.set(text, row);
    else if (typeof before === 'number') rowsByText.set(text, [before, row]);
    else before.push(row);
  }
  return [...rowsByText].flatMap(([text, numbers]) =>
    typeof numbers === 'number' ? [] : [{ text, rows: numbers }],
  );
}
