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
import { getDisplayedText, type Table, type TableRow } from '../tables/table.ts';
import { isPictureName } from '../text/names.ts';
import { getTrimmedCell } from './columns.ts';

/** Keys of the numbers of a geopoint; their texts are as written, empty where there is none. */
export const LATITUDE = 'lat';
export const LONGITUDE = 'lon';
export const ACCURACY = 'accuracy';

/** Answers of one filled form, or of one repetition of a group, without empty ones. */
export type FormAnswers = {
  /** By name of a question of pas's form, or of an element. */
  readonly named: ReadonlyMap<string, string>;
  /** Names of files. */
  readonly pictures: readonly string[];
  /** Answers that fill no element, under the names of their questions. */
  readonly otherAnswers: readonly (readonly [header: string, text: string])[];
};

/** Meaning of a column that fills no element. */
export const OTHER_ANSWER = '';

/** Meaning of each column: a question of pas's form, an element, or another answer. */
export type FormColumns = readonly (string | undefined)[];

/** Columns that a phone, ODK Central or KoboToolbox adds to a filled form. */
const METADATA = [
  /(?:^|[-/])(?:meta|formhub)[-/]/,
  /^(?:instanceID|instanceName|start|end|today|username|deviceid|subscriberid|simserial|phonenumber|audit)$/,
  /^(?:SubmissionDate|Submitter(?:ID|Name)|Attachments(?:Present|Expected)|Status|ReviewState|DeviceID|Edits|FormVersion|isValidated|(?:PARENT_)?KEY|SET-OF-.*)$/,
  /^(?:_(?:id|uuid|submission_time|validation_status|notes|status|submitted_by|tags|index|parent_.*|submission_.*)|__version__)$/,
];

/** Answers in the columns of a geopoint's parts; the altitude is not read. */
const POINT_PARTS: Readonly<Record<string, string | undefined>> = {
  latitude: LATITUDE,
  longitude: LONGITUDE,
  accuracy: ACCURACY,
  precision: ACCURACY,
};
const PART_OF_POINT = /^(.+?)[-_](latitude|longitude|altitude|accuracy|precision)$/i;

/** Names of questions by possible header. */
export type KnownQuestions = ReadonlyMap<string, string>;

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
 * Finds the meanings of the columns of a form; undefined for one that is not read. A column is
 * recognised by its full name or by the name without its groups. A column in which every text is a
 * picture's name holds pictures.
 */
export function findFormColumns({ header, rows }: Table, questions: KnownQuestions): FormColumns {
  const point = findGeopoint(header, questions);
  const named = new Set<string>();
  return header.map((text, index) => {
    if (METADATA.some((pattern) => pattern.test(text)) || isAddressOfAnother(text, header))
      return undefined;
    const part = parsePointPart(text, header);
    const isOfPoint = point !== undefined && (part?.of ?? text) === point;
    const name = isOfPoint ? part?.answer : findQuestionName(text, questions);
    if (name === FORM_PHOTO || hasOnlyPictures(rows, index)) return FORM_PHOTO;
    // A column `photos` with other texts is no list of photographs.
    if (name === undefined || name === 'photos' || named.has(name))
      return isOfPoint ? undefined : OTHER_ANSWER;
    named.add(name);
    return name;
  });
}

export function readAnswers(
  row: TableRow,
  header: readonly string[],
  columns: FormColumns,
): FormAnswers {
  const named = new Map<string, string>();
  const pictures: string[] = [];
  const otherAnswers: [string, string][] = [];
  for (const [index, name] of columns.entries()) {
    if (name === undefined) continue;
    const column = findColumnMeant(name);
    const text =
      column === undefined
        ? getDisplayedText(row, index).trim()
        : getTrimmedCell(row, index, column);
    if (text === '') continue;
    if (name === FORM_PHOTO) pictures.push(text);
    else if (name === OTHER_ANSWER) otherAnswers.push([header[index] ?? '', text]);
    else named.set(name, text);
  }
  const [latitude, longitude, , accuracy] = named.get(FORM_POINT)?.split(/\s+/) ?? [];
  const whole = { [LATITUDE]: latitude, [LONGITUDE]: longitude, [ACCURACY]: accuracy };
  for (const [name, text] of Object.entries(whole))
    if (text !== undefined && !named.has(name)) named.set(name, text);
  return { named, pictures, otherAnswers };
}

/**
 * Finds the question of a header: `frame-hloubka`, `frame/hloubka`, `hloubka`, `Frame/Depth (cm)`.
 */
function findQuestionName(header: string, questions: KnownQuestions): string | undefined {
  const isPart = PART_OF_POINT.test(header);
  const starts = [0, ...[...header.matchAll(/[-/]/g)].map(({ index }) => index + 1)];
  return starts
    .map((start) => header.slice(start))
    .map((rest) => questions.get(rest) ?? (isPart ? undefined : findColumnMeant(rest)))
    .find((name) => name !== undefined);
}

/**
 * Tells if a column has the address of a file named in another column, or one choice of a multiple
 * choice there.
 */
function isAddressOfAnother(text: string, header: readonly string[]): boolean {
  const [, of] = /^(.+)_URL$/.exec(text) ?? /^(.+)\/[^/]+$/.exec(text) ?? [];
  return of !== undefined && header.includes(of);
}

function hasOnlyPictures(rows: Table['rows'], index: number): boolean {
  let some = false;
  for (const { cells } of rows) {
    const text = (cells[index] ?? '').trim();
    if (text !== '' && !(isPictureName(text) && !/[/\\]/.test(text))) return false;
    some ||= text !== '';
  }
  return some;
}

/**
 * Parses the header of a geopoint's part: `where-point-Latitude` of ODK Central,
 * `_where/point_latitude` of KoboToolbox beside the whole point.
 */
function parsePointPart(text: string, header: readonly string[]) {
  const [, before = '', part = ''] = PART_OF_POINT.exec(text) ?? [];
  const whole = before.replace(/^_/, '').replace(/\/_([^/]+)$/, '/$1');
  const of = header.includes(before) ? before : whole;
  if (part === '' || (text.startsWith('_') && !header.includes(of))) return undefined;
  return { of, answer: POINT_PARTS[part.toLowerCase()] };
}

/** Finds the geopoint that is read: that of pas's form, else the only one. */
function findGeopoint(header: readonly string[], questions: KnownQuestions): string | undefined {
  const parts = header.flatMap((text) => parsePointPart(text, header) ?? []);
  const points = [...new Set(parts.map(({ of }) => of))].filter((point) =>
    [LATITUDE, LONGITUDE].every((name) =>
      parts.some(({ of, answer }) => of === point && answer === name),
    ),
  );
  const isOwn = (text: string): boolean => findQuestionName(text, questions) === FORM_POINT;
  return points.find(isOwn) ?? (points.length === 1 && !header.some(isOwn) ? points[0] : undefined);
}
