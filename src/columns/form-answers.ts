import { forEachLanguage } from '../base/language.ts';
import { findColumnMeant } from '../find/fields.ts';
import {
  FORM_PHOTO,
  FORM_POINT,
  FORM_WRITTEN,
  getFormGroup,
  getFormLabel,
} from '../find/form-names.ts';
import { QUESTIONS } from '../find/questions.ts';
import { getDisplayedText, type TableRow } from '../tables/table.ts';
import { isPictureName } from '../text/names.ts';
import { getTrimmedCell } from './columns.ts';

/** Keys of the numbers of a geopoint; their texts are as written, empty where there is none. */
export const LATITUDE = 'lat';
export const LONGITUDE = 'lon';
export const ACCURACY = 'accuracy';

/** Answers of one filled form, or of one repetition of a group. */
export type FormAnswers = {
  /** By name of a question of pas's form, or of an element. */
  readonly named: ReadonlyMap<string, string>;
  /** Names of files. */
  readonly pictures: readonly string[];
  /** Answers that fill no element, under the names of their questions. */
  readonly otherAnswers: readonly (readonly [header: string, text: string])[];
};

type FormReader = {
  /** Column of each question of pas's form, or element. */
  readonly named: ReadonlyMap<string, number>;
  /** Columns that fill no element. */
  readonly otherColumns: readonly number[];
  readonly read: (row: TableRow) => FormAnswers;
};

/** Columns of one geopoint, in the order of its four numbers; a single column holds all of them. */
type PointColumns = {
  readonly latitude?: number;
  readonly longitude?: number;
  readonly accuracy?: number;
};

/** Metadata that phones and then each server add to a filled form. */
const BY_PHONE =
  /(?:^|[-/])(?:meta|formhub)[-/]|^(?:instanceID|instanceName|start|end|today|username|deviceid|subscriberid|simserial|phonenumber|audit)$/;
const BY_SERVER = {
  '-': /^(?:SubmissionDate|Submitter(?:ID|Name)|Attachments(?:Present|Expected)|Status|ReviewState|DeviceID|Edits|FormVersion|isValidated|(?:PARENT_)?KEY|SET-OF-.*)$/,
  '/': /^(?:_(?:id|uuid|submission_time|validation_status|notes|status|submitted_by|tags|index|parent_.*|submission_.*)|__version__)$/,
};

/** Separator of groups and questions in exports of ODK Central and of KoboToolbox. */
export type GroupSeparator = keyof typeof BY_SERVER;

const PART_OF_POINT = /^(.+?)[-_](latitude|longitude|altitude|accuracy|precision)$/i;

/** Names of questions by possible header. */
type KnownQuestions = ReadonlyMap<string, string>;

/** Returns the questions of pas's form by their names and by their labels in both languages. */
export async function loadQuestions(): Promise<KnownQuestions> {
  const questionNames = QUESTIONS.map(({ name }) => name).filter(
    (name) => name !== 'photos' && name !== 'point',
  );
  const labelled = [
    ...questionNames,
    ...questionNames.map(getFormGroup),
    FORM_PHOTO,
    FORM_POINT,
    ...Object.values(FORM_WRITTEN),
  ];
  const labels = await forEachLanguage(() =>
    labelled.map((name) => [String(getFormLabel(name)), name] as const),
  );
  return new Map([...labels.en, ...labels.cs, ...labelled.map((name) => [name, name] as const)]);
}

/**
 * Makes a reader for the rows of one table of a form. A column is recognised by its full name or by
 * the name without its groups. A column in which every text is a picture's name holds pictures.
 * @param separator between groups and the name of a question
 */
