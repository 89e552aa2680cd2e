import { cutText } from '../../base/characters.ts';
import { hasErrors, type Issue } from '../../base/issue.ts';
import { cmd, msgid, ngettext, t } from '../../base/message.ts';
import { type ElementName, FIELDS } from '../../finds/fields.ts';
import { DEPTH_UNITS, type DepthUnit } from '../../finds/parse-cell.ts';
import { ANSWERS_OF_ROWS, type RowAnswer } from '../../outbox/entry.ts';
import { type AskedRow, parseStoredMessage } from '../../outbox/facts.ts';
import type { StoredFind } from '../../outbox/stored-finds.ts';
import { collapseRepeatedWarnings } from '../../tables/collapse-issues.ts';
import {
  type ColumnName,
  type ColumnRule,
  IGNORED_COLUMN,
  JOINABLE_COLUMNS,
  LABELLED_COLUMNS,
  NAMED_COLUMNS,
} from '../../tables/columns/column-meaning.ts';
import type {
  ColumnProposal,
  TableAnswers,
  TableProposal,
} from '../../tables/columns/propose-columns.ts';
import { checkFixedValues } from '../../tables/columns/settings.ts';
import type { ProposedTable } from '../../tables/columns/wizard.ts';
import { ANSWER_WORDS, importRowByAnswer } from '../../tables/import-table.ts';
import type { Context } from '../context/context.ts';
import { makePhotographKeepingOfProfile, openValidationContext } from '../context/find-input.ts';
import { askChoice, type Prompt, type PromptOffer } from '../prompt.ts';
import { printIssues } from '../terminal.ts';
import type { OfferTerms } from './answer.ts';

type WizardContext = Pick<ProposedTable, 'lookupTerm' | 'propose' | 'answers'> & {
  readonly prompt: Prompt;
  readonly say: (text: string) => void;
  readonly offerTerms: OfferTerms;
};

/**
 * Lets a person change the proposed columns, then asks the questions that are left and the values
 * that every find needs. A value that is left empty stays undecided. Nothing is written.
 * @throws InterruptedError on Ctrl-C
 */
export async function askAboutTable(context: WizardContext): Promise<TableProposal> {
  let answers = await changeColumns(context.answers, context);
  answers = await settleQuestions(answers, context);
  for (const name of context.propose(answers).undecided)
    answers = await askFixed(answers, name, context);
  return context.propose(answers);
}

/** Lets a person change one column after another; after each, the columns are proposed anew. */
async function changeColumns(
  begun: TableAnswers,
  { prompt, propose }: WizardContext,
): Promise<TableAnswers> {
  let answers = begun;
  for (;;) {
    const { columns } = propose(answers);
    const chosen = await askChoice<ColumnProposal | 'all'>(
      prompt,
      t`Accept all, or change a column`,
      [
        { value: 'all', name: t`Accept all` },
        ...columns.map((column) => ({
          value: column,
          name: `${column.profile.key} → ${formatColumnRule(column.rule)}`,
        })),
      ],
    );
    if (chosen === 'all') return answers;
    answers = await changeColumn(answers, chosen, columns, prompt);
  }
}

/** Asks for the column or the unit of an element until no question is left: any may raise more. */
async function settleQuestions(
  begun: TableAnswers,
  { prompt, say, propose }: WizardContext,
): Promise<TableAnswers> {
  let answers = begun;
  for (;;) {
    const { columns, questions } = propose(answers);
    const [question] = questions;
    if (question === undefined) return answers;
    const { asks, element, keys, problem } = question;
    say(`? ${problem}`);
    const [first = ''] = keys;
    const offers = keys.map((key) => ({ value: key, name: key }));
    const key =
      asks === 'unit' ? first : await askChoice(prompt, t`Which column is ${element}?`, offers);
    const found = columns.find(({ profile }) => profile.key === key)?.rule;
    const rule = found?.element === undefined ? { element } : found;
    answers = withRule(
      answers,
      key,
      asks === 'unit' ? { ...rule, unit: await askUnit(prompt) } : rule,
    );
  }
}

