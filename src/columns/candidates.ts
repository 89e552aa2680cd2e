import { isReadable } from '../base/issue.ts';
import { formatDecimal } from '../base/language.ts';
import { type Message, msg } from '../base/message.ts';
import { type ColumnName, FIELDS, type Field } from '../find/fields.ts';
import type { LookupArea, LookupTerm } from '../find/lookup.ts';
import {
  CENTIMETRES,
  parseBoolean,
  parseGeomSystem,
  parseTargetState,
} from '../find/parse-cell.ts';
import { detectNameOrder, type NameOrder, parseName } from '../find/person-name.ts';
import { parsePosition } from '../place/read-position.ts';
import { foldName, isPictureName, splitNameWords } from '../text/names.ts';
import { DAY_NUMBER } from './apply-column-rule.ts';
import {
  type ColumnProfile,
  detectDateForm,
  getShare,
  makeUnreadableDoubt,
  measureNumbers,
  measurePhotographShare,
  measurePositionShare,
  type NumberShape,
  parsePlainNumber,
} from './column-profile.ts';
import { type DepthUnit, OPEN_UNIT, type ReadColumn } from './column-rule.ts';
import { normalizeKey } from './columns.ts';
import { findUnit, type NameScore, scoreName } from './element-names.ts';

export type LookupSources = { readonly lookupTerm: LookupTerm; readonly lookupArea: LookupArea };

/** Evidence for a meaning beside the column's name. */
type Evidence = {
  readonly score: number;
  readonly rule?: Partial<ReadColumn>;
  readonly reasons: readonly Message[];
  readonly doubt?: Message;
};

/**
 * A possible meaning of a column; a score above 1 is as good as certain, one below {@link
 * MIN_SCORE} is dropped.
 */
export type ColumnCandidate = {
  readonly element: ColumnName;
  readonly score: number;
  readonly rule: ReadColumn;
  readonly reasons: readonly Message[];
  /** Reason for a person to check it. */
  readonly doubt?: Message;
};

const MIN_SCORE = 0.45;

type ColumnScorer = (
  profile: ColumnProfile,
  name: NameScore | undefined,
  knowledge: LookupSources,
) => Evidence | undefined;

/** Weight of the name; the evidence of the values is added. */
const WEIGHT_OF_NAME = 0.6;

const SCORERS: Readonly<Partial<Record<ColumnName, ColumnScorer>>> = {
  local_id: judgeLocalId,
  projekt: judgeProject,
  hloubka: judgeDepths,
  presna_datace: makeNameScorer(0),
  pocet: makeNameScorer(0.1),
  poznamka: makeNameScorer(0),
  nalezce: judgeFinders,
  wkt: judgePosition,
  photos: judgePhotographs,
  ident_cely: makeNameScorer(0.4),
  lon: judgeCoordinate,
  lat: judgeCoordinate,
  geom_x: judgeCoordinate,
  geom_y: judgeCoordinate,
};

/** Returns the scorer of a field that has none of its own. */
function getJudge({ kind, set = '' }: Field): ColumnScorer | undefined {
  switch (kind) {
    case 'text':
      return makeNameScorer(0.05);
    case 'integer':
      return (profile, name) =>
        name !== undefined && measureNumbers([...profile.values]).share > 0.9
          ? { score: 0.3, reasons: [] }
          : undefined;
    case 'date':
      return judgeDates;
    case 'boolean':
      return judgeYesOrNo;
    case 'state':
      return (profile, name) =>
        name !== undefined && getShare(profile, (text) => isReadable(parseTargetState(text))) > 0.9
          ? { score: 0.3, reasons: [msg`its values are 1, 2 or 3`] }
          : undefined;
    case 'geom-system':
      return (profile, name) =>
        name !== undefined && getShare(profile, (text) => isReadable(parseGeomSystem(text))) > 0.9
          ? { score: 0.4, reasons: [msg`its values name coordinate systems`] }
          : undefined;
    case 'term':
      return judgeTerms(set);
    case 'reference':
    case 'point':
      return undefined;
  }
}

const ALL_SCORERS = {
  ...Object.fromEntries(FIELDS.map((field) => [field.name, getJudge(field)])),
  ...SCORERS,
};

/**
 * Returns all possible meanings of a column, best first. {@link proposePoint} finds coordinates in
 * columns of their own.
 */
