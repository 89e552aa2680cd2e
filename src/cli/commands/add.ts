import { type ExitReason, InterruptedError, UsageError } from '../../base/errors.ts';
import { cmd, t } from '../../base/message.ts';
import { STATE_WORDS } from '../../outbox/views/entry-words.ts';
import { collapseRepeatedWarnings } from '../../tables/collapse-issues.ts';
import { appendValue, defineCommand, type Registration } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import {
  type AddingSession,
  addFindByAsking,
  addFindFromFlags,
  type GivenAnswers,
  NEW_FIND,
  openAddingSession,
  openInterview,
  type SavedFind,
} from '../interview/add-find.ts';
import type { Prompt } from '../prompt.ts';
import { formatPhotographCount, printNextStep } from '../result-texts.ts';
import { printIssues, toIssuesJson } from '../terminal.ts';

type AddOptions = GlobalOptions & GivenAnswers & { readonly draft?: boolean };

/** Registers `pas add`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'add',
    t`Enter one find: answer questions on a terminal, or give all values with --set.`,
    [
      'pas add',
      'pas add --same-as K-017 --point IMG_0412.jpg',
      'pas add --set project=C-202400101 --set object_type=brooch --set depth_cm=35 --point "50.0871N 14.4208E"',
    ],
  )
    .option(
      '--set <element=value>',
      t`set an element, named like a table column; an empty value removes it; may be repeated`,
      appendValue,
    )
    .option(
      '--same-as <find>',
      t`copy another find, except its numbers, point, depth, count and note`,
    )
    .option('--point <position>', t`the point: degrees, S-JTSK, a map link, or a photograph`)
    .option('--draft', t`keep the find as a draft, even if it is complete`)
    .action(run(add));
};

/**
 * Adds a find by flags, or without `--set` on a terminal one find after another by questions.
 * @returns `dataRefused` where the find of the flags is not stored as it was asked for
 * @throws UsageError without flags and a terminal; as {@link addFindFromFlags}
 */
async function add(context: Context, options: AddOptions): Promise<ExitReason> {
  const outbox = await context.openOutbox();
  outbox.command.words = 'add';
  const adding = await openAddingSession(context, options);
  if (options.set === undefined && context.terminal.interactive)
    return addByAsking(context, adding, options.draft === true);
  if (options.set === undefined && options.sameAs === undefined) {
    throw new UsageError(t`pas cannot ask questions without a terminal.`, {
      hint: t`Describe the find with --set element=value, or import a table: ${cmd`pas import`} FILE.`,
    });
  }
  return printAdded(
    context,
    await addFindFromFlags(adding, options.draft === true ? 'draft' : 'send'),
  );
}

/** Asks for one find after another, until the user stops; under `--json` only for one. */
async function addByAsking(
  context: Context,
  adding: AddingSession,
  isDraft: boolean,
): Promise<ExitReason> {
  const { terminal } = context;
  const asks = await openInterview(context, adding);
  terminal.note(t`Enter accepts the suggestion · - empty · Ctrl-C keeps a draft`);
  for (let which: 'first' | 'further' = 'first'; ; which = 'further') {
    const { find, issues } = await adding.start(NEW_FIND, which);
    for (const issue of issues) terminal.note(`! ${issue.message}`);
    const saved = await addFindByAsking(adding, asks, find, isDraft);
    terminal.printLine(formatSaved(saved));
    if (terminal.json) {
      terminal.printValue(toSavedJson(saved));
      return 'done';
    }
    if (!(await askForAnother(asks.prompt))) return 'done';
  }
}

/** Ctrl-C counts as no: the previous find is saved. */
async function askForAnother(prompt: Prompt): Promise<boolean> {
  try {
    return await prompt.confirm(t`Add another find?`, true);
  } catch (thrown) {
    if (thrown instanceof InterruptedError) return false;
    throw thrown;
  }
}

function printAdded(
  context: Context,
  added: Awaited<ReturnType<typeof addFindFromFlags>>,
): ExitReason {
  const { terminal } = context;
  // Column and number of the find are omitted, since there is no table.
  const issues = added.issues.map((issue) => issue.without('column', 'find'));
  printIssues(terminal, added.state === null ? collapseRepeatedWarnings(issues) : issues);
  if (added.state === null)
    terminal.printLine(t`Nothing was saved. Correct it, or keep it as it is with --draft.`);
  else terminal.printLine(formatSaved(added));
  if (added.state === 'queued') printNextStep(context);
  terminal.printValue(toSavedJson(added.state === null ? added : { ...added, issues }));
  return added.asAsked ? 'done' : 'dataRefused';
}

function formatSaved({ find: { localId }, state, photosAdded }: SavedFind): string {
  if (state === 'queued') return t`${localId} is saved and ready to be sent.`;
  if (state === null || state === 'draft')
    return t`${localId} is kept as a draft. To finish it: ${cmd`pas edit ${localId}`}`;
  const word = STATE_WORDS[state];
  const photographs = formatPhotographCount(photosAdded);
  return t`${localId} was here before (${word}) and stays as it is; ${photographs} queued.`;
}

function toSavedJson({
  uuid,
  find,
  state,
  photosAdded,
  issues,
}: SavedFind): Record<string, unknown> {
  return {
    find: uuid,
    local_id: find.localId,
    state,
    elements: find.elements,
    photos: photosAdded,
    issues: toIssuesJson(issues),
  };
}
