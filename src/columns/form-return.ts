import { type Issue, makeErrorIssue, makeWarningIssue } from '../base/issue.ts';
import { forEachLanguage } from '../base/language.ts';
import { msg } from '../base/message.ts';
import { findColumnMeant, getField, isElementName } from '../find/fields.ts';
import {
  FORM_LABEL_GAP,
  FORM_PHOTO,
  FORM_POINT,
  FORM_WORST_ACCURACY_M,
  FORM_WRITTEN,
  getFormGroup,
  getFormLabel,
  isWrittenToo,
} from '../find/form-names.ts';
import { QUESTIONS } from '../find/questions.ts';
import {
  type Attachments,
  getDisplayedText,
  getRowPlace,
  type ShownCell,
  type Table,
  type TableRow,
} from '../tables/table.ts';
import { joinNames } from '../text/csv.ts';
import { isPictureName } from '../text/names.ts';
import { getTrimmedCell } from './columns.ts';

/**
 * Columns with the permanent identifier of a filled form, most reliable first: a correction keeps
 * it.
 */
const KEYS = ['meta/rootUuid', 'KEY', '_uuid'];

/** A table of a repeated group without rows is no fault. */
const NO_ROWS = 'table-no-rows';

/** Keys of the numbers of a geopoint; their texts are as written, empty where there is none. */
const LATITUDE = 'lat';
const LONGITUDE = 'lon';
const ACCURACY = 'accuracy';

const ADDED = ['local_id', 'photos', LATITUDE, LONGITUDE, 'poznamka'] as const;

/**
 * Converts the export of a form for phones into a table of finds: questions are in groups, a
 * geopoint is in several columns, photographs are in tables of their own. Names and labels, Czech
 * or English, are those of pas's form; a question of another form is matched by the name of an
 * element, and otherwise goes into the note under its name. The local id is the form's own, else
 * the server's identifier of the filled form. A form that a reviewer rejected, or that is still
 * encrypted, is left out with an issue.
 * @param isMapped a column map gives the columns a meaning, so unknown ones stay columns and do not
 * go into the note
 */
export async function convertFormRows(table: Table, isMapped = false): Promise<Table> {
  const { formExport } = table;
  if (formExport === undefined) return table;
  const issues: Issue[] = [
    ...table.issues,
    ...formExport.repeats.flatMap((repeat) => repeat.issues.filter(({ rule }) => rule !== NO_ROWS)),
  ];
  const questions = await loadQuestions();
  const separator: GroupSeparator = table.header.includes('KEY') ? '-' : '/';
  const forms = [...table.rows];
  const {
    named,
    otherColumns: unknown,
    read,
  } = makeAnswersReader(table.header, forms, questions, separator);
  const identify = makeIdentifierReader(table.header);
  const findParts = groupPartsByForm(
    table,
    forms,
    issues,
    (repeat) => makeAnswersReader(repeat.header, [...repeat.rows], questions, separator).read,
  );
  const findAttachment = makeAttachmentFinder(formExport.attachments);
  const names = listColumnNames([...named.keys()]);
  const remaining = isMapped ? unknown : [];
  const sources = [...names.map((name) => named.get(name) ?? -1), ...remaining];
  const rows = forms.flatMap((form): TableRow[] => {
    const ids = identify(form);
    const place = { ...getRowPlace(table, form), find: ids[0] ?? '' };
    const why = findExclusionReason(table, form);
    if (why !== undefined) {
      issues.push(why.with(place));
      return [];
    }
    const answers = isMapped ? { ...read(form), otherAnswers: [] } : read(form);
    const getAnswer = (name: string): string => answers.named.get(name) ?? '';
    const localId = getAnswer('local_id') || place.find;
    const parts = findParts(form);
    const pictures = [answers, ...parts].flatMap((each) => each.pictures);
    const { photos, doubts } = findNamedPhotographs(pictures, (picture) =>
      findAttachment(picture, ids),
    );
    const accuracyM = Number(getAnswer(ACCURACY));
    const inexactness = accuracyM > FORM_WORST_ACCURACY_M ? [makeInexactIssue(accuracyM)] : [];
    for (const issue of [...doubts, ...inexactness])
      issues.push(issue.with({ ...place, find: localId }));
    const values = new Map<string, string>([
      ['local_id', localId],
      ['photos', joinNames(photos)],
      [LATITUDE, getAnswer(LATITUDE)],
      [LONGITUDE, getAnswer(LONGITUDE)],
      ['poznamka', composeNote(answers, parts)],
    ]);
    const getChosen = (name: string): string =>
      (isWrittenToo(name) && getAnswer(FORM_WRITTEN[name])) || getChoice(name, getAnswer(name));
    const cells = names.map((name) => values.get(name) ?? getChosen(name));
    const shown = selectShownCells(form, sources, cells);
    return [
      { ...form, cells: [...cells, ...remaining.map((index) => form.cells[index] ?? '')], shown },
    ];
  });
  const leftNames = remaining.map((index) => table.header[index] ?? '');
  const header = [
    ...names.map((name) => table.header[named.get(name) ?? -1] ?? name),
    ...leftNames,
  ];
  return { ...table, header, names: [...names, ...leftNames], rows, rowCount: rows.length, issues };
}

