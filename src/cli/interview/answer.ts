import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { normalizeId } from '../../base/characters.ts';
import { splitFileNames } from '../../base/csv.ts';
import {
  hasErrors,
  type Issue,
  isReadable,
  makeErrorIssue,
  type Reading,
  toIssue,
} from '../../base/issue.ts';
import { getLanguage, t } from '../../base/message.ts';
import { foldForSearch } from '../../base/names.ts';
import {
  type ElementName,
  type FindElements,
  getField,
  getPointElement,
  POINT_ELEMENTS,
} from '../../finds/fields.ts';
import type { Find } from '../../finds/find.ts';
import { formatPoint, toWgs84 } from '../../finds/place/geometry.ts';
import {
  formatExactPosition,
  formatPosition,
  type Position,
  parsePosition,
} from '../../finds/place/read-position.ts';
import { listElementsOfQuestion, type Question, type QuestionName } from '../../finds/questions.ts';
import { checkFindByRules } from '../../finds/rules.ts';
import { NOT_HARVESTED, type RuleContext } from '../../finds/value-rules.ts';
import { searchTerms } from '../../finds/vocabulary/search.ts';
import { describeProject, type Term, type Vocabulary } from '../../finds/vocabulary/term.ts';
import {
  findTermByIdent,
  isSetHarvested,
  listTermsAbove,
  listTermsOfSet,
} from '../../finds/vocabulary/terms.ts';
import type { PhotographKeeping } from '../../outbox/changes/kept-photographs.ts';
import { readPhotoPosition } from '../../photos/photo-exif.ts';
import {
  type ColumnName,
  isPointColumn,
  type Setting,
} from '../../tables/columns/column-meaning.ts';
import type { RowContext } from '../../tables/columns/map-row.ts';
import { findLocalIdProblem } from '../../tables/columns/map-table.ts';
import { orderElements, parseSettings } from '../../tables/columns/settings.ts';
import type { Mapping } from '../../tables/own-terms/mapping.ts';
import type { Annotation, PromptOffer } from '../prompt.ts';

/** Context of reading an answer: lookups and rules of a table's cells, and the finds that exist. */
export type AnswerContext = RowContext &
  RuleContext & {
    /** Base folder of file names. */
    readonly folder: string;
    readonly isTaken: (localId: string) => boolean;
    readonly inspectPhotograph: PhotographKeeping['inspectPhotograph'];
  };

/** The find with the answer, or the problem for which it is not accepted, with its remedy. */
export type Answer =
  | {
      readonly find: Find;
      /** Oddity that a person must confirm before the answer counts. */
      readonly doubt?: string;
      /** Notes that are no faults. */
      readonly remarks: readonly string[];
    }
  | { readonly problem: string };

/**
 * Reads one answer like the cell of a table, and checks it by the rules of its elements, except
 * that missing elements and terms of unharvested vocabularies are not reported. Photographs are
 * read from their files, and a point may be read from one; nothing is stored.
 * @param find gets the answer, in a copy
 */
export async function readAnswer(
  question: Question,
  text: string,
  find: Find,
  context: AnswerContext,
): Promise<Answer> {
  switch (question.name) {
    case 'local_id':
      return parseLocalId(normalizeId(text), find, context);
    case 'photos':
      return readPhotosAnswer(text, find, context);
    case 'point':
      return readPointAnswer(text, find, context);
    default: {
      const setting = { name: question.name, givenName: question.name, value: text.trim() };
      const settled = applySettings(find, [setting], undefined, context);
      if (hasErrors(settled.issues)) return { problem: joinIssueMessages(settled.issues) };
      const answer = judgeAnswer(question.name, settled.find, context);
      if ('problem' in answer) return answer;
      const issueLines = settled.issues.map(({ message }) => `! ${message}`);
      return { ...answer, remarks: [...issueLines, ...answer.remarks] };
    }
  }
}

/**
 * Returns the find without the answer to a question; its local id always stays. For the question of
 * the point, both points are removed, and `geom_system`, which every find needs, becomes 4326; it
 * stays only where it was stated without a point.
 */