export function rankCandidates(
  profile: ColumnProfile,
  knowledge: LookupSources,
): ColumnCandidate[] {
  if (profile.filled === 0) return [];
  const candidates = (
    Object.entries(ALL_SCORERS) as [ColumnName, ColumnScorer | undefined][]
  ).flatMap(([element, judge]): ColumnCandidate[] => {
    const name = scoreName(profile.header, element);
    const evidence = judge?.(profile, name, knowledge) ?? scoreByName(element, profile, name);
    if (evidence === undefined) return [];
    const score = WEIGHT_OF_NAME * (name?.score ?? 0) + evidence.score;
    if (score < MIN_SCORE) return [];
    const { rule, reasons, doubt } = evidence;
    return [
      {
        element,
        score,
        rule: { kind: 'read', element, ...rule },
        reasons: [...(name === undefined ? [] : [explainName(name)]), ...reasons],
        doubt,
      },
    ];
  });
  return candidates.sort((a, b) => b.score - a.score);
}

/** Columns whose names also have other meanings: at least one value must fit the element. */
const NEEDS_VALUES: Readonly<Partial<Record<ColumnName, (text: string) => boolean>>> = {
  stav: (text) => isReadable(parseTargetState(text)),
  geom_system: (text) => isReadable(parseGeomSystem(text)),
  predano: (text) => isReadable(parseBoolean(text)),
  predano_organizace: () => false,
  projekt: isProject,
  photos: isPictureName,
  wkt: (text) => isReadable(parsePosition(text)),
};

/**
 * A column with an exact name is read in any case; unreadable cells are reported with their rows.
 */
function scoreByName(
  element: ColumnName,
  profile: ColumnProfile,
  name: NameScore | undefined,
): Evidence | undefined {
  if (!isPlain(name) || element === 'local_id') return undefined;
  const fits = NEEDS_VALUES[element];
  const share = fits === undefined ? 0 : getShare(profile, fits);
  if (fits !== undefined && share === 0) return undefined;
  const doubt = makeUnreadableDoubt(profile, share);
  return { score: 0.3 * share - 0.1, reasons: [], doubt };
}

/** Tells if a name states the meaning, and is not merely similar. */
function isPlain(name: NameScore | undefined): boolean {
  return name !== undefined && name.score >= 0.85;
}

function explainName({ score, like }: NameScore): Message {
  return score === 1 ? msg`the name matches` : msg`its name is similar to "${like}"`;
}

function makeNameScorer(score: number): ColumnScorer {
  return (_profile, name) => (name === undefined ? undefined : { score, reasons: [] });
}

function judgeLocalId(profile: ColumnProfile, name: NameScore | undefined): Evidence | undefined {
  if (name === undefined) return undefined;
  // "name" is the number of a waypoint, and in other tables the name of a thing.
  if (name.like === 'name' && getShare(profile, (text) => /\d/.test(text)) < 1) return undefined;
  const everywhere = profile.filled === profile.rowCount;
  if (!profile.unique) return { score: -0.1, reasons: [] };
  return { score: everywhere ? 0.3 : 0.1, reasons: [] };
}

function isProject(text: string): boolean {
  return /^(?:X-)?[CM]-\d{9}$/.test(text);
}

/** Columns of coordinates whose numbers are inconclusive are accepted by name. */
function judgeCoordinate(
  _profile: ColumnProfile,
  name: NameScore | undefined,
): Evidence | undefined {
  if (name === undefined) return undefined;
  return {
    score: 0.4,
    reasons: [],
    doubt: msg`its values are not coordinates in the Czech Republic`,
  };
}

function judgeProject(profile: ColumnProfile): Evidence | undefined {
  const share = getShare(profile, isProject);
  return share < 0.8
    ? undefined
    : { score: 0.7, reasons: [msg`its values are identifiers of projects`] };
}

function judgeTerms(set: string): ColumnScorer {
  return (profile, name, { lookupTerm }) => {
    const isText = measureNumbers([...profile.values]).share < 0.8;
    // Many different texts under another name are no terms.
    if (!isText || (name === undefined && profile.values.size > Math.max(20, profile.filled / 2)))
      return undefined;
    const shape = measureTerms(profile, set, lookupTerm);
    if (shape === undefined)
      return name === undefined
        ? undefined
        : { score: 0, reasons: [msg`${set} was not harvested`] };
    if (set === 'organizace' && shape.foundCount === 0) return undefined;
    if (name === undefined && shape.foundCount < 2) return undefined;
    return {
      score: shape.foundCount === 0 ? -0.1 : 0.65 * shape.share,
      reasons: [explainTerms(shape, set)],
    };
  };
}

function judgePosition(profile: ColumnProfile, name: NameScore | undefined): Evidence | undefined {
  if (measurePositionShare(profile) < 0.6) return undefined;
  const plain = getShare(profile, (text) => /^point/i.test(text)) > 0.9;
  return {
    score: name === undefined ? 0.6 : 0.5,
    reasons: [msg`both coordinates are in one cell`],
    rule: plain ? undefined : { form: 'position' },
  };
}

