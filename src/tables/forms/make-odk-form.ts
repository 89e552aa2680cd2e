import { dirname, extname, join } from 'node:path';
import { formatPlainCsvCell } from '../../base/csv.ts';
import { assertMayWrite, writeOutputFile } from '../../base/disk/output-file.ts';
import { UsageError } from '../../base/errors.ts';
import { callInEachLanguage, LANGUAGES, type Message, msg, t } from '../../base/message.ts';
import { type ElementName, getField, isElementName } from '../../finds/fields.ts';
import { formatRecordState } from '../../finds/harvested-find.ts';
import { EARLIEST_YEAR } from '../../finds/parse-cell.ts';
import {
  FIND_QUESTIONS,
  FORM_LABEL_GAP,
  FORM_NOT_LISTED,
  FORM_PHOTO,
  FORM_POINT,
  FORM_WORST_ACCURACY_M,
  FORM_WRITTEN,
  getFormLabel,
  hasWrittenQuestion,
  type Question,
} from '../../finds/questions.ts';
import { COUNTRY } from '../../finds/rules.ts';
import { MAX_DEPTH_CM, MAX_NUMBER_CHARACTERS } from '../../finds/value-rules.ts';
import { makeWorkbook } from '../exports/write-rows.ts';
import {
  CONSTRAINT_TEXTS,
  type FieldFormRequest,
  type FormChoice,
  type FormDefaults,
  type FormLists,
  makeFormDefaults,
  makeFormLists,
  NAME_PATTERN,
} from './form-lists.ts';

/** XLSForm's names of languages, with their codes. */
const LANGUAGE_NAMES = { cs: 'Čeština (cs)', en: 'English (en)' } as const;

const FORM_ID = 'pas_finds';
/** Group that repeats once per photograph. */
const FORM_PHOTOS = 'photos';

/**
 * Writes the form of a find as an XLSForm for ODK Collect and KoboCollect, and its lists as CSV
 * files beside it. Each file is written atomically, the form last, so that a form on disk has its
 * lists.
 * @returns paths of the files that must be copied to the phone, the form first
 * @throws UsageError where the name does not end in `.xlsx`, a vocabulary was not harvested, or a
 * file exists that may not be replaced; FileError where the path is not writable; DatabaseError
 * where the disk is full
 */
export async function writeOdkForm(request: FieldFormRequest): Promise<readonly string[]> {
  const { destination, overwrite, vocabulary, rules } = request;
  if (extname(destination).toLowerCase() !== '.xlsx')
    throw new UsageError(
      t`The form is a workbook, but the name ${destination} does not end in .xlsx.`,
      {
        hint: t`Use a name that ends in .xlsx.`,
      },
    );
  const lists = makeFormLists(vocabulary, rules);
  const files = makeListFiles(lists);
  const questions = makeQuestionRows(lists, makeFormDefaults(request, lists));
  const form = await makeXlsForm(questions, request.nowMs);
  const beside = [...files.keys()].map((name) => join(dirname(destination), name));
  for (const path of [destination, ...beside]) assertMayWrite(path, overwrite);
  for (const [name, text] of files)
    await writeOutputFile(join(dirname(destination), name), [text], { overwrite });
  await writeOutputFile(destination, [form], { overwrite });
  return [destination, ...beside];
}

/** Makes the texts of the lists, by the names of their files. */
function makeListFiles(lists: FormLists): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const [name, choices] of lists)
    files.set(
      getListFile(name),
      formatChoices(hasWrittenQuestion(name) ? [makeNotListed(), ...choices] : choices),
    );
  return files;
}

function makeNotListed(): FormChoice {
  const { cs, en } = callInEachLanguage(() => String(getFormLabel(FORM_NOT_LISTED)));
  return { name: FORM_NOT_LISTED, label: `${cs}${FORM_LABEL_GAP}${en}` };
}

function formatChoices(choices: readonly FormChoice[]): string {
  const lines = choices.map(({ name, label }) =>
    [name, label].map((cell) => formatPlainCsvCell(cell)).join(','),
  );
  return `${['name,label', ...lines].join('\n')}\n`;
}

const TEXTS = ['label', 'hint', 'required_message', 'constraint_message'] as const;
const EXPRESSIONS = [
  'required',
  'relevant',
  'constraint',
  'default',
  'calculation',
  'appearance',
  'parameters',
] as const;
/**
 * Makes the bytes of the workbook: its questions, fixed choices and settings. Texts have a column
 * per language, whatever the language of pas.
 * @param nowMs becomes the version of the form
 */
