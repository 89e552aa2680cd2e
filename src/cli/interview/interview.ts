import { hasErrors, type Issue } from '../../base/issue.ts';
import { formatDay, t } from '../../base/message.ts';
import { formatReferenceCell, getField, type TargetState } from '../../finds/fields.ts';
import type { Find } from '../../finds/find.ts';
import { formatRecordState } from '../../finds/harvested-find.ts';
import {
  findQuestionOfElement,
  isAskedByDefault,
  isOptionalQuestion,
  listElementsOfQuestion,
  type Question,
} from '../../finds/questions.ts';
import { NOT_HARVESTED } from '../../finds/value-rules.ts';
import { formatAnswer, formatFindLine } from '../../outbox/views/entry-words.ts';
import { type Annotation, askChoice, type Prompt, type PromptOffer } from '../prompt.ts';
import { type Answer, type OfferTerms, RULES_OF_ABSENCE, removeAnswer } from './answer.ts';

/** How to prompt for the answers about a find, to read and to check them. */
type AskingContext = {
  readonly prompt: Prompt;
  readonly say: (text: string) => void;
  /** Those that may be asked: a find that is changed keeps its number and its photographs. */
  readonly questions: readonly Question[];
  readonly read: (question: Question, text: string, find: Find) => Promise<Answer>;
  readonly offerTerms: OfferTerms;
  readonly check: (find: Find) => readonly Issue[];
};

/** Answer to every question that leaves it empty. */
const EMPTY = '-';

/**
 * Asks until an answer is valid, and a doubtful one confirmed; nothing is saved.
 * @param suggested its answer is accepted by Enter where the find has none
 * @returns the find with the answer, without it for an empty one; the same object where the person
 * accepted the find's own
 */
async function askQuestion(
  question: Question,
  find: Find,
  suggested: Find,
  context: AskingContext,
): Promise<Find> {
  const own = formatCell(question, find);
  const fallback = own ?? formatCell(question, suggested);
  for (;;) {
    const text = await (['text', 'point', 'photos'].includes(question.how)
      ? askText(question, find, fallback, context)
      : context.prompt.search({
          message: formatQuestionTitle(question),
          listOffers: (typed) => listFieldOffers(question, find, fallback, typed.trim(), context),
        }));
    if (text === '' || text === EMPTY) return removeAnswer(question.name, find);
    if (text === own) return find;
    const answer = await context.read(question, text, find);
    if ('problem' in answer) {
      context.say(answer.problem);
      continue;
    }
    for (const line of [answer.doubt ?? [], answer.remarks].flat()) context.say(line);
    if (answer.doubt === undefined || (await context.prompt.confirm(t`Is this right?`, true)))
      return answer.find;
  }
}

function formatQuestionTitle({ title, hint }: Question): string {
  return hint === undefined ? String(title) : `${title} (${hint})`;
}

function askText(
  question: Question,
  find: Find,
  fallback: string | undefined,
  { prompt, read }: AskingContext,
): Promise<string> {
  return prompt.askText({
    message: formatQuestionTitle(question),
    fallback,
    findProblem: async (typed) => {
      const text = typed.trim();
      const isEmpty = text === '' || text === EMPTY;
      if (question.name === 'local_id' && isEmpty) return t`The find needs a number first.`;
      if (text === EMPTY) return undefined;
      if (text === '') return findEmptyProblem(question, find);
      const answer = await read(question, text, find);
      return 'problem' in answer ? answer.problem : undefined;
    },
  });
}

function findEmptyProblem(question: Question, find: Find): string | undefined {
  const state = formatRecordState(getTargetState(find));
  return isOptionalQuestion(question, getTargetState(find))
    ? undefined
    : t`State ${state} requires this. Type - to leave it for later.`;
}

/** Returns the target state; 1 (registered) where none is set. */
function getTargetState({ elements }: Find): TargetState {
  return elements.stav ?? 1;
}

