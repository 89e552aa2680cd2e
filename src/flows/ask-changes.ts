import type { Find } from '../find/find.ts';
import { isAsked, QUESTIONS, type Question, type QuestionName } from '../find/questions.ts';
import { answerText } from './find-texts.ts';
import { askQuestion, stateOf } from './interview-question.ts';
import { type ReviewWorld, review } from './interview-review.ts';
import type { Interviewed } from './interview-world.ts';

/** What belongs to a find from its first day, or has a command of its own. */
const NOT_EDITED: readonly QuestionName[] = ['local_id', 'photos'];

/**
 * Asks every question about a find again, with what it says today as the answer that Enter takes, and shows the whole at the end.
 * @returns what is to be stored; nothing was stored yet
 * @throws InterruptedError on Ctrl-C
 */
export async function askChanges(start: Find, world: Omit<ReviewWorld, 'keep' | 'leftOut'>): Promise<Interviewed> {
  let find = start;
  const done: QuestionName[] = [];
  for (let question = nextQuestion(find, done); question !== undefined; question = nextQuestion(find, done)) {
    const step = await askQuestion(question, find, undefined, world);
    if (step.go === 'to-the-end') break;
    if (step.go === 'back') {
      done.pop();
      continue;
    }
    // Without a point before and after, the coordinate system stays as it was.
    if (question.name !== 'point' || hasPoint(step.find) || hasPoint(find)) find = step.find;
    done.push(question.name);
  }
  return review(find, { ...world, leftOut: NOT_EDITED, keep: async () => {} });
}

function hasPoint({ elements }: Find): boolean {
  return elements.geom_wkt !== undefined || elements.geom_sjtsk_wkt !== undefined;
}

function nextQuestion(find: Find, done: readonly QuestionName[]): Question | undefined {
  const isDue = (question: Question): boolean =>
    question.when === 'more' || isAsked(question, stateOf(find)) || answerText(question, find) !== undefined;
  return QUESTIONS.find((question) => !NOT_EDITED.includes(question.name) && !done.includes(question.name) && isDue(question));
}
