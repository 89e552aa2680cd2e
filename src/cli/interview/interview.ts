import { cutText } from '../../base/characters.ts';
import { hasErrors, type Issue } from '../../base/issue.ts';
import { formatDay, t } from '../../base/language.ts';
import { formatReferenceCell, type TargetState } from '../../finds/field.ts';
import { type FindElements, getField } from '../../finds/fields.ts';
import type { Find } from '../../finds/find.ts';
import {
  FORM_QUESTIONS,
  findQuestionOfElement,
  getElementNames,
  getQuestion,
  isAsked,
  isOptional,
  type Question,
  type QuestionName,
} from '../../finds/questions.ts';
import { NOT_HARVESTED } from '../../finds/value-rules.ts';
import { formatAnswer, formatFindLine, formatTargetState } from '../../outbox/views/entry-words.ts';
import { type Annotation, askChoice, type Prompt, type PromptOffer } from '../prompt.ts';
import { ABOUT_ABSENCE, type Answer, clearAnswer, type OfferTerms } from './answer.ts';

/** Questions about a find, and its errors and warnings in its target state. */
type AskingContext = {
  readonly prompt: Prompt;
  readonly say: (text: string) => void;
  /** Those that may be asked: a find that is changed keeps its number and its photographs. */
  readonly questions: readonly Question[];
  readonly read: (question: Question, text: string, find: Find) => Promise<Answer>;
  readonly offerTerms: OfferTerms;
  readonly check: (find: Find) => readonly Issue[];
};

type Step = { readonly find: Find; readonly go: 'on' | 'back' | 'to-the-end' };

/** Keys that are valid answers to every question. */
export const KEYS = { back: '<', empty: '-', toTheEnd: '>' } as const;

/** Asks until an answer is valid, and stores it in the find. */
async function askQuestion(
  question: Question,
  find: Find,
  suggested: string | undefined,
  world: AskingContext,
): Promise<Step> {
  for (;;) {
    const text = await (['text', 'point', 'photos'].includes(question.how)
      ? askText(question, find, suggested, world)
      : world.prompt.search({
          message: formatQuestionTitle(question),
          listOffers: (typed) => listFieldOffers(question, find, suggested, typed, world),
        }));
    if (text === KEYS.back) return { find, go: 'back' };
    if (text === KEYS.toTheEnd) return { find, go: 'to-the-end' };
    if (text === '' || text === KEYS.empty) return { find: clearAnswer(question, find), go: 'on' };
    if (text === getAnswerCell(question, find)) return { find, go: 'on' };
    const answer = await world.read(question, text, find);
    if ('problem' in answer) {
      world.say(answer.problem);
      continue;
    }
    for (const line of [answer.doubt ?? [], answer.remarks].flat()) world.say(line);
    if (answer.doubt !== undefined && !(await world.prompt.confirm(t`Is this right?`, true)))
      continue;
    return { find: answer.find, go: 'on' };
  }
}

function formatQuestionTitle({ title, hint }: Question): string {
  return hint === undefined ? String(title) : `${title} (${hint})`;
}

function askText(
  question: Question,
  find: Find,
  suggested: string | undefined,
  { prompt, read }: AskingContext,
): Promise<string> {
  const fallback = getAnswerCell(question, find) ?? suggested;
  return prompt.askText({
    message: formatQuestionTitle(question),
    fallback,
    findProblem: async (initialText) => {
      const text = initialText.trim();
      const isKey = Object.values(KEYS).some((key) => key === text);
      if (question.name === 'local_id' && (isKey || text === ''))
        return t`The find needs a number first.`;
      if (isKey) return undefined;
      if (text === '') return findEmptyProblem(question, find);
      const answer = await read(question, text, find);
      return 'problem' in answer ? answer.problem : undefined;
    },
  });
}

function findEmptyProblem(question: Question, find: Find): string | undefined {
  const state = formatTargetState(getTargetState(find));
  return isOptional(question, getTargetState(find))
    ? undefined
    : t`State ${state} requires this. Type - to leave it for later.`;
}

/** Returns the target state; 1 (registered) where none is set. */
function getTargetState({ elements }: Find): TargetState {
  return elements.stav ?? 1;
}

function getAnswerCell(question: Question, find: Find): string | undefined {
  if (question.name === 'local_id' || question.name === 'photos')
    return formatAnswer(question.name, find);
  if (question.name === 'point') return find.elements.geom_wkt ?? find.elements.geom_sjtsk_wkt;
  return formatElementCell(question, find.elements);
}

/** Formats the first element of a question as a table cell; undefined where it is absent. */
function formatElementCell({ name }: Question, elements: FindElements): string | undefined {
  const [element] = getElementNames(name);
  const value = element === undefined ? undefined : elements[element];
  if (value === undefined) return undefined;
  if (typeof value === 'object') return formatReferenceCell(value);
  return element !== undefined && getField(element).kind === 'date'
    ? formatDay(String(value))
    : String(value);
}

type Offers = readonly (PromptOffer<string> | Annotation)[];

