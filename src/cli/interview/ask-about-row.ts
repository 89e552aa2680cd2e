import { hasErrors } from '../../base/issue.ts';
import { t } from '../../base/language.ts';
import type { AskedRow } from '../../outbox/facts.ts';
import type { StoredFind } from '../../outbox/stored-finds.ts';
import {
  ANSWER_WORDS,
  ANSWERS_OF_ROWS,
  answerRow,
  getRowQuestion,
  type RowAnswer,
} from '../../tables/answer-rows.ts';
import type { Context } from '../context/context.ts';
import { makeContextKeeping, openValidationContext } from '../context/validation.ts';
import { askChoice } from '../prompt.ts';
import { printIssues } from '../terminal.ts';

/** Asks a person what a row is; undefined where they decide later. */
export async function askAboutRow(
  context: Context,
  asked: AskedRow,
): Promise<RowAnswer | undefined> {
  const offers = ANSWERS_OF_ROWS[asked.basis].map((value) => ({
    value,
    name: String(ANSWER_WORDS[value]),
  }));
  return askChoiceOrLater(context, String(getRowQuestion(asked)), offers);
}

/** Asks a person to choose; undefined where they decide later. */
export async function askChoiceOrLater<Value>(
  context: Context,
  question: string,
  offers: readonly { readonly value: Value; readonly name: string }[],
): Promise<Value | undefined> {
  return askChoice<Value | undefined>(await context.prompt(), question, [
    ...offers,
    { value: undefined, name: t`decide later` },
  ]);
}

/**
 * Imports a row as a person said, and prints what became of it.
 * @returns `differs` where the row still has an error, a question, or differs from the sent find
 */
export async function importAnsweredRow(
  context: Context,
  stored: StoredFind,
  asked: AskedRow,
  answer: RowAnswer,
): Promise<'done' | 'differs'> {
  const { terminal } = context;
  const outbox = await context.openOutbox();
  const ruleContext = await openValidationContext(context);
  const { finds, issues } = await answerRow(stored, asked, answer, {
    ...makeContextKeeping(context),
    outbox,
    ruleContext,
  });
  printIssues(terminal, issues);
  const name = finds[0]?.find ?? stored.localId;
  terminal.printLine(
    answer === 'new'
      ? t`${name} is another find and was added.`
      : t`The question about ${name} is answered.`,
  );
  return hasErrors(issues) || finds.some(({ change }) => change === 'sent' || change === 'question')
    ? 'differs'
    : 'done';
}