export function makeAnswersReader(
  header: readonly string[],
  rows: readonly TableRow[],
  questions: KnownQuestions,
  separator: GroupSeparator,
): FormReader {
  const points = parsePoints(header, questions, separator);
  const hasOwn = header.some((text) => findQuestionName(text, questions, separator) === FORM_POINT);
  const point =
    points.get(FORM_POINT) ?? (points.size === 1 && !hasOwn ? [...points.values()][0] : undefined);
  const used = new Set(point?.columns);
  const named = new Map<string, number>();
  const pictures: number[] = [];
  const otherColumns: number[] = [];
  for (const [index, text] of header.entries()) {
    if (used.has(index)) continue;
    if (BY_PHONE.test(text) || BY_SERVER[separator].test(text) || isAddressOfAnother(text, header))
      continue;
    const name = findQuestionName(text, questions, separator);
    if (name === FORM_PHOTO || hasOnlyPictures(rows, index)) pictures.push(index);
    // A column `photos` with other texts is no list of photographs.
    else if (name !== undefined && name !== 'photos' && !named.has(name)) named.set(name, index);
    else otherColumns.push(index);
  }
  const read = (row: TableRow): FormAnswers => {
    const getCellText = (index: number | undefined): string =>
      (row.cells[index ?? -1] ?? '').trim();
    const getShownText = (index: number): string => getDisplayedText(row, index).trim();
    const getAnswerText = (name: string, index: number): string => {
      const column = findColumnMeant(name);
      return column === undefined ? getShownText(index) : getTrimmedCell(row, index, column);
    };
    const texts = new Map(
      [...named].map(([name, index]) => [name, getAnswerText(name, index)] as const),
    );
    const { [FORM_POINT]: whole = '' } = Object.fromEntries(texts);
    const [latitude = '', longitude = '', , accuracy = ''] =
      point === undefined
        ? whole.split(/\s+/)
        : [point.latitude, point.longitude, undefined, point.accuracy].map(getCellText);
    return {
      named: new Map([
        ...texts,
        [LATITUDE, latitude || (texts.get(LATITUDE) ?? '')],
        [LONGITUDE, longitude || (texts.get(LONGITUDE) ?? '')],
        [ACCURACY, accuracy],
      ]),
      pictures: pictures.map(getCellText).filter((text) => text !== ''),
      otherAnswers: otherColumns
        .map((index) => [header[index] ?? '', getShownText(index)] as const)
        .filter(([, text]) => text !== ''),
    };
  };
  return { named, otherColumns, read };
}

/**
 * Finds the question of a header: `frame-hloubka`, `frame/hloubka`, `hloubka`, `Frame/Depth (cm)`.
 */
function findQuestionName(
  header: string,
  questions: KnownQuestions,
  separator: string,
): string | undefined {
  for (let rest = header; ; rest = rest.slice(rest.indexOf(separator) + 1)) {
    const name =
      questions.get(rest) ?? (PART_OF_POINT.test(header) ? undefined : findColumnMeant(rest));
    if (name !== undefined || !rest.includes(separator)) return name;
  }
}

/**
 * Tells if a column has the address of a file named in another column, or one choice of a multiple
 * choice there.
 */
function isAddressOfAnother(text: string, header: readonly string[]): boolean {
  const [, of] = /^(.+)_URL$/.exec(text) ?? /^(.+)\/[^/]+$/.exec(text) ?? [];
  return of !== undefined && header.includes(of);
}

function hasOnlyPictures(rows: readonly TableRow[], index: number): boolean {
  let some = false;
  for (const { cells } of rows) {
    const text = (cells[index] ?? '').trim();
    if (text !== '' && !(isPictureName(text) && !/[/\\]/.test(text))) return false;
    some ||= text !== '';
  }
  return some;
}

/**
 * Groups geopoint columns: `where-point-Latitude` of ODK Central, `_where/point_latitude` of
 * KoboToolbox.
 */
function parsePoints(header: readonly string[], questions: KnownQuestions, separator: string) {
  const points = new Map<string, PointColumns & { columns: number[] }>();
  for (const [index, text] of header.entries()) {
    const [, before = '', part = ''] = PART_OF_POINT.exec(text) ?? [];
    const of = header.includes(before)
      ? before
      : before.replace(/^_/, '').replace(/\/_([^/]+)$/, '/$1');
    if (part === '' || (text.startsWith('_') && !header.includes(of))) continue;
    const name = findQuestionName(of, questions, separator) ?? of;
    const point = points.get(name) ?? { columns: header.includes(of) ? [header.indexOf(of)] : [] };
    const kind = part.toLowerCase() === 'precision' ? 'accuracy' : part.toLowerCase();
    points.set(name, { ...point, [kind]: index, columns: [...point.columns, index] });
  }
  for (const [name, { latitude, longitude }] of points)
    if (latitude === undefined || longitude === undefined) points.delete(name);
  return points;
}
