import { t } from '../../base/language.ts';
import type { TargetState } from '../../find/field.ts';
import type { Find } from '../../find/find.ts';
import { isAsked, QUESTIONS, type Question, type QuestionName } from '../../find/questions.ts';
import { answerText } from '../finds/find-texts.ts';
import type { InterviewContext, Interviewed } from './interview-context.ts';
import { askQuestion, cellOfElement, KEYS } from './interview-question.ts';
import { review } from './interview-review.ts';

/** Explains the keys in one line. */
export function keysText(): string {
  return t`Enter takes the offer · ${KEYS.back} back · ${KEYS.empty} empty · ${KEYS.toTheEnd} to the end · Ctrl-C keeps a draft`;
}

/**
 * Asks for missing elements in the order of {@link QUESTIONS}, until the user ends the interview.
 * @throws InterruptedError on Ctrl-C; earlier answers are saved
 */
export async function interview(start: Find, world: InterviewContext): Promise<Interviewed> {
  let find = start;
  const done = new Set<QuestionName>(
    QUESTIONS.filter((question) => answerText(question, start) !== undefined).map(({ name }) => name),
  );
  const trail: QuestionName[] = [];
  let isFrameOffered = false;
  const keep = async (next: Find): Promise<void> => {
    if (next === find) return;
    await world.keep(next, find);
    find = next;
  };
  for (let question = nextQuestion(find, done, world); question !== undefined; question = nextQuestion(find, done, world)) {
    if (question.when === 'frame' && !isFrameOffered) {
      isFrameOffered = true;
      const framed = await offerFrame(find, done, world);
      if (framed !== undefined) {
        await keep(framed);
        for (const { name } of FRAME) done.add(name);
        continue;
      }
    }
    const step = await askQuestion(question, find, suggestedFor(question, find, world), world);
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
  return review(find, { ...world, keep: async (next) => keep(next) });
}

const FRAME = QUESTIONS.filter(({ when }) => when === 'frame');

function nextQuestion(find: Find, done: ReadonlySet<QuestionName>, { suggest }: InterviewContext): Question | undefined {
  const stav: TargetState = find.elements.stav ?? suggest(find).elements.stav ?? 2;
  return QUESTIONS.find((question) => isAsked(question, stav) && !done.has(question.name));
}

function suggestedFor(question: Question, find: Find, { suggest }: InterviewContext): string | undefined {
  const suggested = suggest(find);
  return question.name === 'local_id' ? suggested.localId : cellOfElement(question, suggested.elements);
}

/** Asks one question for all values that stay constant for a day; undefined where one is unknown, or the answer is no. */
async function offerFrame(find: Find, done: ReadonlySet<QuestionName>, world: InterviewContext): Promise<Find | undefined> {
  const open = FRAME.filter(({ name }) => !done.has(name));
  if (open.length < 2) return undefined;
  let framed = find;
  for (const question of open) {
    const text = suggestedFor(question, framed, world);
    const answer = text === undefined ? undefined : await world.read(question, text, framed);
    if (answer === undefined || 'problem' in answer || answer.doubt !== undefined) return undefined;
    framed = answer.find;
  }
  const values = FRAME.map((question) => answerText(question, framed) ?? '');
  world.say(values.join(' · '));
  return (await world.prompt.confirm(t`As before?`, true)) ? framed : undefined;
}
