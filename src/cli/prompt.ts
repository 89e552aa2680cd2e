import type { DistinctQuestion, default as Inquirer } from 'inquirer';
import { cutText, toPrintable, wrapText } from '../base/characters.ts';
import { InterruptedError } from '../base/errors.ts';
import { t } from '../base/message.ts';
import { foldName } from '../base/names.ts';

/**
 * A choice. `name` is cut to the width of the terminal; `short` stays on the screen after the
 * answer, cut to half of it; `description` is shown while the choice is selected.
 */
export type PromptOffer<T> = {
  readonly value: T;
  readonly name: string;
  readonly short?: string;
  readonly description?: string;
};

/** A line among the choices that cannot be selected. */
export type Annotation = { readonly remark: string };

type TextQuestion = {
  readonly message: string;
  /** Answer of Enter alone. */
  readonly fallback?: string;
  /**
   * Returns the fault of an answer with its remedy; the question is repeated until there is none.
   */
  findProblem?(text: string): Promise<string | undefined>;
};

type SearchQuestion<T> = {
  readonly message: string;
  /** Returns choices for the typed text, best first: at least one line. */
  listOffers(typed: string): readonly (PromptOffer<T> | Annotation)[];
};

/**
 * Questions on the terminal, written to stderr, so that a redirected stdout contains only
 * results. Texts are escaped here, so foreign ones may be passed as they are. Each question
 * rejects with InterruptedError on Ctrl-C and when the terminal is closed.
 */
export type Prompt = {
  /** Asks without showing what is typed; the answer may be empty. */
  askSecret(question: string): Promise<string>;
  /** @param fallback answer of Enter alone, by default no */
  confirm(question: string, fallback?: boolean): Promise<boolean>;
  /** Asks for a text as typed, or the fallback; it may be empty. */
  askText(question: TextQuestion): Promise<string>;
  /** Asks for one of the choices, which depend on what is typed. */
  search<T>(question: SearchQuestion<T>): Promise<T>;
};

const LINES_OF_OFFERS = 9;
/** Width of the library's prefix of a line. */
const MARGIN = 3;

/**
 * Makes the {@link Prompt} of a terminal; `loadWidthLibrary` must have ended. The library is loaded
 * here, since few commands ask.
 * @param output stderr, or a stream in its place
 */
export async function makePrompt(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
): Promise<Prompt> {
  const { default: inquirer } = await import('inquirer');
  const prompt = inquirer.createPromptModule({ input, output });
  const ask: Ask = async (question) => {
    const message = toPrintable(question.message);
    try {
      return (await prompt([{ ...question, message }])).answer;
    } catch (thrown) {
      throw thrown instanceof Error && thrown.name === 'ExitPromptError'
        ? new InterruptedError()
        : thrown;
    }
  };
  const getWidth = (): number => (output.columns || 80) - MARGIN;
  return {
    askText: (question) => askText(question, ask, getWidth),
    askSecret: async (message) => String(await ask({ type: 'password', name: 'answer', message })),
    confirm: async (message, fallback = false) =>
      (await ask({
        type: 'confirm',
        name: 'answer',
        message,
        default: fallback,
        theme: makeYesAndNo(),
      })) === true,
    search: (question) => search(question, ask, getWidth, inquirer),
  };
}

/** Asks a question of the library, and returns its answer. */
type Ask = (question: DistinctQuestion & { message: string }) => Promise<unknown>;

/** Wraps a text here, since the library breaks lines inside words. */
function wrapInLines(text: string, width: number): string {
  return wrapText(toPrintable(text), width);
}

async function askText(
  { message, fallback, findProblem }: TextQuestion,
  ask: Ask,
  getWidth: () => number,
): Promise<string> {
  const shown = fallback === undefined ? undefined : toPrintable(fallback);
  const getMeant = (text: string): string => (text === shown ? (fallback ?? text) : text);
  const validate = async (text: string): Promise<string | true> => {
    const problem = await findProblem?.(getMeant(text));
    return problem === undefined ? true : wrapInLines(problem, getWidth());
  };
  return getMeant(
    String(await ask({ type: 'input', name: 'answer', message, default: shown, validate })),
  );
}

async function search<T>(
  { message, listOffers }: SearchQuestion<T>,
  ask: Ask,
  getWidth: () => number,
  { Separator }: typeof Inquirer,
): Promise<T> {
  // An offer is passed as an index, since the library compares and prints values.
  const offered: PromptOffer<T>[] = [];
  const listLines = (typed: string | undefined) =>
    listOffers(typed ?? '').map((offer) => {
      const width = getWidth();
      if ('remark' in offer) return new Separator(wrapInLines(offer.remark, width));
      const { name, short = name, description } = offer;
      return {
        name: cutText(toPrintable(name), width),
        short: cutText(toPrintable(short), width / 2),
        description: description === undefined ? undefined : wrapInLines(description, width),
        value: offered.push(offer) - 1,
      };
    });
  const chosen = await ask({
    type: 'search',
    name: 'answer',
    message,
    source: listLines,
    ...SEARCH_FORM,
  });
  const offer = offered[Number(chosen)];
  if (offer === undefined) throw new Error('what was chosen was never offered');
  return offer.value;
}

/**
 * Asks for one of the offers, which must not be empty, and returns its value. Enter takes the
 * first; typing searches the names without regard to case and accents.
 * @throws InterruptedError on Ctrl-C
 */
export function askChoice<T>(
  prompt: Prompt,
  message: string,
  offers: readonly PromptOffer<T>[],
): Promise<T> {
  return prompt.search({
    message,
    listOffers: (typed) => {
      const query = foldName(typed);
      const fitting = offers.filter(({ name }) => foldName(name).includes(query));
      return fitting.length > 0 ? fitting : [{ remark: t`Nothing matches. Try other letters.` }];
    },
  });
}

function makeYesAndNo() {
  const yes = t`Yes`;
  const no = t`No`;
  return { keywords: { yes, no, error: () => t`Answer ${yes} or ${no}.` } };
}

/** The keys are explained once, before the first question. */
const SEARCH_FORM = { pageSize: LINES_OF_OFFERS, theme: { style: { keysHelpTip: () => '' } } };