async function makeXlsForm(rows: readonly FormRow[], nowMs: number): Promise<Buffer> {
  const textsByLanguage = callInEachLanguage(() =>
    rows.map((row) => TEXTS.map((text) => String(row[text] ?? ''))),
  );
  const texts = TEXTS.flatMap((text, index) =>
    LANGUAGES.map((language) => ({
      column: toLanguageColumn(text, language),
      of: textsByLanguage[language].map((all) => all[index]),
    })),
  );
  const survey = [
    ['type', 'name', ...texts.map(({ column }) => column), ...EXPRESSIONS],
    ...rows.map((row, at) => [
      row.type,
      row.name,
      ...texts.map(({ of }) => of[at] ?? ''),
      ...EXPRESSIONS.map((name) => row[name] ?? ''),
    ]),
  ];
  const settings = [
    ['form_title', 'form_id', 'version', 'default_language', 'instance_name'],
    [String(FORM_TITLE), FORM_ID, makeFormVersion(nowMs), LANGUAGE_NAMES.cs, INSTANCE_NAME],
  ];
  return makeWorkbook(
    new Map([
      ['survey', survey],
      ['choices', makeChoiceRows()],
      ['settings', settings],
    ]),
  );
}

function toLanguageColumn(column: string, language: keyof typeof LANGUAGE_NAMES): string {
  return `${column}::${LANGUAGE_NAMES[language]}`;
}

const CHOICES: readonly (readonly [list: string, name: string, label: () => Message])[] = [
  ...([1, 2, 3] as const).map(
    (stav) => ['stav', String(stav), () => formatRecordState(stav)] as const,
  ),
  ['ano_ne', 'true', () => msg`yes`],
  ['ano_ne', 'false', () => msg`no`],
];

function makeChoiceRows(): string[][] {
  const labels = callInEachLanguage(() => CHOICES.map(([, , label]) => String(label())));
  return [
    ['list_name', 'name', ...LANGUAGES.map((language) => toLanguageColumn('label', language))],
    ...CHOICES.map(([list, name], at) => [
      list,
      name,
      ...LANGUAGES.map((language) => labels[language][at] ?? ''),
    ]),
  ];
}

const FORM_TITLE = 'Nálezy · Finds';

/** Name of a filled form in lists: the day and the object. */
const INSTANCE_NAME = `concat(${referToAnswer('datum_nalezu')}, ' ', instance('druh_nalezu')/root/item[name = ${referToAnswer('druh_nalezu')}]/label)`;

/**
 * Returns the version of the form, `20261123140509` in UTC, since servers accept a form again only
 * with a new one.
 */
function makeFormVersion(nowMs: number): string {
  return new Date(nowMs).toISOString().replace(/\D/g, '').slice(0, 14);
}

/**
 * A row of the sheet `survey`. Expressions are those of XLSForm: `${name}` is another question's
 * answer, `.` this one's.
 */
type FormRow = {
  readonly type: string;
  readonly name: string;
  readonly label?: Message;
  readonly hint?: Message;
  readonly required?: string;
  readonly required_message?: Message;
  readonly relevant?: string;
  readonly constraint?: string;
  readonly constraint_message?: Message;
  readonly default?: string;
  readonly calculation?: string;
  readonly appearance?: string;
  readonly parameters?: string;
};

/** The phone captures the point automatically at this accuracy. */
const CAPTURE_ACCURACY_M = 5;

/** Returns the reference to a question's answer for an expression. */
function referToAnswer(name: string): string {
  return `\${${name}}`;
}

const GROUPS: readonly (readonly [
  when: Question['when'],
  name: string,
  label: Message,
  more: Partial<FormRow>,
])[] = [
  ['frame', 'frame', msg`The same for most finds of the day`, {}],
  ['find', 'find', msg`The find`, {}],
  ['handing-over', 'handing_over', msg`Handing over`, { relevant: `${referToAnswer('stav')} = 3` }],
  ['more', 'more', msg`More about the find`, {}],
];

/**
 * Returns the questions of the form, in the order and wording of `pas add`, with the constraints of
 * the rules.
 * @param lists choices by element
 * @param defaults of a new find; values that are constant for a day come from the previous find
 */
function makeQuestionRows(lists: FormLists, defaults: FormDefaults): FormRow[] {
  // The id stays the same when a find is corrected, and at any server.
  const rows: FormRow[] = [{ type: 'calculate', name: 'local_id', calculation: 'once(uuid())' }];
  for (const [when, name, label, more] of GROUPS) {
    rows.push({ type: 'begin_group', name, label, ...more });
    for (const question of FIND_QUESTIONS) {
      if (question.when === when && question.name !== 'local_id')
        rows.push(...makeFormRows(question, lists, defaults));
    }
    rows.push({ type: 'end_group', name });
  }
  return rows;
}

/**
 * Makes the rows of a question: three for photographs, two where a value that the list lacks may be
 * typed, none for a question that this form does not have.
 */
function makeFormRows(
  question: Question,
  lists: FormLists,
  { chosen, written }: FormDefaults,
): FormRow[] {
  const { name } = question;
  if (name === 'photos') {
    return [
      { type: 'begin_repeat', name: FORM_PHOTOS, label: question.title },
      { type: 'image', name: FORM_PHOTO, label: getFormLabel(FORM_PHOTO) },
      { type: 'end_repeat', name: FORM_PHOTOS },
    ];
  }
  if (name === 'point') return [{ ...makeRequired('geom_wkt'), ...POINT }];
  if (!isElementName(name)) return [];
  const list = lists.get(name);
  const start = written.has(name) ? FORM_NOT_LISTED : chosen.get(name);
  const row: FormRow = {
    ...getAnswerType(name, list),
    name,
    label: getFormLabel(name),
    hint: question.hint ?? getField(name).gloss,
    ...makeRequired(name),
    ...getDefaultAnswer(question, start),
  };
  if (list !== undefined && hasWrittenQuestion(name))
    return [row, makeWrittenRow(name, row, written.get(name))];
  return [{ ...row, ...makeConstraint(name) }];
}