/** @param named columns that the form answers */
function listColumnNames(named: readonly string[]): string[] {
  const elements = named.filter((name) => isElementName(name) && name !== 'poznamka');
  const otherNames = named.filter(
    (name) => ['geom_x', 'geom_y', 'wkt', 'ident_cely'].includes(name) && !isElementName(name),
  );
  return [...elements, ...otherNames, ...ADDED];
}

function findNamedPhotographs(
  pictures: readonly string[],
  findAttachment: (picture: string) => FoundAttachment,
) {
  const [photos, doubts]: [string[], Issue[]] = [[], []];
  for (const picture of pictures) {
    const attachment = findAttachment(picture);
    if (attachment === 'several') doubts.push(makeUnclearIssue(picture));
    else photos.push(attachment === 'missing' ? picture : attachment.path);
  }
  return { photos, doubts };
}

/** Returns the displayed texts of a row's columns; those of an element show its cell. */
function selectShownCells(
  { shown }: TableRow,
  sources: readonly number[],
  cells: readonly string[],
): Map<number, ShownCell> {
  return new Map(
    sources.flatMap((source, index) => {
      const cell = shown?.get(source);
      const text = cells[index];
      return cell === undefined
        ? []
        : [[index, text === undefined ? cell : { ...cell, text }] as const];
    }),
  );
}

/**
 * Returns the choice without the second language: lists show both, and so do exports with labels.
 */
function getChoice(name: string, text: string): string {
  const isChosen =
    isElementName(name) && !['text', 'integer', 'date', 'point'].includes(getField(name).kind);
  if (!isChosen) return text;
  // The list of states shows a number and a word.
  const [choice = ''] = text.split(FORM_LABEL_GAP);
  return name === 'stav' ? choice.replace(/^([123]) .*$/, '$1') : choice;
}

/** Returns the written note and, below it, one line for each answer that fills no element. */
function composeNote(answers: FormAnswers, parts: readonly FormAnswers[]): string {
  const groups = [...answers.named].filter(
    ([name, text]) =>
      text !== '' &&
      [...answers.named].some(([of, chosen]) => getFormGroup(of) === name && chosen === ''),
  );
  // A find has one value per element, so the repetitions of a group go into the note.
  const repeated = parts.flatMap(({ named, otherAnswers }) => [
    ...[...named].filter(([, text]) => text !== ''),
    ...otherAnswers,
  ]);
  const unknown = [...groups, ...answers.otherAnswers, ...repeated];
  const lines = [
    answers.named.get('poznamka') ?? '',
    ...unknown.map(([name, text]) => `${name}: ${text}`),
  ];
  return lines.filter((line) => line !== '').join('\n');
}

/** Returns the identifiers of a filled form; the one that corrections keep is first. */
function makeIdentifierReader(header: readonly string[]): (form: TableRow) => readonly string[] {
  const columns = KEYS.map((key) => header.indexOf(key)).filter((index) => index !== -1);
  return ({ cells }) =>
    columns.map((index) => withoutScheme(cells[index] ?? '')).filter((id) => id !== '');
}

/** Phones write `uuid:5d1c…`, KoboToolbox `5d1c…`. */
function withoutScheme(id: string): string {
  return id.trim().replace(/^uuid:/, '');
}

/** Groups the repetitions by their filled form. */
function groupPartsByForm(
  table: Table,
  forms: readonly TableRow[],
  issues: Issue[],
  makeReader: (repeat: Table) => (row: TableRow) => FormAnswers,
): (form: TableRow) => readonly FormAnswers[] {
  const identify = makeIdentifierReader(table.header);
  const index = table.header.indexOf('_index');
  const rowsByForm = new Map<string, TableRow>();
  for (const form of forms) {
    for (const id of identify(form)) rowsByForm.set(id, form);
    if (index !== -1) rowsByForm.set(`#${form.cells[index] ?? ''}`, form);
  }
  const parts = new Map<TableRow, FormAnswers[]>();
  for (const repeat of table.formExport?.repeats ?? []) {
    const read = makeReader(repeat);
    const columns = ['PARENT_KEY', '_submission__uuid', '_parent_index'].map((name) =>
      repeat.header.indexOf(name),
    );
    for (const row of repeat.rows) {
      const [parent = '', submission = '', number = ''] = columns.map(
        (column) => row.cells[column] ?? '',
      );
      const ids = [
        withoutScheme(parent.split('/')[0] ?? ''),
        withoutScheme(submission),
        `#${number}`,
      ];
      const form = ids.map((id) => rowsByForm.get(id)).find((parent) => parent !== undefined);
      const answers = read(row);
      if (form !== undefined) parts.set(form, [...(parts.get(form) ?? []), answers]);
      else if (answers.pictures.length + answers.otherAnswers.length > 0)
        issues.push(makeOrphanIssue(answers).with(getRowPlace(repeat, row)));
    }
  }
  return (form) => parts.get(form) ?? [];
}