/** Returns the choices; Enter takes the first. */
function listFieldOffers(
  question: Question,
  find: Find,
  suggested: string | undefined,
  typed: string,
  world: AskingContext,
): Offers {
  const key = makeShortcut(typed.trim());
  if (key !== undefined) return [key];
  const [element] = getElementNames(question.name);
  const list = (text: string): Offers =>
    question.how === 'term' && element !== undefined
      ? world.offerTerms(element, text)
      : listFixedOffers(question, text);
  const offers = list(typed);
  if (typed.trim() !== '') return offers;
  const preferred = formatElementCell(question, find.elements) ?? suggested;
  // Without a previous choice Enter skips: the first entry of a vocabulary is only the first in the
  // alphabet.
  if (preferred === undefined)
    return [makeEmptyOffer(isOptional(question, getTargetState(find))), ...offers];
  const isPreferred = (offer: Offers[number]): offer is PromptOffer<string> =>
    'value' in offer && offer.value === preferred;
  // A search may return only a similar entry, such as a namesake of an unknown person.
  const sought = [...offers, ...list(preferred)];
  const first = sought.find(isPreferred) ?? { value: preferred, name: preferred };
  return [first, ...offers.filter((offer) => !isPreferred(offer))];
}

function makeShortcut(typed: string): PromptOffer<string> | undefined {
  switch (typed) {
    case KEYS.back:
      return { value: KEYS.back, name: t`back to the previous question`, short: KEYS.back };
    case KEYS.toTheEnd:
      return { value: KEYS.toTheEnd, name: t`skip the rest`, short: KEYS.toTheEnd };
    case KEYS.empty:
      return makeEmptyOffer(true);
    default:
      return undefined;
  }
}

function makeEmptyOffer(isOptionalNow: boolean): PromptOffer<string> {
  return {
    value: KEYS.empty,
    name: isOptionalNow ? t`leave it empty` : t`leave it for later`,
    short: KEYS.empty,
  };
}

function listFixedOffers({ how }: Question, typed: string): Offers {
  const states = ([1, 2, 3] as const).map((stav) => ({
    value: String(stav),
    name: formatTargetState(stav),
  }));
  const answers = [
    { value: 'true', name: t`yes` },
    { value: 'false', name: t`no` },
  ];
  const all = how === 'state' ? states : answers;
  const query = typed.trim().toLowerCase();
  const fitting = all.filter(({ name }) => name.toLowerCase().includes(query));
  return fitting.length > 0 ? fitting : all;
}

export type InterviewContext = AskingContext & {
  /** Returns suggestions for empty elements; they may depend on the project. */
  readonly suggest: (find: Find) => SuggestedValues;
  /**
   * Saves the incomplete find; called after every answer. `before` is the find that it replaces.
   */
  readonly keep: (find: Find, before: Find) => Promise<void>;
};

/** Suggestions for a find; `localId` is empty for none. */
export type SuggestedValues = { readonly localId: string; readonly elements: FindElements };

/** The find after the interview, and what the person wants: to send it, or to keep a draft. */
export type InterviewResult = { readonly find: Find; readonly intent: 'send' | 'draft' };

export function formatKeyHelp(): string {
  return t`Enter accepts the suggestion · ${KEYS.back} back · ${KEYS.empty} empty · ${KEYS.toTheEnd} to the end · Ctrl-C keeps a draft`;
}

/**
 * Asks for missing elements in the order of {@link FORM_QUESTIONS}, and then shows the find for review.
 * @throws InterruptedError on Ctrl-C; earlier answers are saved
 */
export async function runInterview(start: Find, world: InterviewContext): Promise<InterviewResult> {
  let find = start;
  const isAnswered = ({ name }: Question): boolean => formatAnswer(name, start) !== undefined;
  const done = new Set<QuestionName>(FORM_QUESTIONS.filter(isAnswered).map(({ name }) => name));
  const trail: QuestionName[] = [];
  let isFrameOffered = false;
  const keep = async (next: Find): Promise<void> => {
    if (next === find) return;
    await world.keep(next, find);
    find = next;
  };
  for (
    let question = findNextQuestion(find, done, world);
    question !== undefined;
    question = findNextQuestion(find, done, world)
  ) {
    if (question.when === 'frame' && !isFrameOffered) {
      isFrameOffered = true;
      const framed = await offerFrame(find, done, world);
      if (framed !== undefined) {
        await keep(framed);
        for (const { name } of FRAME) done.add(name);
        continue;
      }
    }
    const step = await askQuestion(question, find, suggestAnswer(question, find, world), world);
    if (step.go === 'to-the-end') break;
    if (step.go === 'back') {
      const before = trail.pop();
      if (before !== undefined) done.delete(before);
      continue;
    }
    await keep(step.find);
    done.add(question.name);
    trail.push(question.name);
  }
  return reviewFind(find, world);
}

const FRAME = FORM_QUESTIONS.filter(({ when }) => when === 'frame');

