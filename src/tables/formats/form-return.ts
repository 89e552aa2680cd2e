import { addToGroup, groupBy } from '../../base/collections.ts';
import { joinFileNames } from '../../base/csv.ts';
import { type Issue, makeErrorIssue, makeWarningIssue } from '../../base/issue.ts';
import { callInEachLanguage, msg } from '../../base/message.ts';
import { getField, isElementName } from '../../finds/fields.ts';
import {
  FIND_QUESTIONS,
  FORM_LABEL_GAP,
  FORM_NOT_LISTED,
  FORM_PHOTO,
  FORM_POINT,
  FORM_WORST_ACCURACY_M,
  FORM_WRITTEN,
  getFormLabel,
} from '../../finds/questions.ts';
import { type ColumnName, findColumnByName } from '../columns/column-meaning.ts';
import { getTrimmedCell } from '../columns/columns.ts';
import {
  getDisplayedText,
  getRowPlace,
  getTablePlace,
  type Table,
  type TableRow,
} from '../table.ts';

/**
 * Columns with the permanent identifier of a filled form, most reliable first: a correction keeps
 * it. A form without a server has only its local id.
 */
const KEYS = ['meta/rootUuid', 'KEY', '_uuid'];

/** Keys of the numbers of a geopoint; their texts are as written, empty where there is none. */
const LATITUDE = 'lat';
const LONGITUDE = 'lon';
const ACCURACY = 'accuracy';

/** Column of a repeated group with the identifier of its form: KoboToolbox's name for it. */
export const FORM_OF_PART = '_submission__uuid';

/** Columns of every table of finds, which may have another source than an answer. */
const ADDED: readonly string[] = ['local_id', 'photos', LATITUDE, LONGITUDE, 'poznamka'];

/** A form as its server exports it, or as QField collected it. */
type FormExport = {
  /** A row for each filled form. */
  readonly table: Table;
  /** Tables of its repeated groups, whose rows name their form. */
  readonly repeats: readonly Table[];
  /** By default the base folder of photographs. */
  readonly photoFolder?: string;
  /** All files in that folder, relative to it; empty where the answers are paths. */
  readonly paths: readonly string[];
};

/**
 * Converts the table of filled forms that returned from phones into a table of finds, with a row
 * for each form. Questions of pas's form are recognised by their names and their Czech or English
 * labels, those of another form by the name of an element; any other answer goes into the note,
 * under its question. The local id is the one of the form, else the server's identifier of the
 * filled form. Photographs get the paths of their files. A form that a reviewer rejected, or that
 * answers a question twice, is left out with an issue.
 */
export function convertFormTable({ table, repeats, photoFolder, paths }: FormExport): Table {
  // A repeated group without rows is no fault.
  const ofRepeats = repeats.flatMap((repeat) => repeat.issues);
  const issues = [...table.issues, ...ofRepeats.filter(({ rule }) => rule !== 'table-no-rows')];
  const questions = listKnownQuestions();
  const columns = findFormColumns(table, questions);
  const parts = groupPartsByForm(table, repeats, questions, issues);
  const findAttachment = makeAttachmentFinder(paths);
  const header = listFindColumns(columns);
  const rows: TableRow[] = [];
  for (const form of table.rows) {
    const ids = listIds(table, form);
    const answers = readAnswers(form, table.header, columns);
    const localId = answers.named.get('local_id') ?? ids[0] ?? '';
    const report = (issue: Issue): void =>
      void issues.push(issue.with({ ...getRowPlace(table, form), find: localId }));
    const exclusion = findRejection(table, form) ?? findContradiction(answers, questions);
    if (exclusion !== undefined) {
      report(exclusion);
      continue;
    }
    for (const issue of checkAccuracy(answers)) report(issue);
    const repeated = parts.get(form.row) ?? [];
    const pictures = [answers, ...repeated].flatMap((each) => each.pictures);
    const files = getText(table, form, 'AttachmentsPresent');
    if (repeats.length === 0 && pictures.length === 0 && Number(files) > 0)
      report(makeUnnamedFilesIssue(files));
    const photos = pictures.flatMap((picture) => {
      const path = findAttachment(picture, ids);
      if (path === undefined) report(makeUnclearIssue(picture));
      return path ?? [];
    });
    const values = new Map([
      ['local_id', localId],
      ['photos', joinFileNames(photos)],
      ['poznamka', composeNote(answers, repeated)],
    ]);
    const cells = header.map((name) => values.get(name) ?? getAnswer(answers, name));
    rows.push({ ...form, cells, shown: undefined });
  }
  return { ...table, header, rows, rowCount: rows.length, issues, photoFolder };
}

