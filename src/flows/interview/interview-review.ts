import { hasErrors, type Issue } from '../../base/issue.ts';
import { t } from '../../base/language.ts';
import type { Find } from '../../find/find.ts';
import { isAsked, QUESTIONS, type Question, type QuestionName, questionFor, questionOf } from '../../find/questions.ts';
import { NOT_HARVESTED } from '../../find/rule.ts';
import { cutTo } from '../../text/width.ts';
import type { Annotation, Offer } from '../../ui/prompt.ts';
import { fold } from '../../vocabulary/fold.ts';
import { answerText, findLine, stateName } from '../finds/find-texts.ts';
import { ABOUT_ABSENCE, withoutAnswer } from './answer.ts';
import type { InterviewContext, Interviewed } from './interview-context.ts';
import { askQuestion, stateOf } from './interview-question.ts';

/** Maximum width of an answer, in cells. */
const MAX_CELLS = 50;

type Choice = { readonly kind: 'send' | 'draft' } | { readonly kind: 'question'; readonly question: Question };

export type ReviewContext = Omit<InterviewContext, 'keep' | 'suggest'> & {
  readonly keep: (find: Find) => Promise<void>;
  readonly leftOut?: readonly QuestionName[];
};

/** Shows the find and its issues, and lets the user change any answer, until it is to be sent or saved as a draft. */
export async function review(start: Find, world: ReviewContext): Promise<Interviewed> {
  // The coordinate system is required, even where the question of the point was skipped.
  for (let find = withSystem(start); ; ) {
    const issues = world.check(find);
    world.say(findLine(find));
    for (const line of problemLines(issues)) world.say(line);
    const choice = await world.prompt.search({
      message: hasErrors(issues) ? incompleteText(find) : t`Save ${find.localId}?`,
      offers: (typed) => choicesFor(find, issues, typed, world.leftOut ?? []),
    });
    if (choice.kind !== 'question') return { find, intent: choice.kind };
    const step = await askQuestion(choice.question, find, undefined, world);
    if (step.go === 'on') {
      await world.keep(step.find);
      find = step.find;
    }
  }
}

function withSystem(find: Find): Find {
  return find.elements.geom_system === undefined ? withoutAnswer(questionOf('point'), find) : find;
}

/** Formats missing elements in one line, other issues in lines of their own. */
function problemLines(issues: readonly Issue[]): string[] {
  const isAbsence = ({ rule }: Issue): boolean => ABOUT_ABSENCE.includes(rule);
  const missing = issues
    .filter(isAbsence)
    .flatMap(({ element }) => (element === undefined ? [] : (questionFor(element)?.title ?? [])));
  const titles = [...new Set(missing)].join(', ');
  const others = issues.filter((issue) => !isAbsence(issue) && issue.rule !== NOT_HARVESTED);
  return [
    ...(titles === '' ? [] : [`✗ ${t`Missing: ${titles}.`}`]),
    ...others.map(({ severity, message }) => `${severity === 'error' ? '✗' : '!'} ${message}`),
  ];
}

function incompleteText(find: Find): string {
  const state = stateName(stateOf(find));
  return t`Not ready for state ${state}. What to mend?`;
}

/** Returns the choices; Enter corrects an error if there is one, else saves. */
function choicesFor(
  find: Find,
  issues: readonly Issue[],
  typed: string,
  leftOut: readonly QuestionName[],
): readonly (Offer<Choice> | Annotation)[] {
  const state = stateName(stateOf(find));
  const wrong = new Set<QuestionName>(
    issues.flatMap(({ severity, element }) => {
      const question = severity === 'error' && element !== undefined ? questionFor(element) : undefined;
      return question === undefined ? [] : [question.name];
    }),
  );
  const asks = (question: Question, mark: string): Offer<Choice> => {
    const answer = answerText(question, find);
    const name = `${mark}${question.title}${answer === undefined ? '' : `: ${cutTo(answer.replace(/\s+/g, ' '), MAX_CELLS)}`}`;
    return { value: { kind: 'question', question }, name, short: String(question.title) };
  };
  const send: Offer<Choice> = { value: { kind: 'send' }, name: t`Save, ready to be sent for state ${state}`, short: t`saved` };
  const draft: Offer<Choice> = { value: { kind: 'draft' }, name: t`Keep as a draft`, short: t`kept as a draft` };
  const ofUse = QUESTIONS.filter(
    (question) =>
      !leftOut.includes(question.name) &&
      (question.when === 'more' || isAsked(question, stateOf(find)) || answerText(question, find)),
  );
  const others = ofUse.filter(({ name }) => !wrong.has(name));
  const offers = [
    ...(hasErrors(issues) ? [] : [send]),
    ...ofUse.filter(({ name }) => wrong.has(name)).map((question) => asks(question, '✗ ')),
    ...others.filter(({ when }) => when === 'more').map((question) => asks(question, '+ ')),
    ...(hasErrors(issues) ? [draft] : []),
    ...others.filter(({ when }) => when !== 'more').map((question) => asks(question, '  ')),
    ...(hasErrors(issues) ? [] : [draft]),
  ];
  const wanted = fold(typed);
  const fitting = offers.filter(({ name }) => fold(name).includes(wanted));
  return fitting.length > 0 ? fitting : [{ remark: t`Nothing here is called "${typed}".` }];
}