/** Formats an answer as the cell of a table, which is read as the same; undefined where empty. */
function formatCell({ name }: Question, find: Find): string | undefined {
  if (name === 'local_id' || name === 'photos') return formatAnswer(name, find);
  if (name === 'point') return find.elements.geom_wkt ?? find.elements.geom_sjtsk_wkt;
  const value = find.elements[name];
  if (value === undefined) return undefined;
  if (typeof value === 'object') return formatReferenceCell(value);
  return getField(name).kind === 'date' ? formatDay(String(value)) : String(value);
}

type Offers = readonly (PromptOffer<string> | Annotation)[];

/**
 * Returns the choices; Enter takes the first: before anything is typed, the find's own or suggested
 * answer, else the empty one.
 */
function listFieldOffers(
  question: Question,
  find: Find,
  fallback: string | undefined,
  typed: string,
  context: AskingContext,
): Offers {
  const isOptional = isOptionalQuestion(question, getTargetState(find));
  const name = isOptional ? t`leave it empty` : t`leave it for later`;
  const empty = { value: EMPTY, name, short: EMPTY };
  if (typed === EMPTY) return [empty];
  const [element] = listElementsOfQuestion(question.name);
  const list = (text: string): Offers =>
    question.how === 'term' && element !== undefined
      ? context.offerTerms(element, text)
      : listFixedOffers(question, text);
  const offers = list(typed);
  if (typed !== '') return offers;
  // Enter skips: the first entry of a vocabulary is only the first in the alphabet.
  if (fallback === undefined) return [empty, ...offers];
  const isFallback = (offer: Offers[number]): offer is PromptOffer<string> =>
    'value' in offer && offer.value === fallback;
  // A search may return only a similar entry, such as a namesake of an unknown person.
  const first = [...offers, ...list(fallback)].find(isFallback) ?? {
    value: fallback,
    name: fallback,
  };
  return [first, ...offers.filter((offer) => !isFallback(offer))];
}

function listFixedOffers({ how }: Question, typed: string): Offers {
  const states = ([1, 2, 3] as const).map((stav) => ({
    value: String(stav),
    name: formatRecordState(stav),
  }));
  const answers = [
    { value: 'true', name: t`yes` },
    { value: 'false', name: t`no` },
  ];
  const all = how === 'state' ? states : answers;
  const query = typed.toLowerCase();
  const fitting = all.filter(({ name }) => name.toLowerCase().includes(query));
  return fitting.length > 0 ? fitting : all;
}

/** Services of an interview besides the find: how to ask, suggest and save. */
export type InterviewContext = AskingContext & {
  /** Returns a find with suggestions for empty answers; they may depend on the project. */
  readonly suggest: (find: Find) => Find;
  /** Saves the incomplete find after each answer that changes it; `before` is what it was. */
  readonly keep: (find: Find, before: Find) => Promise<void>;
};

/** The find after the interview, and what the person wants: to send it, or to keep a draft. */
export type InterviewResult = { readonly find: Find; readonly goal: 'send' | 'draft' };

/**
 * Asks in their order the questions that the find does not answer yet and that its target state
 * asks by default, and then lets the person review the find.
 * @param start the find before the first question
 * @throws InterruptedError on Ctrl-C; earlier answers are saved by `keep`
 */
export async function runInterview(
  start: Find,
  context: InterviewContext,
): Promise<InterviewResult> {
  const { questions, suggest, keep } = context;
  let find = start;
  for (const question of questions) {
    if (isAnswered(question, find)) continue;
    const suggested = suggest(find);
    const stav: TargetState = find.elements.stav ?? suggested.elements.stav ?? 2;
    if (!isAskedByDefault(question, stav)) continue;
    const before = find;
    find = await askQuestion(question, find, suggested, context);
    if (find !== before) await keep(find, before);
  }
  return reviewFind(find, context);
}

function isAnswered({ name }: Question, find: Find): boolean {
  return formatAnswer(name, find) !== undefined;
}

type Choice =
  | { readonly kind: 'send' | 'draft' }
  | { readonly kind: 'question'; readonly question: Question };