/** Lists the columns of the table of finds: those that the form has, and those of every table. */
function listFindColumns(columns: FormColumns): string[] {
  const answered = columns.flatMap((column) =>
    typeof column === 'object' && column.element !== undefined ? [column.name] : [],
  );
  return [...answered.filter((name) => !ADDED.includes(name)), ...ADDED];
}

/** Elements with their text questions, for what is not in the list. */
const WRITTEN = new Map<string, string>(Object.entries(FORM_WRITTEN));

/** Returns the chosen answer, or the one that was written in place of a choice. */
function getAnswer({ named }: FormAnswers, name: string): string {
  return named.get(WRITTEN.get(name) ?? '') ?? getChoice(name, named.get(name) ?? '');
}

/** A phone keeps what was chosen and what was written for the next find, so neither is surer. */
function findContradiction({ named }: FormAnswers, questions: KnownQuestions): Issue | undefined {
  for (const [name, question] of WRITTEN) {
    const text = named.get(question);
    const chosen = getChoice(name, named.get(name) ?? '');
    const isListed = chosen !== '' && questions.get(chosen) !== FORM_NOT_LISTED;
    if (text === undefined || !isListed) continue;
    const message = msg`${name} and ${question} are both filled ("${chosen}", "${text}"). Empty one of them.`;
    return makeErrorIssue('answer-twice', message);
  }
  return undefined;
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

/**
 * Returns the written note and, below it, one line for each answer that fills no element. A find
 * has one value per element, so the repetitions of a group go into the note.
 */
function composeNote(
  { named, otherAnswers }: FormAnswers,
  repeated: readonly FormAnswers[],
): string {
  const unknown = [
    ...otherAnswers,
    ...repeated.flatMap((part) => [...part.named, ...part.otherAnswers]),
  ];
  const note = named.get('poznamka') ?? [];
  return [note, unknown.map(([name, text]) => `${name}: ${text}`)].flat().join('\n');
}

function getText({ header }: Table, { cells }: TableRow, name: string): string {
  return (cells[header.indexOf(name)] ?? '').trim();
}

/** Returns the identifiers of a filled form; the one that corrections keep is first. */
function listIds(table: Table, form: TableRow): string[] {
  return KEYS.map((key) => withoutScheme(getText(table, form, key))).filter((id) => id !== '');
}

/** Phones write `uuid:5d1c…`, KoboToolbox `5d1c…`. */
function withoutScheme(id: string): string {
  return id.replace(/^uuid:/, '');
}

/**
 * Groups the repetitions by the row of their filled form.
 * @param issues gets an error for each without a form here that has photographs or other answers
 */
function groupPartsByForm(
  table: Table,
  repeats: readonly Table[],
  questions: KnownQuestions,
  issues: Issue[],
): ReadonlyMap<number, readonly FormAnswers[]> {
  const forms = new Map<string, number>();
  // Parts in a layer have the find's number, those of a server an index, which a number may equal.
  const key = table.unit === undefined ? '_index' : 'local_id';
  for (const form of table.rows)
    for (const id of [...listIds(table, form), getText(table, form, key)])
      if (id !== '') forms.set(id, form.row);
  const parts = new Map<number, FormAnswers[]>();
  for (const repeat of repeats) {
    const columns = findFormColumns(repeat, questions);
    for (const row of repeat.rows) {
      const [parent = ''] = getText(repeat, row, 'PARENT_KEY').split('/');
      const ids = [
        withoutScheme(parent),
        withoutScheme(getText(repeat, row, FORM_OF_PART)),
        getText(repeat, row, '_parent_index'),
      ];
      const form = ids.map((id) => forms.get(id)).find((each) => each !== undefined);
      const answers = readAnswers(row, repeat.header, columns);
      if (form !== undefined) addToGroup(parts, form, answers);
      else if (answers.pictures.length + answers.otherAnswers.length > 0)
        issues.push(makeOrphanIssue(answers).with(getTablePlace(repeat)));
    }
  }
  return parts;
}

/** Names that the servers give to a form which a reviewer rejected. */
const REJECTED = ['rejected', 'not approved', 'validation_status_not_approved'];

/** Returns the issue of a form that a reviewer rejected. */
function findRejection(table: Table, form: TableRow): Issue | undefined {
  const review = getText(table, form, 'ReviewState') || getText(table, form, '_validation_status');
  if (!REJECTED.includes(review.toLowerCase())) return undefined;
  return makeWarningIssue(
    'form-rejected',
    msg`A reviewer rejected this form on the server ("${review}"). It was skipped.`,
  );
}

/** Makes the warning of a photograph without which the find is imported. */
function makeUnclearIssue(picture: string): Issue {
  const message = msg`Several files are called "${picture}", or its name contains a semicolon. The find was imported without it; attach the right file with \`pas photo add\`.`;
  return makeWarningIssue('photo-unclear', message);
}

/** Makes the issue of a form whose files are named in a table that the export lacks. */
function makeUnnamedFilesIssue(files: string): Issue {
  const message = msg`The form has files on the server (${files}), which the export does not name. Export all data, with the tables of repeated groups.`;
  return makeWarningIssue('form-files-unnamed', message);
}

function checkAccuracy({ named }: FormAnswers): Issue[] {
  const accuracyM = Number(named.get(ACCURACY));
  const message = msg`The phone located the point only to within ${accuracyM} m. Check it.`;
  return accuracyM > FORM_WORST_ACCURACY_M ? [makeWarningIssue('point-accuracy', message)] : [];
}

function makeOrphanIssue({ pictures, otherAnswers }: FormAnswers): Issue {
  const says = [...pictures, ...otherAnswers.map(([name, text]) => `${name}: ${text}`)].join(', ');
  return makeErrorIssue(
    'form-part-alone',
    msg`A part of a form belongs to no find here, and was skipped: ${says}. Attach a photograph with \`pas photo add\`.`,
  );
}

/**
 * Makes a function that finds the file of an answer by the ids of its form: the name itself where
 * there is none, undefined where several fit. Names are the phone's; KoboToolbox has a folder per
 * filled form, and changes some names.
 */
function makeAttachmentFinder(files: readonly string[]) {
  const byName = groupBy(files, (path) => path.slice(path.lastIndexOf('/') + 1).normalize('NFC'));
  return (name: string, ids: readonly string[]): string | undefined => {
    const text = name.normalize('NFC');
    const paths = byName.get(text) ?? byName.get(toKoboName(text)) ?? [];
    const [only, another] = paths;
    if (another === undefined) return only ?? name;
    const [best, equal] = paths.filter((path) =>
      path.split('/').some((part) => ids.includes(part)),
    );
    return equal === undefined ? best : undefined;
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

/**
 * Content of a column of a form: answers to a question of pas's form or for an element, files of
 * photographs, other answers, or nothing that is read.
 */
type FormColumn = NamedColumn | 'photo' | 'other' | 'unread';
type NamedColumn = { readonly name: string; readonly element: ColumnName | undefined };
type FormColumns = readonly FormColumn[];

/** Columns that a phone, ODK Central or KoboToolbox adds to a filled form. */
const METADATA = [
  /(?:^|[-/])(?:meta|formhub)[-/]/,
  /^(?:instanceID|instanceName|start|end|today|username|deviceid|subscriberid|simserial|phonenumber|audit)$/,
  /^(?:SubmissionDate|Submitter(?:ID|Name)|Attachments(?:Present|Expected)|Status|ReviewState|DeviceID|Edits|FormVersion|isValidated|(?:PARENT_)?KEY|SET-OF-.*)$/,
  // KoboToolbox marks its own columns so, also those of the parts of a geopoint.
  /^_/,
];

/** Part of a geopoint in a column of its own, in an export of ODK Central. */
const PART_OF_POINT = /[-_](?:latitude|longitude|altitude|accuracy|precision)$/i;
const POINT_PARTS = [
  [`${FORM_POINT}-Latitude`, LATITUDE],
  [`${FORM_POINT}-Longitude`, LONGITUDE],
  [`${FORM_POINT}-Altitude`, 'altitude'],
  [`${FORM_POINT}-Accuracy`, ACCURACY],
] as const;

/** Names of questions by possible header. */
type KnownQuestions = ReadonlyMap<string, string>;

/** Returns the questions of pas's form by their names and by their labels in both languages. */
function listKnownQuestions(): KnownQuestions {
  const questionNames = FIND_QUESTIONS.map(({ name }) => name).filter(
    (name) => name !== 'photos' && name !== 'point',
  );
  const labelled = [
    ...questionNames,
    FORM_PHOTO,
    FORM_POINT,
    FORM_NOT_LISTED,
    ...Object.values(FORM_WRITTEN),
  ];
  const labels = callInEachLanguage(() =>
    labelled.map((name) => [String(getFormLabel(name)), name] as const),
  );
  const names = labelled.map((name) => [name, name] as const);
  return new Map([...labels.en, ...labels.cs, ...names, ...POINT_PARTS]);
}

/**
 * Finds what the columns of a form have. A column is recognised by its full name or by the name
 * without its groups.
 */
function findFormColumns({ header, unit }: Table, questions: KnownQuestions): FormColumns {
  const named = new Set<string>();
  return header.map((text): FormColumn => {
    // A layer of QField has no columns of a server.
    if (unit === undefined && isAdded(text, header)) return 'unread';
    const name = findQuestionName(text, questions);
    if (name === FORM_PHOTO) return 'photo';
    // A column `photos` is no list of photographs.
    if (name === undefined || name === 'photos' || named.has(name)) return 'other';
    named.add(name);
    return { name, element: findColumnByName(name) };
  });
}

/** Tells if a server or phone adds a column: its own data, or the address of a file. */
function isAdded(text: string, header: readonly string[]): boolean {
  const [, file = ''] = /^(.+)_URL$/.exec(text) ?? [];
  return METADATA.some((pattern) => pattern.test(text)) || (file !== '' && header.includes(file));
}

/** An answer under the name of its question. */
type NamedAnswer = readonly [question: string, text: string];

/** Answers of one filled form, or of one repetition of a group, without empty ones. */
type FormAnswers = {
  /** By name of a question of pas's form, of an element, or of a number of a geopoint. */
  readonly named: ReadonlyMap<string, string>;
  /** Names of files. */
  readonly pictures: readonly string[];
  readonly otherAnswers: readonly NamedAnswer[];
};

/**
 * Reads the answers of a row; empty ones are left out. A geopoint in one cell gives also the
 * numbers that have no column of their own.
 */
function readAnswers(row: TableRow, header: readonly string[], columns: FormColumns): FormAnswers {
  const named = new Map<string, string>();
  const pictures: string[] = [];
  const otherAnswers: NamedAnswer[] = [];
  for (const [index, column] of columns.entries()) {
    const element = typeof column === 'object' ? column.element : undefined;
    const text =
      element === undefined
        ? getDisplayedText(row, index).trim()
        : getTrimmedCell(row, index, element);
    if (text === '') continue;
    if (typeof column === 'object') named.set(column.name, text);
    else if (column === 'photo') pictures.push(text);
    else if (column === 'other') otherAnswers.push([header[index] ?? '', text]);
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
    .map((rest) => questions.get(rest) ?? (isPart ? undefined : findColumnByName(rest)))
    .find((name) => name !== undefined);
}