export function removeAnswer(name: QuestionName, find: Find): Find {
  if (name === 'photos') return { ...find, photos: [] };
  if (name !== 'point') return withElements(find, [name], {});
  const { geom_system: stated = '4326', geom_wkt, geom_sjtsk_wkt } = find.elements;
  const hasPoint = geom_wkt !== undefined || geom_sjtsk_wkt !== undefined;
  return withElements(find, POINT_ELEMENTS, { geom_system: hasPoint ? '4326' : stated });
}

/**
 * Returns the find with `elements`, after removing those that `columns` name; any column of the
 * point or its system removes both points and the system.
 */
function withElements(find: Find, columns: readonly ColumnName[], elements: FindElements): Find {
  const replaced = new Set<string>(
    columns.some(isPointOrSystemColumn) ? [...columns, ...POINT_ELEMENTS] : columns,
  );
  const kept = Object.entries(find.elements).filter(([element]) => !replaced.has(element));
  return { ...find, elements: orderElements({ ...Object.fromEntries(kept), ...elements }) };
}

/** A local id that another find has is a problem; the find's own is none. */
function parseLocalId(name: string, find: Find, { isTaken }: AnswerContext): Answer {
  const problem = findLocalIdProblem(name);
  if (problem !== undefined) return { problem: String(problem) };
  if (name !== find.localId && isTaken(name))
    return { problem: t`There is already a find ${name}.` };
  return { find: { ...find, localId: name }, remarks: [] };
}

async function readPhotosAnswer(text: string, find: Find, context: AnswerContext): Promise<Answer> {
  const photos: string[] = [];
  const remarks: string[] = [];
  for (const name of splitFileNames(text).map(withoutQuotes)) {
    if (name === '') continue;
    const path = resolve(context.folder, name);
    const { photograph, issues } = await context.inspectPhotograph(path);
    if (hasErrors(issues)) return { problem: joinIssueMessages(issues) };
    photos.push(photograph?.source ?? path);
    remarks.push(...issues.map(({ message }) => message));
  }
  return { find: { ...find, photos: [...new Set(photos)] }, remarks };
}

async function readPointAnswer(text: string, find: Find, context: AnswerContext): Promise<Answer> {
  const reading = await readPosition(text, context.folder);
  if (!isReadable(reading)) return { problem: String(reading.problem) };
  const { value } = reading;
  const answer = judgeAnswer('point', withPosition(find, value), context);
  if ('problem' in answer) return answer;
  const area = findAreaLabel(value, context);
  return {
    ...answer,
    remarks: [
      `→ ${formatPosition(value)}${area === undefined ? '' : `, ${area}`}`,
      ...answer.remarks,
    ],
    doubt: value.doubt && String(value.doubt),
  };
}

/**
 * Reads a position as typed, or from a photograph where the text is the name of a file. A text that
 * is no position, or a photograph without one, is a problem of the reading.
 * @param folder that of a relative file name
 */
export async function readPosition(text: string, folder: string): Promise<Reading<Position>> {
  const path = resolve(folder, withoutQuotes(text));
  const isPhoto = await stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
  return isPhoto ? readPhotoPosition(path) : parsePosition(text);
}

/** Returns the find at this point, in the system of the position, without any former point. */
function withPosition(find: Find, { system, point }: Position): Find {
  const elements = { geom_system: system, [getPointElement(system)]: formatPoint(point) };
  return withElements(find, POINT_ELEMENTS, elements);
}

/**
 * Returns the find with the values that flags give; photographs are added to those that it has. A
 * given point is read with the find's system, and a given system with the find's point. A faulty
 * value has an issue, and its element is removed. A position in doubt has an issue, and the point
 * stays as it is: a flag has no question to confirm it.
 * @param reading of `--point`, which is refused beside settings of the point; undefined for none
 */