const SEPARATORS = [';', ',', '|', '+', '\n'] as const;

function judgePhotographs(profile: ColumnProfile): Evidence | undefined {
  const share = measurePhotographShare(profile);
  if (share < 0.5) return undefined;
  const separator = SEPARATORS.find((mark) =>
    [...profile.values.keys()].some((text) => text.split(mark).length > 1),
  );
  return {
    score: 0.6,
    reasons: [msg`its values are names of photographs`],
    rule: separator === ';' ? undefined : { separator },
  };
}

/** Share of a column that is in a vocabulary, by rows and by lookups. */
type TermShape = { readonly share: number; readonly looked: number; readonly foundCount: number };

/** Looking up the most frequent terms suffices; lookups of missing terms are slow. */
const MAX_LOOKUPS = 24;
/** The lookup of a column stops after so many misses without a hit. */
const MAX_MISSES = 8;

/** Measures the share; undefined where the vocabulary was not harvested, or the column is empty. */
function measureTerms(
  { values }: ColumnProfile,
  set: string,
  lookupTerm: LookupTerm,
): TermShape | undefined {
  const frequent = [...values].sort(([, a], [, b]) => b - a).slice(0, MAX_LOOKUPS);
  let rows = 0;
  let foundRows = 0;
  let looked = 0;
  let foundCount = 0;
  for (const [text, count] of frequent) {
    const { kind } = lookupTerm(set, text);
    if (kind === 'not-harvested') return undefined;
    looked += 1;
    rows += count;
    if (kind === 'found') {
      foundCount += 1;
      foundRows += count;
    } else if (foundCount === 0 && looked === MAX_MISSES) break;
  }
  return looked === 0 ? undefined : { share: foundRows / rows, looked, foundCount };
}

function explainTerms({ looked, foundCount }: TermShape, set: string): Message {
  return msg`${foundCount} of ${looked} different terms are in ${set}`;
}

/** Evidence for elements whose values have a form: days, people, yes and no. */

function judgeDates(profile: ColumnProfile, name: NameScore | undefined): Evidence | undefined {
  const { form, share, readable, ambiguous, years } = detectDateForm(profile);
  if (name === undefined ? share < 0.9 : readable < (isPlain(name) ? 0.1 : 0.6)) return undefined;
  const doubt = ambiguous
    ? msg`the day and the month cannot be told apart; pas reads the day first`
    : makeUnreadableDoubt(profile, readable);
  const written =
    form === DAY_NUMBER ? msg`spreadsheet date numbers` : msg`dates in the format ${form}`;
  return {
    score: (share > 0 ? 0.5 : 0.3) * readable,
    rule: { date: form, yearOnly: years > 0 ? 'note' : undefined },
    reasons: [
      ...(share > 0 ? [written] : []),
      ...(years > 0 ? [msg`a year alone is not a date: it is kept in the note`] : []),
    ],
    doubt,
  };
}

const PERSON = /^(?:\p{L}+\.\s+)*\p{Lu}[\p{L}'.-]*,?\s+\p{Lu}[\p{L}'.-]*/u;

function judgeFinders(
  profile: ColumnProfile,
  name: NameScore | undefined,
  knowledge: LookupSources,
): Evidence | undefined {
  const persons = getShare(profile, (text) => PERSON.test(text) || /^OS-\d+$/.test(text));
  if (name === undefined || persons < 0.3) return undefined;
  const order = detectOrderOfNames(profile, knowledge);
  if (order === undefined)
    return { score: 0.3 * persons, reasons: [msg`its values are names of people`] };
  const written = order === 'surname-first' ? msg`surname first` : msg`given name first`;
  return {
    score: 0.3 * persons,
    rule: { name: order },
    reasons: [msg`names of people, ${written}`],
  };
}

/** Returns the order of names; undefined where all have a comma, or none is conclusive. */
function detectOrderOfNames(
  { values }: ColumnProfile,
  { lookupTerm }: LookupSources,
): NameOrder | undefined {
  let surnameFirst = 0;
  let givenFirst = 0;
  for (const text of [...values.keys()].slice(0, 100)) {
    const { parts } = parseName(text);
    const [name = ''] = parts;
    if (parts.length !== 1 || !name.includes(' ')) continue;
    const lookup = lookupTerm('osoba', name);
    const order =
      (lookup.kind === 'found' ? findKnownOrder(name, lookup.term.label) : undefined) ??
      detectNameOrder(name);
    if (order === 'surname-first') surnameFirst += 1;
    else if (order === 'given-first') givenFirst += 1;
  }
  if (surnameFirst + givenFirst === 0) return undefined;
  return surnameFirst >= givenFirst ? 'surname-first' : 'given-first';
}