function withRule(answers: TableAnswers, key: string, rule: ColumnRule): TableAnswers {
  return { ...answers, rules: new Map([...answers.rules, [key, rule]]) };
}

/** The largest unit is offered first, so that a typed `m` means metres. */
function askUnit(prompt: Prompt): Promise<DepthUnit> {
  const offers = DEPTH_UNITS.toReversed().map((value) => ({ value, name: value }));
  return askChoice(prompt, t`Measured in`, offers);
}

/**
 * Asks for the element of a column. An element that only one column may have is taken from the rule
 * that the person gave another one before; a column that may share it gets its header as a label.
 */
async function changeColumn(
  answers: TableAnswers,
  column: ColumnProposal,
  columns: readonly ColumnProposal[],
  prompt: Prompt,
): Promise<TableAnswers> {
  const { key } = column.profile;
  const element = await askChoice<ColumnName | 'ignore'>(prompt, t`What is "${key}"?`, [
    { value: 'ignore', name: t`Leave it out` },
    ...listElementOffers(),
  ]);
  if (element === 'ignore') return withRule(answers, key, IGNORED_COLUMN);
  const isAnother = ({ profile, rule }: ColumnProposal): boolean =>
    profile.key !== key && rule.element === element;
  const label =
    LABELLED_COLUMNS.includes(element) && columns.some(isAnother)
      ? column.profile.header
      : undefined;
  // A column that had the element by another answer is proposed again without it.
  const kept = [...answers.rules].filter(
    ([, rule]) => rule.element !== element || JOINABLE_COLUMNS.includes(element),
  );
  return withRule({ ...answers, rules: new Map(kept) }, key, { element, label });
}

function listElementOffers(): PromptOffer<ColumnName>[] {
  return NAMED_COLUMNS.map((name) => {
    const { gloss, alias } = FIELDS.find((field) => field.name === name) ?? {};
    const also = alias === undefined ? '' : ` (${alias})`;
    return {
      value: name,
      name: gloss === undefined ? name : `${name} – ${gloss}${also}`,
      short: name,
    };
  });
}

/** Asks for one value for all finds until it is valid; an empty answer leaves it undecided. */
async function askFixed(
  answers: TableAnswers,
  name: ColumnName,
  { prompt, say, offerTerms, lookupTerm }: WizardContext,
): Promise<TableAnswers> {
  const gloss = getGloss(name);
  const message = t`${name} of every find (${gloss})`;
  const askOnce = async (): Promise<string> => {
    if (!hasVocabulary(name)) return prompt.askText({ message });
    const later = { value: '', name: t`leave it for later` };
    return prompt.search({
      message,
      listOffers: (typed) => [...(typed.trim() === '' ? [later] : []), ...offerTerms(name, typed)],
    });
  };
  for (;;) {
    const setting = { name, givenName: name, value: (await askOnce()).trim() };
    if (setting.value === '') return answers;
    const [issue] = checkFixedValues([setting], lookupTerm);
    if (issue === undefined) return { ...answers, settings: [...answers.settings, setting] };
    say(issue.message);
  }
}

/**
 * Formats as lines the proposed columns, with examples and doubts, and the values for every find;
 * what is still in doubt or undecided is marked with `?`.
 */
export function formatTableProposal({ columns, fixed, undecided }: TableProposal): string[] {
  const lines = columns.flatMap(formatColumn);
  if (fixed.length + undecided.length > 0) lines.push('', t`For every find:`);
  for (const { name, value } of fixed) lines.push(`   ${name} = ${value}`);
  for (const element of undecided) {
    const gloss = getGloss(element);
    const missing = t`${element}: every find needs it (${gloss})`;
    lines.push(`   ? ${missing}`);
  }
  return lines;
}

function formatColumn({ profile, rule, doubt }: ColumnProposal): string[] {
  const { key, filled } = profile;
  const examples = cutText(profile.examples.join(' · ').replace(/\s+/g, ' '), MAX_EXAMPLES);
  const markOfCertain = rule.element === undefined ? '–' : '✓';
  const mark = doubt === undefined ? markOfCertain : '?';
  const values = ngettext(msgid`${filled} value`, `${filled} values`, filled);
  const count = rule.element === undefined ? ` (${values})` : '';
  return [
    ` ${mark} ${key} → ${formatColumnRule(rule)}${count}`,
    ...[examples, doubt ?? ''].filter((line) => line !== '').map((line) => `     ${line}`),
  ];
}