export function applySettings(
  find: Find,
  settings: readonly Setting[],
  reading: Reading<Position> | undefined,
  context: Partial<RowContext> & Pick<RowContext, 'resolveReference'>,
): { readonly find: Find; readonly issues: Issue[] } {
  const { localId } = find;
  const position = reading === undefined ? undefined : acceptCertainPosition(reading, localId);
  const isDoubtful = position !== undefined && 'rule' in position;
  const placed =
    position === undefined || isDoubtful ? [] : listPointSettings(withPosition(find, position));
  const given = [...placed, ...settings];
  const parsed = parseSettings([...given, ...listKeptPointSettings(find, given)], localId, context);
  const issues = parsed.issues.map((issue) =>
    issue.with({ element: issue.element ?? issue.column, find: localId }).without('column'),
  );
  if (isDoubtful) issues.push(position);
  const names = given.map(({ name }) => name);
  const photos = [...new Set([...find.photos, ...parsed.photos])];
  return { find: withElements({ ...find, photos }, names, parsed.elements), issues };
}

/**
 * Returns the system or the point of the find where only the other one is given, so that both are
 * read together; empty where neither is.
 */
function listKeptPointSettings(find: Find, given: readonly Setting[]): Setting[] {
  if (!given.some(({ name }) => isPointOrSystemColumn(name))) return [];
  const hasPoint = given.some(({ name }) => isPointColumn(name));
  return listPointSettings(find).filter(
    ({ name }) => given.every((each) => each.name !== name) && !(hasPoint && isPointColumn(name)),
  );
}

/** Tells if a column has coordinates, a geometry or the coordinate system of the point. */
function isPointOrSystemColumn(name: string): boolean {
  return name === 'geom_system' || isPointColumn(name);
}

/** Returns the coordinate system of a find, and the point in that system, as far as it has them. */
function listPointSettings({ elements }: Find): Setting[] {
  const { geom_system: system } = elements;
  const wkt = system === undefined ? undefined : elements[getPointElement(system)];
  const values = [
    ['geom_system', system],
    ['wkt', wkt],
  ] as const;
  return values.flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, givenName: name, value }],
  );
}

/** Returns a position that is read without doubt; else the issue, with an unambiguous spelling. */
function acceptCertainPosition(reading: Reading<Position>, find: string): Position | Issue {
  const where = { find, element: 'geom_wkt' };
  if (!isReadable(reading)) return toIssue(reading, where);
  const { doubt } = reading.value;
  if (doubt === undefined) return reading.value;
  const meant = formatExactPosition(reading.value);
  return makeErrorIssue(
    'geometry-doubt',
    t`${doubt} If you mean ${meant}, write it that way.`,
    where,
  );
}

function findAreaLabel(
  { system, point }: Position,
  { lookupArea }: RuleContext,
): string | undefined {
  const numbers = [Number(point.x), Number(point.y)] as const;
  const areaLookup = lookupArea?.(...(system === '4326' ? numbers : toWgs84(numbers)));
  return areaLookup?.kind === 'inside' ? areaLookup.area.label : undefined;
}

/**
 * Accepts an answer unless one of its elements breaks a rule; warnings become remarks. Missing
 * elements are reported at the end.
 */
function judgeAnswer(name: QuestionName, find: Find, context: AnswerContext): Answer {
  const concerned = new Set<string>(listElementsOfQuestion(name));
  const issues = checkFindByRules(find, context).filter(
    ({ element, rule }) =>
      element !== undefined && concerned.has(element) && !RULES_OF_ABSENCE.includes(rule),
  );
  const errors = issues.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) return { problem: joinIssueMessages(errors) };
  // Unchecked identifiers were reported with the suggestions.
  const odd = issues.filter(({ rule }) => rule !== NOT_HARVESTED);
  return { find, remarks: odd.map(({ message }) => `! ${message}`) };
}

/** Rules about missing elements. */
export const RULES_OF_ABSENCE: readonly string[] = ['required', 'geometry-required'];

function joinIssueMessages(issues: readonly Issue[]): string {
  return issues.map(({ message }) => message).join(' ');
}

/** File names from drag and drop are quoted, or have escaped blanks. */
function withoutQuotes(name: string): string {
  const text = name.trim();
  return /^'.*'$|^".*"$/.test(text) ? text.slice(1, -1) : text.replace(/\\ /g, ' ');
}