/** @param label `Surname, Given name` */
function findKnownOrder(name: string, label: string): NameOrder | undefined {
  const [first] = splitNameWords(name);
  if (first === undefined || !label.includes(',')) return undefined;
  return splitNameWords(label.slice(0, label.indexOf(','))).includes(first)
    ? 'surname-first'
    : 'given-first';
}

/** Short words for yes and no that are read only with a map. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  a: 'ano',
  n: 'ne',
  x: 'ano',
  '+': 'ano',
  '-': 'ne',
  y: 'ano',
};

function judgeYesOrNo(profile: ColumnProfile, name: NameScore | undefined): Evidence | undefined {
  if (name === undefined) return undefined;
  const forms = [...new Set([...profile.values.keys()].map(normalizeKey))].filter((text) =>
    Object.hasOwn(OWN_WORDS, text),
  );
  const share = getShare(
    profile,
    (text) => isReadable(parseBoolean(text)) || forms.includes(normalizeKey(text)),
  );
  if (share < 0.9) return undefined;
  const values = Object.fromEntries(forms.map((text) => [text, OWN_WORDS[text] ?? '']));
  return {
    score: 0.3,
    reasons: [msg`its values mean yes or no`],
    rule: forms.length === 0 ? undefined : { values },
  };
}

type DepthEvidence = {
  readonly score: number;
  readonly rule: { readonly unit: DepthUnit | typeof OPEN_UNIT };
  readonly reasons: readonly Message[];
  readonly doubt?: Message;
};

/**
 * Judges a column of depths: the unit is in the header or the cells, or follows from the size of
 * the numbers.
 */
function judgeDepths(
  profile: ColumnProfile,
  name: NameScore | undefined,
): DepthEvidence | undefined {
  const all = measureNumbers([...profile.values]);
  if (name === undefined || all.share < 0.5 || all.least < 0 || all.most > 5000) return undefined;
  const bare = [...profile.values].filter(([text]) => !/\d\s*(?:mm|cm|dm|m)\.?$/i.test(text));
  if (bare.length === 0)
    return { score: 0.3, rule: { unit: 'cm' }, reasons: [msg`each value includes its unit`] };
  const shape = measureNumbers(bare);
  const { least, most, fractions } = shape;
  const range = fractions
    ? `${formatDecimal(least, 2)}–${formatDecimal(most, 2)}`
    : `${least}–${most}`;
  const numbers = bare.flatMap(([text]) => parsePlainNumber(text) ?? []);
  const open = (doubt: Message): DepthEvidence => ({
    score: 0.2,
    rule: { unit: OPEN_UNIT },
    reasons: [],
    doubt,
  });
  const doubt = makeUnreadableDoubt(profile, all.share);
  const named = findNamedUnit(profile.header);
  if (named !== undefined) {
    return numbers.some((value) => isOutOfUnit(value, named))
      ? open(
          msg`the header says ${named}, but some of ${range} seem to be in another unit. Which unit are they in?`,
        )
      : { score: 0.3, rule: { unit: named }, reasons: [msg`the header says ${named}`], doubt };
  }
  const unit = guessUnitBySize(shape);
  if (unit === undefined || numbers.some((value) => isOutOfUnit(value, unit)))
    return open(
      msg`${range}: some seem to be metres and others centimetres. Which unit are they in?`,
    );
  const vague = !fractions && most <= 5 ? msg`${range} may be metres as well` : doubt;
  return { score: 0.2, rule: { unit }, reasons: [SIZE_REASONS[unit](range)], doubt: vague };
}

const SIZE_REASONS: Readonly<Record<Exclude<DepthUnit, 'dm'>, (range: string) => Message>> = {
  m: (range) => msg`${range}: probably metres`,
  cm: (range) => msg`${range}: probably centimetres`,
  mm: (range) => msg`${range}: probably millimetres`,
};

/** Returns the unit that fits all numbers; undefined for `0,3` beside `35`. */
function guessUnitBySize({
  least,
  most,
  fractions,
}: NumberShape): keyof typeof SIZE_REASONS | undefined {
  if (!fractions) return most > 1000 ? 'mm' : 'cm';
  if (most <= 10) return 'm';
  return least < 5 ? undefined : 'cm';
}

/** Metres; no find lies deeper. */
const MAX_DEPTH_M = 20;

function isOutOfUnit(value: number, unit: DepthUnit): boolean {
  return (unit === 'm' && value > MAX_DEPTH_M) || (value > 0 && value * CENTIMETRES[unit] < 0.5);
}

function findNamedUnit(header: string): DepthUnit | undefined {
  const [, ...words] = foldName(header).split('_');
  return words.map(findUnit).find((unit) => unit !== undefined);
}