const MAX_EXAMPLES = 90;

/** Formats a rule: `hloubka (m)`; an ignored column is marked. */
function formatColumnRule(rule: ColumnRule): string {
  if (rule.element === undefined) return t`not read`;
  const { unit, date, sign, label, values = {} } = rule;
  const parts = [
    unit,
    date,
    sign && '−',
    label,
    ...Object.entries(values).map(([ownText, is]) => `${ownText}=${is}`),
  ];
  const shown = parts.filter((text) => text !== undefined).join(', ');
  return shown === '' ? rule.element : `${rule.element} (${shown})`;
}

/** Returns the gloss of an element, or the name where it is no element. */
function getGloss(element: string): string {
  return String(FIELDS.find(({ name }) => name === element)?.gloss ?? element);
}

/**
 * Tells if `pas vocab list` lists the values of a column's element; false for a column that is no
 * element.
 */
export function hasVocabulary(element: string): element is ElementName {
  const kind = FIELDS.find(({ name }) => name === element)?.kind;
  return kind === 'term' || kind === 'reference';
}

/**
 * Formats the number of own terms that match no entry or several, and the command that proposes
 * entries for them.
 * @param termsFile CSV file with these terms; the proposals go beside it, `x.proposals.csv` for
 * `x.csv`
 */
export function formatUnmappedTerms(count: number, termsFile: string): string {
  const proposals = termsFile.replace(/\.csv$/, '.proposals.csv');
  const command = cmd`pas vocab map suggest ${termsFile} --out ${proposals}`;
  const advice = t`Terms of yours that match no entry, or several, are in ${termsFile} (${count}). To map them once, let pas propose entries:`;
  return `${advice}\n   ${command}`;
}

/**
 * Asks a person the stored question about a row, and returns the answer; undefined where they
 * decide later. Nothing is stored.
 * @throws InterruptedError on Ctrl-C
 */
export async function askAboutRow(
  context: Context,
  asked: AskedRow,
): Promise<RowAnswer | undefined> {
  const offers = ANSWERS_OF_ROWS[asked.basis].map((value) => ({
    value,
    name: String(ANSWER_WORDS[value]),
  }));
  return askChoice<RowAnswer | undefined>(
    await context.prompt(),
    String(parseStoredMessage(asked.question)),
    [...offers, { value: undefined, name: t`decide later` }],
  );
}

/**
 * Imports the row of a stored question as a person answered it, and prints what became of the row.
 * @param stored the find that the question is about
 * @returns the local id of the find that has the row now; if other finds are like it was not
 * looked up. `differs` where the row still has an error or a question, or differs from the
 * sent find; `issues` says why
 * @throws ConfigError where the schema cannot be used; DatabaseError where the outbox is unusable
 */
export async function importAnsweredRow(
  context: Context,
  stored: StoredFind,
  asked: AskedRow,
  answer: RowAnswer,
): Promise<{
  readonly find: string;
  readonly outcome: 'done' | 'differs';
  readonly issues: readonly Issue[];
}> {
  const { terminal } = context;
  const outbox = await context.openOutbox();
  const ruleContext = await openValidationContext(context);
  const { finds, issues } = await importRowByAnswer(stored, asked, answer, {
    ...makePhotographKeepingOfProfile(context),
    outbox,
    ruleContext,
  });
  printIssues(terminal, collapseRepeatedWarnings(issues));
  const name = finds[0]?.find ?? stored.localId;
  terminal.printLine(
    answer === 'new'
      ? t`${name} is another find and was added.`
      : t`The question about ${name} is answered.`,
  );
  const isDifferent =
    hasErrors(issues) || finds.some(({ change }) => change === 'sent' || change === 'question');
  return { find: name, outcome: isDifferent ? 'differs' : 'done', issues };
}