function findNextQuestion(
  find: Find,
  done: ReadonlySet<QuestionName>,
  { suggest, questions }: InterviewContext,
): Question | undefined {
  const stav: TargetState = find.elements.stav ?? suggest(find).elements.stav ?? 2;
  return questions.find((question) => !done.has(question.name) && isAsked(question, stav));
}

function suggestAnswer(
  question: Question,
  find: Find,
  { suggest }: InterviewContext,
): string | undefined {
  const suggested = suggest(find);
  return question.name === 'local_id'
    ? suggested.localId
    : formatElementCell(question, suggested.elements);
}

/**
 * Asks one question for all values that stay constant for a day; undefined where one is unknown, or
 * the answer is no.
 */
async function offerFrame(
  find: Find,
  done: ReadonlySet<QuestionName>,
  world: InterviewContext,
): Promise<Find | undefined> {
  const open = FRAME.filter(({ name }) => !done.has(name));
  if (open.length < 2) return undefined;
  let framed = find;
  for (const question of open) {
    const text = suggestAnswer(question, framed, world);
    const answer = text === undefined ? undefined : await world.read(question, text, framed);
    if (answer === undefined || 'problem' in answer || answer.doubt !== undefined) return undefined;
    framed = answer.find;
  }
  const values = FRAME.map((question) => formatAnswer(question.name, framed) ?? '');
  world.say(values.join(' · '));
  return (await world.prompt.confirm(t`The same as before?`, true)) ? framed : undefined;
}

/** Maximum width of an answer, in cells. */
const MAX_CELLS = 50;

type Choice =
  | { readonly kind: 'send' | 'draft' }
  | { readonly kind: 'question'; readonly question: Question };

/**
 * Shows the find and its issues, and lets the user change any answer, until it is to be sent or
 * saved as a draft.
 * @throws InterruptedError on Ctrl-C
 */
export async function reviewFind(
  start: Find,
  world: Omit<InterviewContext, 'suggest'>,
): Promise<InterviewResult> {
  // The coordinate system is required, even where the question of the point was skipped.
  for (let find = withSystem(start); ; ) {
    const issues = world.check(find);
    world.say(formatFindLine(find));
    for (const line of formatProblems(issues)) world.say(line);
    const choice = await askChoice(
      world.prompt,
      hasErrors(issues) ? formatIncomplete(find) : t`Save ${find.localId}?`,
      listChoices(find, issues, world.questions),
    );
    if (choice.kind !== 'question') return { find, intent: choice.kind };
    const step = await askQuestion(choice.question, find, undefined, world);
    if (step.go !== 'on' || step.find === find) continue;
    await world.keep(step.find, find);
    find = step.find;
  }
}

function withSystem(find: Find): Find {
  return find.elements.geom_system === undefined ? clearAnswer(getQuestion('point'), find) : find;
}

/** Formats missing elements in one line, other issues in lines of their own. */
function formatProblems(issues: readonly Issue[]): string[] {
  const isAbsence = ({ rule }: Issue): boolean => ABOUT_ABSENCE.includes(rule);
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
  const state = formatTargetState(getTargetState(find));
  return t`Not ready for state ${state}. What do you want to correct?`;
}

/** Returns the choices; Enter corrects an error if there is one, else saves. */
function listChoices(
  find: Find,
  issues: readonly Issue[],
  questions: readonly Question[],
): readonly PromptOffer<Choice>[] {
  const state = formatTargetState(getTargetState(find));
  const wrong = new Set(
    issues
      .filter(({ severity }) => severity === 'error')
      .flatMap(({ element = '' }) => findQuestionOfElement(element)?.name ?? []),
  );
  const makeChoice = (question: Question, mark: string): PromptOffer<Choice> => {
    const answer = formatAnswer(question.name, find);
    const name = `${mark}${question.title}${answer === undefined ? '' : `: ${cutText(answer.replace(/\s+/g, ' '), MAX_CELLS)}`}`;
    return { value: { kind: 'question', question }, name, short: String(question.title) };
  };
  const send: PromptOffer<Choice> = {
    value: { kind: 'send' },
    name: t`Save, ready to be sent for state ${state}`,
    short: t`saved`,
  };
  const draft: PromptOffer<Choice> = {
    value: { kind: 'draft' },
    name: t`Keep as a draft`,
    short: t`kept as a draft`,
  };
  const marked = questions
    .filter(
      (question) =>
        question.when === 'more' ||
        isAsked(question, getTargetState(find)) ||
        formatAnswer(question.name, find) !== undefined,
    )
    .map((question) => {
      const onRequest = question.when === 'more' ? '+ ' : '  ';
      return { question, mark: wrong.has(question.name) ? '✗ ' : onRequest };
    });
  const listMarked = (wanted: string) =>
    marked
      .filter(({ mark }) => mark === wanted)
      .map(({ question, mark }) => makeChoice(question, mark));
  const answers = ['✗ ', '+ ', '  '].flatMap(listMarked);
  return hasErrors(issues) ? [...answers, draft] : [send, ...answers, draft];
}