/**
 * Shows the find and its issues, and lets the person change any answer, until it is to be sent or
 * kept as a draft. It can be sent only without errors. A find without a coordinate system gets
 * 4326, and loses a point that it has.
 * @param start the find as it is shown first
 * @throws InterruptedError on Ctrl-C; changed answers are saved by `keep`
 */
export async function reviewFind(
  start: Find,
  context: Omit<InterviewContext, 'suggest'>,
): Promise<InterviewResult> {
  // The coordinate system is required, even where the question of the point was skipped.
  let find = start.elements.geom_system === undefined ? removeAnswer('point', start) : start;
  for (;;) {
    const issues = context.check(find);
    context.say(formatFindLine(find));
    for (const line of formatProblems(issues)) context.say(line);
    const choice = await askChoice(
      context.prompt,
      hasErrors(issues) ? formatIncomplete(find) : t`Save ${find.localId}?`,
      listChoices(find, issues, context.questions),
    );
    if (choice.kind !== 'question') return { find, goal: choice.kind };
    const before = find;
    find = await askQuestion(choice.question, before, before, context);
    if (find !== before) await context.keep(find, before);
  }
}

/** Formats missing elements in one line, other issues in lines of their own, no unchecked terms. */
function formatProblems(issues: readonly Issue[]): string[] {
  const isAbsence = ({ rule }: Issue): boolean => RULES_OF_ABSENCE.includes(rule);
  const missing = issues
    .filter(isAbsence)
    .flatMap(({ element = '' }) => findQuestionOfElement(element)?.title ?? []);
  const titles = [...new Set(missing)].join(', ');
  const otherIssues = issues.filter((issue) => !isAbsence(issue) && issue.rule !== NOT_HARVESTED);
  return [
    ...(titles === '' ? [] : [`✗ ${t`Missing: ${titles}.`}`]),
    ...otherIssues.map(({ severity, message }) => `${severity === 'error' ? '✗' : '!'} ${message}`),
  ];
}

function formatIncomplete(find: Find): string {
  const state = formatRecordState(getTargetState(find));
  return t`Not ready for state ${state}. What do you want to correct?`;
}

/**
 * Returns the choices: wrong answers first, then those that are asked only here. Enter takes the
 * first: it corrects an error if there is one, else saves.
 */
function listChoices(
  find: Find,
  issues: readonly Issue[],
  questions: readonly Question[],
): readonly PromptOffer<Choice>[] {
  const stav = getTargetState(find);
  const state = formatRecordState(stav);
  const wrong = new Set(
    issues
      .filter(({ severity }) => severity === 'error')
      .flatMap(({ element = '' }) => findQuestionOfElement(element)?.name ?? []),
  );
  const isWrong = ({ name }: Question): boolean => wrong.has(name);
  const isExtra = ({ when }: Question): boolean => when === 'more';
  const offered = questions.filter(
    (question) =>
      isExtra(question) || isAskedByDefault(question, stav) || isAnswered(question, find),
  );
  const right = offered.filter((question) => !isWrong(question));
  const answers = [
    ...offered.filter(isWrong).map((question) => makeChoice(question, '✗ ', find)),
    ...right.filter(isExtra).map((question) => makeChoice(question, '+ ', find)),
    ...right
      .filter((question) => !isExtra(question))
      .map((question) => makeChoice(question, '  ', find)),
  ];
  const draft: PromptOffer<Choice> = {
    value: { kind: 'draft' },
    name: t`Keep as a draft`,
    short: t`kept as a draft`,
  };
  if (hasErrors(issues)) return [...answers, draft];
  const send: PromptOffer<Choice> = {
    value: { kind: 'send' },
    name: t`Save, ready to be sent for state ${state}`,
    short: t`saved`,
  };
  return [send, ...answers, draft];
}

/** Makes the choice that leads back to a question, with the mark and the answer in its name. */
function makeChoice(question: Question, mark: string, find: Find): PromptOffer<Choice> {
  const answer = formatAnswer(question.name, find)?.replace(/\s+/g, ' ');
  const title = `${mark}${question.title}`;
  return {
    value: { kind: 'question', question },
    name: answer === undefined ? title : `${title}: ${answer}`,
    short: String(question.title),
  };
}
