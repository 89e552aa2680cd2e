import type { Issue } from '../../base/issue.ts';
import { formatDay, t } from '../../base/language.ts';
import { formatReferenceCell, type TargetState } from '../../find/field.ts';
import { type FindElements, getField } from '../../find/fields.ts';
import type { Find } from '../../find/find.ts';
import {
  getElementNames,
  isOptional,
  type Question,
  type QuestionName,
} from '../../find/questions.ts';
import type { Annotation, Prompt, PromptOffer } from '../../ui/prompt.ts';
import { formatAnswer, formatTargetState } from '../finds/find-texts.ts';
import { type Answer, withoutAnswer } from './answer.ts';
import type { OfferTerms } from './offer-terms.ts';

type QuestionContext = {
  readonly prompt: Prompt;
  readonly say: (text: string) => void;
  readonly read: (question: Question, text: string, find: Find) => Promise<Answer>;
  readonly offerTerms: OfferTerms;
};

type Step = { readonly find: Find; readonly go: 'on' | 'back' | 'to-the-end' };

/** Keys that are valid answers to every question. */
export const KEYS = { back: '<', empty: '-', toTheEnd: '>' } as const;

/** Asks until an answer is valid, and stores it in the find. */
export async function askQuestion(
  question: Question,
  find: Find,
  suggested: string | undefined,
  world: QuestionContext,
): Promise<Step> {
  for (;;) {
    const text = await (question.how === 'text' ||
    question.how === 'point' ||
    question.how === 'photos'
      ? askText(question, find, suggested, world)
      : world.prompt.search({
          message: formatQuestionTitle(question),
          listOffers: (typed) => listFieldOffers(question, find, suggested, typed, world),
        }));
    if (text === KEYS.back) return { find, go: 'back' };
    if (text === KEYS.toTheEnd) return { find, go: 'to-the-end' };
    if (text === '' || text === KEYS.empty)
      return { find: withoutAnswer(question, find), go: 'on' };
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
  { prompt, read }: QuestionContext,
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

function findEmptyProblem({ name }: Question, find: Find): string | undefined {
  const state = formatTargetState(getTargetState(find));
  return isOptional(name, getTargetState(find))
    ? undefined
    : t`State ${state} requires this. Type - to leave it for later.`;
}

/** Returns the target state; 1 (registered) where none is set. */
export function getTargetState({ elements }: Find): TargetState {
  return elements.stav ?? 1;
}

function getAnswerCell(question: Question, find: Find): string | undefined {
  if (question.name === 'local_id' || question.name === 'photos')
    return formatAnswer(question.name, find);
  if (question.name === 'point') return find.elements.geom_wkt ?? find.elements.geom_sjtsk_wkt;
  return formatElementCell(question, find.elements);
}

/** Formats the first element of a question as a table cell; undefined where it is absent. */
export function formatElementCell({ name }: Question, elements: FindElements): string | undefined {
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
  { offerTerms }: QuestionContext,
): Offers {
  const key = makeShortcut(typed.trim());
  if (key !== undefined) return [key];
  const [element] = getElementNames(question.name);
  const offers =
    question.how === 'term' && element !== undefined
      ? offerTerms(element, typed)
      : listFixedOffers(question, typed);
  if (typed.trim() !== '') return offers;
  const preferred = formatElementCell(question, find.elements) ?? suggested;
  const first = offers.filter((offer) => 'value' in offer && offer.value === preferred);
  const isKnown =
    question.how === 'term' &&
    element !== undefined &&
    preferred !== undefined &&
    first.length === 0;
  const sought = isKnown ? [findOffer(offerTerms(element, preferred), preferred)] : first;
  const rest = offers.filter((offer) => !('value' in offer) || offer.value !== preferred);
  // Without a previous choice Enter skips: the first entry of a vocabulary is only the first in the
  // alphabet.
  const skip =
    preferred === undefined
      ? [makeEmptyOffer(isOptional(question.name, getTargetState(find)))]
      : [];
  return [...sought, ...skip, ...rest];
}

/**
 * Returns the exact match, else the cell: a search may return a similar entry, such as a namesake
 * of an unknown person.
 */
function findOffer(offers: Offers, cell: string): PromptOffer<string> {
  const same = offers.find(
    (offer): offer is PromptOffer<string> => 'value' in offer && offer.value === cell,
  );
  return same ?? { value: cell, name: cell, short: cell };
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
  const all: readonly PromptOffer<string>[] =
    how === 'state'
      ? ([1, 2, 3] as const).map((stav) => ({
          value: String(stav),
          name: formatTargetState(stav),
          short: formatTargetState(stav),
        }))
      : [
          { value: 'ano', name: t`yes`, short: t`yes` },
          { value: 'ne', name: t`no`, short: t`no` },
        ];
  const query = typed.trim().toLowerCase();
  const fitting = all.filter(({ name }) => name.toLowerCase().includes(query));
  return fitting.length > 0 ? fitting : all;
}

/** Questions about a find, and its errors and warnings in its target state. */
export type AskingContext = QuestionContext & { readonly check: (find: Find) => readonly Issue[] };

export type InterviewContext = AskingContext & {
  /** Asks also for what has an answer, and what is else asked on request. */
  readonly asksAll?: boolean;
  /** Questions that are never asked. */
  readonly leftOut?: readonly QuestionName[];
  /** Returns suggestions for empty elements; they may depend on the project. */
  readonly suggest: (find: Find) => SuggestedValues;
  /**
   * Saves the incomplete find; called after every answer. `before` is the find that it replaces.
   */
  readonly keep: (find: Find, before: Find) => Promise<void>;
};

export type SuggestedValues = { readonly localId: string; readonly elements: FindElements };

export type InterviewResult = { readonly find: Find; readonly intent: 'send' | 'draft' };
