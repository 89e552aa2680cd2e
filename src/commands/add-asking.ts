import { type ExitReason, InterruptedError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { readMappingFile } from '../context/own-files.ts';
import type { Find, FindElements } from '../find/find.ts';
import { readAnswer } from '../flows/answer.ts';
import { findLine } from '../flows/find-texts.ts';
import { interview, keysText } from '../flows/interview.ts';
import type { InterviewWorld } from '../flows/interview-world.ts';
import { makeOfferTerms } from '../flows/offer-terms.ts';
import { findToResume, lastUnfinished } from '../flows/start-find.ts';
import { LATEST, suggestValues } from '../flows/suggest-values.ts';
import { findByLocalId, latestFinds, renameFind } from '../outbox/finds.ts';
import { printable } from '../ui/printable.ts';
import { type Adding, type AddOptions, EMPTY_FIND, savedText, savedValue } from './adding.ts';

/** Asks for one find after another, until somebody has had enough. */
export async function addByAsking(adding: Adding, options: AddOptions): Promise<ExitReason> {
  const { context, outbox } = adding;
  const { terminal } = context;
  const profile = context.profile();
  const prompt = await context.prompt();
  const columns = context.streams.stderr.columns ?? 80;
  const say = (text: string): void => terminal.note(printable(text));
  const enteredNow = new Set<string>();
  const vocabulary = (await context.vocabulary()).source(profile.oaiBase ?? '');
  const mapping = readMappingFile(context);
  let kept: Find | undefined;
  const worldNow = (): InterviewWorld => ({
    prompt,
    say,
    read: (question, text, find) => readAnswer(question, text, find, adding.answers),
    offerTerms: makeOfferTerms({
      vocabulary,
      mapping,
      latest: latestFinds(outbox, LATEST).map(({ elements }) => elements as FindElements),
      columns,
    }),
    suggest: (find) => suggestValues(find, { ...adding.suggestions, enteredNow }),
    check: adding.check,
    keep: async (find, before) => {
      if (Object.keys(find.elements).length === 0 && find.photos.length === 0) return;
      if (before.localId !== find.localId && findByLocalId(outbox, before.localId) !== undefined) {
        renameFind(outbox, before.localId, find.localId);
      }
      // Photographs are queued with the last answer alone: until then one of them may be taken away again.
      await adding.save({ ...find, photos: [] }, 'unfinished');
      kept = find;
    },
  });
  const resumed =
    options.resume === undefined ? undefined : findToResume(outbox, options.resume === true ? undefined : options.resume);
  const unfinished = resumed === undefined ? lastUnfinished(outbox) : undefined;
  if (unfinished !== undefined) say(t`${unfinished.localId} is unfinished. To go on with it: pas add --resume`);
  say(keysText());
  if (resumed !== undefined) say(findLine(resumed));
  for (let which: 'first' | 'further' = 'first'; ; which = 'further') {
    const { find: start, issues } = await adding.start(resumed ?? EMPTY_FIND, which);
    for (const issue of issues) say(`! ${issue.message}`);
    kept = undefined;
    let finished: Awaited<ReturnType<typeof interview>>;
    try {
      finished = await interview(start, worldNow());
    } catch (thrown) {
      if (!(thrown instanceof InterruptedError)) throw thrown;
      if (kept !== undefined) await adding.save(kept, 'unfinished');
      throw interruption(kept);
    }
    const saved = await adding.save(finished.find, options.draft === true ? 'draft' : finished.wish);
    enteredNow.add(finished.find.localId);
    terminal.line(printable(terminal.advised(savedText(saved))));
    if (terminal.json || resumed !== undefined) {
      terminal.value(savedValue(terminal, adding, saved));
      return 'done';
    }
    if (!(await wantsAnother(prompt))) return 'done';
  }
}

function interruption(kept: Find | undefined): InterruptedError {
  return kept === undefined
    ? new InterruptedError(t`Interrupted. Nothing was entered yet.`)
    : new InterruptedError(t`Interrupted. ${kept.localId} is kept as a draft.`, { hint: t`Go on with it: pas add --resume` });
}

/** Ctrl-C is as good as no here: the find before is saved. */
async function wantsAnother(prompt: InterviewWorld['prompt']): Promise<boolean> {
  try {
    return await prompt.confirm(t`Another?`, true);
  } catch (thrown) {
    if (thrown instanceof InterruptedError) return false;
    throw thrown;
  }
}