/**
 * Returns choices for an element by the typed text, which may be empty; at least one choice or
 * remark. The value of a choice is that of a table's cell.
 */
export type OfferTerms = (
  element: ElementName,
  typed: string,
) => readonly (PromptOffer<string> | Annotation)[];

type OfferSources = { readonly vocabulary: Vocabulary; readonly mapping: Mapping };

/** One screen of choices. */
const MAX_FOUND = 30;
/** Size up to which a set is listed before typing. */
const SMALL_SET = 25;

/**
 * Makes the function that offers choices for an element: for a typed text the museum's own terms
 * and then the entries that match it, without a text all entries of a small set. The text itself is
 * the last choice where the element may have another value, such as a new person, and the only one,
 * with a remark, where nothing matches.
 */
export function makeTermOfferer(sources: OfferSources): OfferTerms {
  const { vocabulary } = sources;
  return (element, typed) => {
    const { set = 'projekt', kind } = getField(element);
    const text = typed.trim();
    const terms = text === '' ? listSmallSet(vocabulary, set) : findTerms(vocabulary, set, text);
    const offers = [
      ...(text === '' ? [] : listOwnTermOffers(sources, set, text)),
      ...terms.map((term) => makeTermOffer(vocabulary, term)),
    ];
    const itself = { value: text, name: text };
    const isFree =
      text !== '' && kind === 'reference' && offers.every(({ value }) => value !== text);
    if (offers.length > 0) return isFree ? [...offers, itself] : offers;
    const remark = { remark: makeRemark(vocabulary, set, text) };
    return text === '' ? [remark] : [itself, remark];
  };
}

/** Returns all entries of a set, or none of a large one. */
function listSmallSet(vocabulary: Vocabulary, set: string): readonly Term[] {
  const all = listTermsOfSet(vocabulary, set);
  return all.length > SMALL_SET ? [] : all;
}

function findTerms(vocabulary: Vocabulary, set: string, text: string): readonly Term[] {
  return searchTerms(vocabulary, text, { setSpec: set, limit: MAX_FOUND })
    .map(({ term }) => term)
    .filter(({ setSpec }) => setSpec === set || setSpec.startsWith(`${set}:`));
}

/** Returns own terms of the set that contain the typed text, in the mapping's order. */
function listOwnTermOffers(
  { vocabulary, mapping }: OfferSources,
  set: string,
  typed: string,
): PromptOffer<string>[] {
  const query = foldForSearch(typed);
  return mapping.rows
    .filter((row) => row.set === set && foldForSearch(row.term).includes(query))
    .slice(0, MAX_FOUND)
    .map(({ term: ownTerm, id, label }) => {
      const term = findTermByIdent(vocabulary, id);
      const meaning = term === undefined ? label || id : getTermName(term);
      return {
        value: ownTerm,
        name: `${ownTerm} = ${meaning}`,
        short: meaning,
        description: t`your own term`,
      };
    });
}

/** Makes the choice of an entry; its description has the identifier and the entries above it. */
function makeTermOffer(vocabulary: Vocabulary, term: Term): PromptOffer<string> {
  const path = listTermsAbove(vocabulary, term.ident).map(({ label, ident }) => label || ident);
  return {
    value: term.ident,
    name: `${getTermName(term)} ${describeProject(term.details)}`.trim(),
    short: getTermName(term),
    description: [term.ident, ...path.map((label) => `${label} ›`), term.label].join(' '),
  };
}

/**
 * Returns the label in the user's language, with the Czech one beside the English, since the
 * service shows only that.
 */
function getTermName({ label, labelEn }: Term): string {
  return getLanguage() === 'cs' || labelEn === null || labelEn === label
    ? label
    : `${labelEn} (${label})`;
}

function makeRemark(vocabulary: Vocabulary, set: string, typed: string): string {
  if (!isSetHarvested(vocabulary, set)) return t`${set} was not harvested. Type the identifier.`;
  return typed === ''
    ? t`Type a few letters, in Czech or English.`
    : t`Nothing resembles "${typed}". Try other letters.`;
}
