import { InterruptedError, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { readMappingFile } from '../context/own-files.ts';
import { asFind } from '../context/validation.ts';
import type { FindElements } from '../find/find.ts';
import { readAnswer } from '../flows/answer.ts';
import { askChanges } from '../flows/ask-changes.ts';
import { findLine } from '../flows/find-texts.ts';
import type { Interviewed } from '../flows/interview-world.ts';
import { makeOfferTerms } from '../flows/offer-terms.ts';
import { LATEST } from '../flows/suggest-values.ts';
import { latestFinds, type StoredFind } from '../outbox/finds.ts';
import { printable } from '../ui/printable.ts';
import { openAdding } from './adding.ts';

/**
 * The questions of `pas add`, with what the find says today as answers. Stores nothing.
 * @throws UsageError without a terminal; InterruptedError on Ctrl-C
 */
export async function askForChanges(context: Context, stored: StoredFind, options: GlobalOptions): Promise<Interviewed> {
  const { terminal } = context;
  if (!terminal.interactive)
    throw new UsageError(t`There is no terminal to ask on.`, { hint: t`Give the values: --set element=value.` });
  const { answers, check, outbox } = await openAdding(context, options);
  const offerTerms = makeOfferTerms({
    vocabulary: (await context.vocabulary()).source(context.profile().oaiBase ?? ''),
    mapping: readMappingFile(context),
    latest: latestFinds(outbox, LATEST).map(({ elements }) => elements as FindElements),
    columns: context.streams.stderr.columns ?? 80,
  });
  const say = (text: string): void => terminal.note(printable(text));
  const find = asFind(stored);
  say(t`Enter keeps a value · < back · - empty · > to the end · Ctrl-C changes nothing`);
  say(findLine(find));
  try {
    return await askChanges(find, {
      prompt: await context.prompt(),
      say,
      read: (question, text, each) => readAnswer(question, text, each, answers),
      offerTerms,
      check,
    });
  } catch (thrown) {
    throw thrown instanceof InterruptedError ? new InterruptedError(t`Interrupted. Nothing was changed.`) : thrown;
  }
}
