import { InterruptedError } from '../../../src/base/errors.ts';
import type { Prompt, PromptOffer } from '../../../src/cli/prompt.ts';

/**
 * Answers in the order in which they are asked for; `^C` stops. Every question, refusal and choice
 * is in the transcript.
 */
export type ScriptedPrompt = Prompt & {
  readonly transcript: readonly string[];
  readonly left: readonly string[];
};

/** A search takes the first offer for what is typed; an empty answer is Enter alone. */
export function scriptedPrompt(...answers: readonly string[]): ScriptedPrompt {
  const left = [...answers];
  const transcript: string[] = [];
  const next = (question: string): string => {
    const answer = left.shift();
    if (answer === undefined)
      throw new Error(`nobody answers "${question}" after:\n${transcript.join('\n')}`);
    if (answer === '^C') throw new InterruptedError();
    return answer;
  };
  return {
    transcript,
    left,
    askSecret: async (question) => next(question),
    async confirm(question, fallback = false) {
      const answer = next(question);
      transcript.push(`${question} ${answer}`);
      return answer === '' ? fallback : answer === 'y';
    },
    async askText({ message, fallback, findProblem }) {
      for (;;) {
        const answer = next(message) || fallback || '';
        const problem = await findProblem?.(answer);
        transcript.push(`${message} ${answer}${problem === undefined ? '' : ` ✗ ${problem}`}`);
        if (problem === undefined) return answer;
      }
    },
    async search<T>({
      message,
      listOffers,
    }: Parameters<Prompt['search']>[0] & {
      listOffers(typed: string): readonly unknown[];
    }): Promise<T> {
      const typed = next(message);
      const offered = listOffers(typed);
      const first = offered.find(
        (offer): offer is PromptOffer<T> =>
          typeof offer === 'object' && offer !== null && 'value' in offer,
      );
      if (first === undefined)
        throw new Error(`${message} offers nothing for "${typed}": ${JSON.stringify(offered)}`);
      transcript.push(`${message} ${typed} → ${first.name}`);
      return first.value;
    },
  };
}