/** Names that the servers give to a form which a reviewer rejected. */
const REJECTED = ['rejected', 'not approved', 'validation_status_not_approved'];

function findExclusionReason({ header }: Table, { cells }: TableRow): Issue | undefined {
  const getCellText = (name: string): string => (cells[header.indexOf(name)] ?? '').trim();
  const review = getCellText('ReviewState') || getCellText('_validation_status');
  if (REJECTED.includes(review.toLowerCase()))
    return makeWarningIssue(
      'form-rejected',
      msg`A reviewer rejected this form on the server ("${review}"). It was skipped.`,
    );
  // Only an encrypted form has a status.
  const status = header.includes('KEY') ? getCellText('Status') : '';
  return status === ''
    ? undefined
    : makeErrorIssue(
        'form-encrypted',
        msg`The form could not be decrypted ("${status}"). Export it again with its passphrase.`,
      );
}

function makeUnclearIssue(picture: string): Issue {
  const message = msg`Several files are called "${picture}", or its name contains a semicolon. The find was imported without it; attach the right file with \`pas photo add\`.`;
  return makeWarningIssue('photo-unclear', message);
}

function makeInexactIssue(accuracyM: number): Issue {
  return makeWarningIssue(
    'point-accuracy',
    msg`The phone located the point only to within ${accuracyM} m. Check it.`,
  );
}

function makeOrphanIssue({ pictures, otherAnswers }: FormAnswers): Issue {
  const says = [...pictures, ...otherAnswers.map(([name, text]) => `${name}: ${text}`)].join(', ');
  return makeWarningIssue(
    'form-part-alone',
    msg`The row belongs to a form that is not in the export, and was skipped: ${says}.`,
  );
}

/** `several`: more than one file fits the name. */
type FoundAttachment = { readonly path: string } | 'missing' | 'several';

/** Folder of all files in an export of ODK Central, with unique names. */
const CENTRAL_FOLDER = 'media/';

/**
 * Makes a function that finds the file of an answer. Names are the phone's; KoboToolbox has a
 * folder per filled form, and changes some names.
 * @param ids of the filled form
 */
function makeAttachmentFinder({
  paths,
}: Attachments): (name: string, ids: readonly string[]) => FoundAttachment {
  const byName = new Map<string, string[]>();
  for (const path of paths) {
    const name = path.slice(path.lastIndexOf('/') + 1).normalize('NFC');
    byName.set(name, [...(byName.get(name) ?? []), path]);
  }
  return (name, ids) => {
    const text = name.normalize('NFC');
    const paths = byName.get(text) ?? byName.get(toKoboName(text)) ?? [];
    const [only, another] = paths;
    if (only === undefined) return 'missing';
    if (another === undefined) return { path: only };
    const pathsOfForm = paths.filter((path) => path.split('/').some((part) => ids.includes(part)));
    const [best, equal] =
      pathsOfForm.length > 0
        ? pathsOfForm
        : paths.filter((path) => `/${path}`.includes(`/${CENTRAL_FOLDER}`));
    return best === undefined || equal !== undefined ? 'several' : { path: best };
  };
}

/**
 * Converts a name as Django's get_valid_filename does: blanks become `_`, and only letters, digits,
 * `-`, `_` and `.` stay.
 */
function toKoboName(name: string): string {
  return name
    .trim()
    .replaceAll(' ', '_')
    .replace(/[^-\p{L}\p{N}_.]/gu, '');
}

/** Answers of one filled form, or of one repetition of a group. */
type FormAnswers = {
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
type GroupSeparator = keyof typeof BY_SERVER;

const PART_OF_POINT = /^(.+?)[-_](latitude|longitude|altitude|accuracy|precision)$/i;

/** Names of questions by possible header. */
type KnownQuestions = ReadonlyMap<string, string>;

/** Returns the questions of pas's form by their names and by their labels in both languages. */
async function loadQuestions(): Promise<KnownQuestions> {
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
function makeAnswersReader(
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
