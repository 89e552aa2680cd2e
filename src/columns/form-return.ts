import { addToGroup, groupBy } from '../base/group-by.ts';
import { type Issue, makeErrorIssue, makeWarningIssue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { getField, isElementName } from '../find/fields.ts';
import {
  FORM_LABEL_GAP,
  FORM_WORST_ACCURACY_M,
  FORM_WRITTEN,
  getFormGroup,
  isWrittenToo,
} from '../find/form-names.ts';
import {
  type Attachments,
  getRowPlace,
  type ShownCell,
  type Table,
  type TableRow,
} from '../tables/table.ts';
import { joinNames } from '../text/csv.ts';
import {
  ACCURACY,
  type FormAnswers,
  LATITUDE,
  LONGITUDE,
  loadQuestions,
  makeAnswersReader,
} from './form-answers.ts';

/**
 * Columns with the permanent identifier of a filled form, most reliable first: a correction keeps
 * it.
 */
const KEYS = ['meta/rootUuid', 'KEY', '_uuid'];

/** A table of a repeated group without rows is no fault. */
const NO_ROWS = 'table-no-rows';

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
  const { repeats, attachments = { paths: [] } } = table;
  if (repeats === undefined) return table;
  const issues: Issue[] = [
    ...table.issues,
    ...repeats.flatMap((repeat) => repeat.issues.filter(({ rule }) => rule !== NO_ROWS)),
  ];
  const questions = await loadQuestions();
  const forms = [...table.rows];
  const { named, otherColumns: unknown, read } = makeAnswersReader(table.header, forms, questions);
  const identify = makeIdentifierReader(table.header);
  const findParts = groupPartsByForm(
    table,
    forms,
    issues,
    (repeat) => makeAnswersReader(repeat.header, [...repeat.rows], questions).read,
  );
  const findAttachment = makeAttachmentFinder(attachments);
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
    const parts = findParts(form);
    const localId = getAnswer(answers, 'local_id') || place.find;
    const { photos, doubts } = findNamedPhotographs([answers, ...parts], (picture) =>
      findAttachment(picture, ids),
    );
    for (const issue of [...doubts, ...checkAccuracy(answers)])
      issues.push(issue.with({ ...place, find: localId }));
    const values = new Map<string, string>([
      ['local_id', localId],
      ['photos', joinNames(photos)],
      [LATITUDE, getAnswer(answers, LATITUDE)],
      [LONGITUDE, getAnswer(answers, LONGITUDE)],
      ['poznamka', composeNote(answers, parts)],
    ]);
    const cells = names.map((name) => values.get(name) ?? getChosen(answers, name));
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

function getAnswer({ named }: FormAnswers, name: string): string {
  return named.get(name) ?? '';
}

/** Returns the chosen answer, or the one that was written in place of a choice. */
function getChosen(answers: FormAnswers, name: string): string {
  const written = isWrittenToo(name) ? getAnswer(answers, FORM_WRITTEN[name]) : '';
  return written || getChoice(name, getAnswer(answers, name));
}

function findNamedPhotographs(
  answers: readonly FormAnswers[],
  findAttachment: (picture: string) => FoundAttachment,
) {
  const photos: string[] = [];
  const doubts: Issue[] = [];
  for (const picture of answers.flatMap(({ pictures }) => pictures)) {
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
  for (const repeat of table.repeats ?? []) {
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
      if (form !== undefined) addToGroup(parts, form, answers);
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

function checkAccuracy(answers: FormAnswers): Issue[] {
  const accuracyM = Number(getAnswer(answers, ACCURACY));
  const message = msg`The phone located the point only to within ${accuracyM} m. Check it.`;
  return accuracyM > FORM_WORST_ACCURACY_M ? [makeWarningIssue('point-accuracy', message)] : [];
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
  const byName = groupBy(paths, (path) => path.slice(path.lastIndexOf('/') + 1).normalize('NFC'));
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
