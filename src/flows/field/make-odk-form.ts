import { dirname, extname, join } from 'node:path';
import { UsageError } from '../../base/errors.ts';
import { forEachLanguage, LANGUAGES, t } from '../../base/language.ts';
import { type Message, msg } from '../../base/message.ts';
import { FORM_LABEL_GAP, FORM_NOT_LISTED, formGroupOf, isWrittenToo } from '../../find/form-names.ts';
import { rankOf } from '../../find/value-rules.ts';
import { assertAbsent, writeOutputFile } from '../../store/output-file.ts';
import { workbookOfSheets } from '../../tables/write-workbook.ts';
import { plainCsvCell } from '../../text/csv.ts';
import { stateName } from '../finds/find-texts.ts';
import { type FormChoice, formLists } from './form-lists.ts';
import { answer, type FormRow, formRows, listFileOf } from './form-questions.ts';
import type { FieldMade, FieldRequest } from './make-field.ts';

/** XLSForm's names of languages, with their codes. */
const LANGUAGE_NAMES = { cs: 'Čeština (cs)', en: 'English (en)' } as const;

const FORM_ID = 'pas_finds';

/**
 * Writes an XLSForm for ODK Collect and KoboCollect, and its lists as CSV files beside it. Each file is written atomically, the
 * form last, so that an existing form has its lists.
 * @throws UsageError where the name is not that of a workbook, a vocabulary was not harvested, or a file exists that may not be
 * replaced
 */
export async function makeOdkForm(request: FieldRequest): Promise<FieldMade> {
  const { destination, overwrite, vocabulary, rules, starting } = request;
  if (extname(destination).toLowerCase() !== '.xlsx')
    throw new UsageError(t`The form is a workbook, and ${destination} is not the name of one.`, {
      hint: t`Give it the ending .xlsx.`,
    });
  const lists = formLists(vocabulary, rules);
  const files = new Map<string, string>();
  for (const [name, { choices, groups }] of lists) {
    files.set(listFileOf(name), listCsv(isWrittenToo(name) ? [await notListed(), ...choices] : choices));
    if (groups.length > 0) files.set(listFileOf(formGroupOf(name)), listCsv(groups));
  }
  const form = await xlsForm(formRows(lists, { stav: rankOf(rules) === 'researcher' ? 1 : 2, ...starting }), request.nowMs);
  const beside = [...files.keys()].map((name) => join(dirname(destination), name));
  for (const path of [destination, ...beside]) assertAbsent(path, overwrite);
  for (const [name, text] of files) await writeOutputFile(join(dirname(destination), name), [text], { overwrite });
  await writeOutputFile(destination, [form], { overwrite });
  return { files: [destination, ...beside] };
}

const NOT_LISTED = msg`not in the list: write it below`;

async function notListed(): Promise<FormChoice> {
  const { cs, en } = await forEachLanguage(() => String(NOT_LISTED));
  return { name: FORM_NOT_LISTED, label: `${cs}${FORM_LABEL_GAP}${en}`, above: [] };
}

function listCsv(choices: readonly FormChoice[]): string {
  const lines = choices.map(({ name, label, above }) =>
    [name, label, above.join(' ')].map((cell) => plainCsvCell(cell)).join(','),
  );
  return `${['name,label,above', ...lines].join('\n')}\n`;
}

const TEXTS = ['label', 'hint', 'requiredMessage', 'constraintMessage'] as const;
const EXPRESSIONS = {
  required: 'required',
  relevant: 'relevant',
  constraint: 'constraint',
  default: 'default',
  calculation: 'calculation',
  appearance: 'appearance',
  choice_filter: 'choiceFilter',
  parameters: 'parameters',
} as const satisfies Readonly<Record<string, keyof FormRow>>;
const TEXT_COLUMNS = {
  label: 'label',
  hint: 'hint',
  requiredMessage: 'required_message',
  constraintMessage: 'constraint_message',
};

async function xlsForm(rows: readonly FormRow[], nowMs: number): Promise<Buffer> {
  const said = await forEachLanguage(() => rows.map((row) => TEXTS.map((text) => String(row[text] ?? ''))));
  const texts = TEXTS.flatMap((text, index) =>
    LANGUAGES.map((language) => ({
      column: inLanguageColumn(TEXT_COLUMNS[text], language),
      of: said[language].map((all) => all[index]),
    })),
  );
  const survey = [
    ['type', 'name', ...texts.map(({ column }) => column), ...Object.keys(EXPRESSIONS)],
    ...rows.map((row, at) => [
      row.type,
      row.name,
      ...texts.map(({ of }) => of[at] ?? ''),
      ...Object.values(EXPRESSIONS).map((key) => row[key] ?? ''),
    ]),
  ];
  const settings = [
    ['form_title', 'form_id', 'version', 'default_language', 'instance_name'],
    [String(FORM_TITLE), FORM_ID, versionOf(nowMs), LANGUAGE_NAMES.cs, INSTANCE_NAME],
  ];
  return workbookOfSheets(
    new Map([
      ['survey', survey],
      ['choices', await choiceRows()],
      ['settings', settings],
    ]),
  );
}

function inLanguageColumn(column: string, language: keyof typeof LANGUAGE_NAMES): string {
  return `${column}::${LANGUAGE_NAMES[language]}`;
}

const CHOICES: readonly (readonly [list: string, name: string, label: () => Message])[] = [
  ...([1, 2, 3] as const).map((stav) => ['stav', String(stav), () => stateName(stav)] as const),
  ['ano_ne', 'true', () => msg`yes`],
  ['ano_ne', 'false', () => msg`no`],
];

async function choiceRows(): Promise<string[][]> {
  const said = await forEachLanguage(() => CHOICES.map(([, , label]) => String(label())));
  return [
    ['list_name', 'name', ...LANGUAGES.map((language) => inLanguageColumn('label', language))],
    ...CHOICES.map(([list, name], at) => [list, name, ...LANGUAGES.map((language) => said[language][at] ?? '')]),
  ];
}

const FORM_TITLE = 'Nálezy · Finds';

/** Name of a filled form in lists: the day and the object. */
const INSTANCE_NAME = `concat(${answer('datum_nalezu')}, ' ', instance('druh_nalezu')/root/item[name = ${answer('druh_nalezu')}]/label)`;

/** Returns the version of the form, `20261123140509` in UTC, since servers accept a form again only with a new one. */
function versionOf(nowMs: number): string {
  return new Date(nowMs).toISOString().replace(/\D/g, '').slice(0, 14);
}
