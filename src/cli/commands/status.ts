import { formatIso } from '../../base/clock.ts';
import type { ExitReason } from '../../base/errors.ts';
import { cmd, formatMoment, type Message, msg, msgid, ngettext, t } from '../../base/message.ts';
import { listVocabularyHarvests } from '../../finds/vocabulary/terms.ts';
import type { Entry } from '../../outbox/entry.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { formatEntry, KIND_WORDS, STATE_WORDS } from '../../outbox/views/entry-words.ts';
import {
  getOutboxStatus,
  type NewPerson,
  type OutboxStatus,
  type WaitingCounts,
} from '../../outbox/views/outbox-status.ts';
import { explainUncertain } from '../../push/uncertain-words.ts';
import { defineCommand, type Registration } from '../command.ts';
import {
  type Context,
  findOwnHarvestBase,
  findSettleMs,
  getSourceOfSecrets,
} from '../context/context.ts';
import { findProfileVocabulary, readSharedPause } from '../context/open-service.ts';
import { listNewPeopleOfProfile, printNewPeople, toNewPeopleJson } from '../new-people.ts';
import {
  formatFindCount,
  getSettlingCommand,
  INSTANCE_WORDS,
  toHeldQuestionJson,
} from '../result-texts.ts';

const MAX_SHOWN = 10;

/** Registers `pas status`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'status',
    t`Show the queue, what each entry waits for, and what needs your attention.`,
    ['pas status', 'pas status --json'],
  ).action(run(showStatus));
};

async function showStatus(context: Context): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutbox();
  const profile = context.getProfile();
  const state = getOutboxStatus(outbox);
  const { finds, entries, table, waiting, delayed, needsPerson } = state;
  printProfile(context, finds);
  const people = await listNewPeopleOfProfile(context, outbox);
  const next = await makeNextSteps(context, state, people);
  for (const step of next.first) printSection(context, step);
  if (finds > 0) terminal.printLine();
  if (finds > 0)
    await terminal.printTable(
      ['', ...table.states.map((state) => STATE_WORDS[state])],
      table.rows.map((row) => [KIND_WORDS[row.kind], ...row.counts.map(String)]),
    );
  printWaiting(context, waiting);
  printSection(context, {
    title: t`Tried and still queued; \`${cmd`pas push`} FIND\` retries a find now:`,
    lines: delayed.map((delay) => formatDelay(delay, context.clock.now())),
  });
  const pause = await readSharedPause(context, profile);
  if (pause.text !== '') terminal.printLine(pause.text);
  for (const section of listSections(outbox, state, findSettleMs(context)))
    printSection(context, section);
  if (people.some(({ isAccepted }) => !isAccepted)) terminal.printLine();
  printNewPeople(context, people, terminal.printLine);
  if (pause.text === '') for (const step of next.last) printSection(context, step);
  terminal.printValue({
    finds,
    entries,
    waiting: {
      for_import: waiting.forImport,
      for_given_up: waiting.forDropped,
      for_person: waiting.forPerson,
      for_time: waiting.forTime,
      reasons: delayed.map(({ kind, find, reason, notBeforeAt }) => ({
        kind,
        find,
        reason: String(reason),
        not_before: formatIso(notBeforeAt),
      })),
    },
    paused_until: pause.until,
    new_people: toNewPeopleJson(people),
    next: [...next.first, ...next.last].flatMap(({ lines }) => lines.map(String)),
    needs_person: needsPerson.map((entry) => ({
      entry: entry.id,
      kind: entry.kind,
      find: entry.find,
      state: entry.state,
      reason: String(entry.reason ?? entry.issues[0]?.message ?? '') || null,
      ...toHeldQuestionJson(entry),
      command: getSettlingCommand(entry),
    })),
  });
  return 'done';
}

function printProfile(context: Context, finds: number): void {
  const profile = context.getProfile();
  const all = formatFindCount(finds);
  const kind = INSTANCE_WORDS[profile.kind];
  context.terminal.printLine(t`${all}; profile ${profile.name}, ${kind}, ${profile.baseUrl}`);
}

type Section = { readonly title: Message; readonly lines: readonly Message[] };

/**
 * Makes the next steps except those of single entries: `first` has those before a push, such as the
 * sign-in, `last` the push itself and what follows it.
 */
async function makeNextSteps(
  context: Context,
  state: OutboxStatus,
  people: readonly NewPerson[],
): Promise<{ first: readonly Section[]; last: readonly Section[] }> {
  const { oaiBase } = context.getProfile();
  const vocabulary = await findProfileVocabulary(context);
  const first: Section[] = [];
  if (getSourceOfSecrets(context) === 'nowhere')
    first.push({ title: t`Sign in:`, lines: [cmd`pas login`] });
  const harvests = vocabulary === undefined ? [] : listVocabularyHarvests(vocabulary);
  if (oaiBase !== undefined && harvests.length === 0)
    first.push({
      title: t`Harvest the vocabularies; finds are checked with them offline:`,
      lines: [cmd`pas harvest-vocab`],
    });
  if (state.isEmpty)
    first.push({
      title: t`Enter a find, or import a table with \`${cmd`pas import`} FILE\`:`,
      lines: [cmd`pas add`],
    });
  const last: Section[] = [];
  const isAnyoneNew = people.some(({ isAccepted }) => !isAccepted);
  const send = isAnyoneNew ? cmd`pas push --accept-new-people` : cmd`pas push`;
  if (state.sending > 0)
    last.push({
      title: t`Something is being sent. If no push is running any more, look up what was sent:`,
      lines: [cmd`pas push`],
    });
  if (state.sendable > 0) last.push({ title: t`Send what is queued:`, lines: [send] });
  if (state.isAllDone) {
    const look = findOwnHarvestBase(context) === undefined ? cmd`pas list` : cmd`pas pull`;
    last.push({
      title: t`Everything is sent. Read the current states from the service:`,
      lines: [look],
    });
  }
  return { first, last };
}