const POINT: FormRow = {
  type: 'geopoint',
  name: FORM_POINT,
  label: getFormLabel(FORM_POINT),
  appearance: 'placement-map',
  parameters: `capture-accuracy=${CAPTURE_ACCURACY_M} warning-accuracy=${FORM_WORST_ACCURACY_M}`,
  constraint:
    `selected-at(., 0) >= ${COUNTRY.minLat} and selected-at(., 0) <= ${COUNTRY.maxLat} and ` +
    `selected-at(., 1) >= ${COUNTRY.minLon} and selected-at(., 1) <= ${COUNTRY.maxLon}`,
  constraint_message: msg`The point lies outside Czechia.`,
};

/** Returns the name of a list's file, which is beside the form. */
function getListFile(name: string): string {
  return `${name}.csv`;
}

function getAnswerType(
  name: ElementName,
  list: readonly FormChoice[] | undefined,
): { readonly type: string; readonly appearance?: string } {
  const { kind } = getField(name);
  if (list !== undefined)
    return {
      type: `select_one_from_file ${getListFile(name)}`,
      appearance: 'minimal autocomplete',
    };
  switch (kind) {
    case 'integer':
      return { type: 'integer' };
    case 'date':
      return { type: 'date' };
    case 'state':
      return { type: 'select_one stav', appearance: 'minimal' };
    case 'boolean':
      return { type: 'select_one ano_ne', appearance: 'minimal' };
    default:
      return name === 'poznamka' ? { type: 'text', appearance: 'multiline' } : { type: 'text' };
  }
}

function makeRequired(name: ElementName): Partial<FormRow> {
  const { requiredFrom } = getField(name);
  if (requiredFrom === undefined) return {};
  const lower = requiredFrom - 1;
  // Questions for state 3 are in a group that is shown only for it.
  return requiredFrom === 2
    ? {
        required: `${referToAnswer('stav')} >= ${requiredFrom}`,
        required_message: msg`Needed from state ${requiredFrom} on. Fill it in, or choose state ${lower}.`,
      }
    : { required: 'yes', required_message: msg`Fill it in.` };
}

/** Constraints of values that are typed. */
const CONSTRAINTS: Readonly<Partial<Record<ElementName, string>>> = {
  hloubka: `. >= 0 and . <= ${MAX_DEPTH_CM}`,
  datum_nalezu: `. <= today() and . >= date('${EARLIEST_YEAR}-01-01')`,
  evidencni_cislo: `string-length(normalize-space(.)) > 0 and string-length(.) <= ${MAX_NUMBER_CHARACTERS}`,
  predano: ". = 'true'",
  nalezce: `regex(., '${NAME_PATTERN}')`,
  projekt: String.raw`regex(., '^[^\s,;]+$')`,
};

function makeConstraint(name: ElementName): Partial<FormRow> {
  return { constraint: CONSTRAINTS[name], constraint_message: CONSTRAINT_TEXTS[name] };
}

/** Makes the question for a value that the list lacks. */
function makeWrittenRow(
  name: keyof typeof FORM_WRITTEN,
  { hint }: FormRow,
  value: string | undefined,
): FormRow {
  return {
    type: 'text',
    name: FORM_WRITTEN[name],
    label: getFormLabel(FORM_WRITTEN[name]),
    hint,
    required: 'yes',
    required_message: msg`Fill it in.`,
    relevant: `${referToAnswer(name)} = '${FORM_NOT_LISTED}'`,
    ...makeConstraint(name),
    default: makeCarriedDefault(FORM_WRITTEN[name], value),
  };
}

function getDefaultAnswer(
  { name, when, stays }: Question,
  start: string | undefined,
): Partial<FormRow> {
  if (name === 'datum_nalezu') return { default: 'today()' };
  if (name === 'predano') return { default: 'true' };
  if (when === 'frame' && stays === 'carried') return { default: makeCarriedDefault(name, start) };
  return start === undefined ? {} : { default: `string(${quoteText(start)})` };
}

/**
 * Returns the previous find's answer, which the phone stores; for the first find, that of the
 * profile.
 */
function makeCarriedDefault(name: string, otherwise: string | undefined): string {
  const last = referToAnswer(`last-saved#${name}`);
  return otherwise === undefined ? last : `coalesce(${last}, ${quoteText(otherwise)})`;
}

/** Quotes a text in an expression, which has no escapes. */
function quoteText(text: string): string {
  if (!text.includes("'")) return `'${text}'`;
  return text.includes('"')
    ? `concat(${text
        .split("'")
        .map((part) => `'${part}'`)
        .join(`, "'", `)})`
    : `"${text}"`;
}