/** Prints what a person may do, below a title; nothing without lines. */
function printSection({ terminal }: Context, { title, lines }: Section): void {
  if (lines.length === 0) return;
  terminal.printLine(`\n${terminal.color.bold(title)}`);
  for (const line of lines) terminal.printLine(`  ${line}`);
}

/** Lists what a person may do about entries; questions first, since those entries wait for them. */
function listSections(
  outbox: Outbox,
  { needsPerson, dropped, changed }: OutboxStatus,
  settleMs: number | undefined,
): Section[] {
  const explain = (entry: Entry): string => explainUncertain(outbox, entry.id, settleMs)[0];
  const steps = STEPS.map(({ title, takes, command }): Section => {
    const lines = formatEntries(
      needsPerson.filter(takes),
      command === undefined ? describeReason : explain,
    );
    // A command that searches the service.
    const isHeaded = command !== undefined && settleMs !== undefined && lines.length > 0;
    return { title, lines: isHeaded ? [command, ...lines] : lines };
  });
  return [
    ...steps,
    {
      title: t`Queue these finds again or remove them; they were dropped, but numbers and photographs are waiting for them:`,
      lines: dropped
        .slice(0, MAX_SHOWN)
        .flatMap((find) => [cmd`pas resolve ${find} --resend`, cmd`pas remove ${find}`]),
    },
    {
      title: t`Compare these finds with their records; another version was sent from a copy of this outbox:`,
      lines: changed.slice(0, MAX_SHOWN).map((find) => cmd`pas show ${find}`),
    },
  ];
}

function printWaiting({ terminal }: Context, { forImport, forTime }: WaitingCounts): void {
  if (forImport > 0) {
    terminal.printLine();
    terminal.printLine(
      ngettext(
        msgid`${forImport} number or photograph waits for the import of its find.`,
        `${forImport} numbers and photographs wait for the import of their find.`,
        forImport,
      ),
    );
  }
  if (forTime > 0) {
    terminal.printLine(t`Waiting for the next retry: ${forTime}.`);
  }
}

function formatDelay(entry: Entry, nowMs: number): string {
  const { notBeforeAt } = entry;
  const reason = entry.reason ?? '';
  const at = formatMoment(notBeforeAt, nowMs);
  return `${formatEntry(entry)}: ${notBeforeAt > nowMs ? t`${reason}; not before ${at}` : reason}`;
}

/** Action for entries that only a person or evidence can settle. */
type Step = {
  readonly title: Message;
  readonly takes: (entry: Entry) => boolean;
  /** Only for uncertain entries: a command that may settle all of them. */
  readonly command?: Message;
};

const STEPS: readonly Step[] = [
  {
    title: msg`Answer the questions about these; until then they are not sent, nor the rows in question imported:`,
    takes: ({ held }) => held !== null,
  },
  {
    title: msg`Complete these drafts:`,
    takes: ({ state, held }) => state === 'draft' && held === null,
  },
  {
    title: msg`Correct these; the service refused them. Once a reason outside the find is settled, send it unchanged with ${cmd`pas resolve`} FIND --resend:`,
    takes: ({ state, kind, held }) => state === 'refused' && kind === 'import' && held === null,
  },
  {
    title: msg`Send these again with another value or file, or drop them. Once a reason outside them is settled, send them unchanged:`,
    takes: ({ state, kind }) => state === 'refused' && kind !== 'import',
  },
  {
    title: msg`Find out whether the service has these; decide yourself where a harvest cannot tell:`,
    takes: ({ state }) => state === 'uncertain',
    command: cmd`pas reconcile`,
  },
];

/** Formats entries, each with its reason and the command that settles it. */
function formatEntries(
  entries: readonly Entry[],
  explain: (entry: Entry) => string,
): readonly Message[] {
  const lines = entries
    .slice(0, MAX_SHOWN)
    .flatMap((entry) => [
      `${formatEntry(entry)}: ${explain(entry)}`,
      `  ${getSettlingCommand(entry)}`,
    ]);
  const more = entries.length - MAX_SHOWN;
  return more > 0 ? [...lines, t`… and ${more} more (${cmd`pas status --json`})`] : lines;
}

function describeReason({ held, reason, issues }: Entry): string {
  if (held !== null) return String(held.question);
  const errors = issues.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return String(reason ?? '');
  const firstText =
    first.element === undefined ? first.message : `${first.element}: ${first.message}`;
  const more = errors.length - 1;
  return more === 0 ? firstText : `${firstText} ${t`(and ${more} more)`}`;
}
