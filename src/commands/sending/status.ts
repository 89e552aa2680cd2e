import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { formatMoment, msgid, ngettext, t } from '../../base/language.ts';
import { cmd, type Message, msg } from '../../base/message.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { findOwnHarvestBase, getPlaceOfSecrets } from '../../context/open-service.ts';
import { readSharedPause } from '../../context/pacing.ts';
import { formatEntry, KIND_WORDS, STATE_WORDS } from '../../flows/finds/entry-words.ts';
import {
  getOutboxStatus,
  isPushRunning,
  isVocabularyEmpty,
  type NewPerson,
} from '../../flows/finds/outbox-status.ts';
import type { Entry } from '../../outbox/entry.ts';
import type { Delay, Waiting } from '../../outbox/overview.ts';
import { explainUncertain, findReassignment } from '../../push/uncertain-text.ts';
import { defineCommand, type Runner } from '../command.ts';
import {
  findCommandFor,
  formatFindCount,
  formatMore,
  INSTANCE_WORDS,
  listAnswers,
  toHeldJson,
} from '../result-texts.ts';
import { findNewPeople, printNewPeople, toNewPeopleJson } from './print-new-people.ts';

const MAX_SHOWN = 10;

type OutboxState = ReturnType<typeof getOutboxStatus>;

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'status',
    summary: t`Show the queue, what each entry waits for, and what needs your attention.`,
    examples: ['pas status', 'pas status --json'],
  }).action(run(showStatus));
}

async function showStatus(context: Context, options: GlobalOptions): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutboxToRead();
  const profile = context.getProfile();
  const state = getOutboxStatus(outbox);
  const { finds, entries, table, waiting, delayed, dropped, needsPerson } = state;
  printProfile(context, finds);
  const people = await findNewPeople(context, outbox);
  const next = await makeNextSteps(context, state, people);
  printNext(context, next.first);
  if (finds > 0) terminal.printLine();
  if (finds > 0)
    await terminal.printTable(
      ['', ...table.states.map((state) => STATE_WORDS[state])],
      table.rows.map((row) => [KIND_WORDS[row.kind], ...row.counts.map(String)]),
    );
  printWaiting(context, waiting);
  printDelays(context, delayed);
  const pause = await readSharedPause(context, profile);
  if (pause.text !== undefined) terminal.printLine(pause.text);
  printHeld(context, needsPerson);
  for (const step of STEPS)
    printStep(context, step, needsPerson, {
      why: (entry) =>
        entry.state === 'uncertain'
          ? explainUncertain(outbox, entry.id, profile.settleMs).slice(
              0,
              options.verbose === true ? undefined : 1,
            )
          : [describeReason(entry)],
      getKind: (entry) => findReassignment(outbox, entry.id) ?? String(entry.id),
    });
  printDropped(context, dropped);
  printChangedFinds(context, state.changed);
  if (people.some(({ isAccepted }) => !isAccepted)) terminal.printLine();
  printNewPeople(context, people, terminal.printLine);
  if (pause.text === undefined) printNext(context, next.last);
  terminal.printValue({
    finds,
    entries,
    waiting: {
      for_import: waiting.forImport,
      for_given_up: waiting.forDropped,
      for_person: waiting.forPerson,
      for_time: waiting.forTime,
      reasons: delayed.map(({ notBeforeAt, ...delay }) => ({
        ...delay,
        reason: String(delay.reason),
        not_before: new Date(notBeforeAt).toISOString(),
      })),
    },
    ...pause.value,
    new_people: toNewPeopleJson(people),
    next: [...next.first, ...next.last].flatMap(({ commands }) => commands.map(String)),
    needs_person: needsPerson.map((entry) => ({
      entry: entry.id,
      kind: entry.kind,
      find: entry.localId ?? entry.identCely,
      state: entry.state,
      reason: String(entry.reason ?? entry.issues[0]?.message ?? '') || null,
      ...toHeldJson(entry),
      command: findCommandFor(entry),
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

type NextStep = { readonly title: string; readonly commands: readonly Message[] };

/**
 * Lists the next steps except those of entries: those before a push, and those with sendable
 * entries.
 */
async function makeNextSteps(
  context: Context,
  state: OutboxState,
  people: readonly NewPerson[],
): Promise<{ first: readonly NextStep[]; last: readonly NextStep[] }> {
  const { oaiBase } = context.getProfile();
  const vocabulary = existsSync(context.places.vocabularyFile)
    ? (await context.openVocabularyToRead()).openSource(oaiBase ?? '')
    : undefined;
  const first: NextStep[] = [];
  if (getPlaceOfSecrets(context) === 'nowhere')
    first.push({ title: t`Sign in:`, commands: [cmd`pas login`] });
  if (oaiBase !== undefined && isVocabularyEmpty(vocabulary))
    first.push({
      title: t`Harvest the vocabularies; finds are checked with them offline:`,
      commands: [cmd`pas harvest-vocab`],
    });
  if (state.isEmpty)
    first.push({
      title: t`Enter a find, or import a table with \`${cmd`pas import`} FILE\`:`,
      commands: [cmd`pas add`],
    });
  const last: NextStep[] = [];
  const isAnyoneNew = people.some(({ isAccepted }) => !isAccepted);
  const send = isAnyoneNew ? cmd`pas push --accept-new-people` : cmd`pas push`;
  if (state.sending > 0 && !isPushRunning(context.pushLock()))
    last.push({
      title: t`A push was interrupted. Look up what it sent:`,
      commands: [cmd`pas push`],
    });
  if (state.sendable > 0) last.push({ title: t`Send what is queued:`, commands: [send] });
  if (state.isAllDone) {
    const look = findOwnHarvestBase(context) === undefined ? cmd`pas list` : cmd`pas pull`;
    last.push({
      title: t`Everything is sent. Read the current states from the service:`,
      commands: [look],
    });
  }
  return { first, last };
}

function printNext({ terminal }: Context, steps: readonly NextStep[]): void {
  for (const { title, commands } of steps) {
    terminal.printLine(`\n${terminal.color.bold(title)}`);
    for (const command of commands) terminal.printLine(`  ${command}`);
  }
}

function printWaiting({ terminal }: Context, { forImport, forTime }: Waiting): void {
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
    terminal.printLine(
      ngettext(
        msgid`${forTime} entry waits for its next retry.`,
        `${forTime} entries wait for their next retry.`,
        forTime,
      ),
    );
  }
}

function printDelays({ terminal, clock }: Context, delayed: readonly Delay[]): void {
  if (delayed.length === 0) return;
  terminal.printLine(
    `\n${terminal.color.bold(t`Tried and still queued; \`${cmd`pas push`} FIND\` retries a find now:`)}`,
  );
  for (const { kind, reason, count, find, notBeforeAt } of delayed) {
    const word = KIND_WORDS[kind];
    const what = count === 1 ? formatEntry(kind, find) : t`${word}, ${count} in total`;
    const at = formatMoment(notBeforeAt, clock.now());
    terminal.printLine(
      `  ${what}: ${notBeforeAt > clock.now() ? t`${reason}; not before ${at}` : reason}`,
    );
  }
}

/** Prints questions first: held entries are sent only after an answer. */
function printHeld({ terminal }: Context, person: readonly Entry[]): void {
  const entries = person.filter(({ held }) => held !== null);
  if (entries.length === 0) return;
  terminal.printLine(
    `\n${terminal.color.bold(t`Answer the questions about these; they are held until then:`)}`,
  );
  for (const entry of entries.slice(0, MAX_SHOWN)) {
    const names = entry.held?.candidates.join(', ') ?? '';
    const what = formatEntry(entry.kind, entry.localId ?? entry.identCely);
    terminal.printLine(`  ${what}: ${entry.held?.question ?? ''}`);
    if (names !== '') terminal.printLine(`    ${t`candidates: ${names}`}`);
    for (const command of listAnswers(entry)) terminal.printLine(`    ${command}`);
  }
  printMore(terminal, entries.length - MAX_SHOWN);
}

function printMore(terminal: Context['terminal'], more: number): void {
  if (more > 0) terminal.printLine(`  ${t`… and ${more} more (${cmd`pas status --json`})`}`);
}

type EntryWords = {
  readonly why: (entry: Entry) => readonly string[];
  /** Equal for entries that are grouped. */
  readonly getKind: (entry: Entry) => string;
};

/** Action for entries that only a person or evidence can settle. */
type Step = {
  readonly title: Message;
  readonly takes: (entry: Entry) => boolean;
  readonly command: Message | undefined;
};

const STEPS: readonly Step[] = [
  {
    title: msg`Complete these drafts:`,
    takes: ({ state }) => state === 'draft',
    command: undefined,
  },
  {
    title: msg`Correct these; the service refused them:`,
    takes: (entry) => entry.state === 'refused' && entry.kind === 'import',
    command: undefined,
  },
  {
    title: msg`Send these again with another value or file, or drop them:`,
    takes: ({ state, kind }) => state === 'refused' && kind !== 'import',
    command: undefined,
  },
  {
    title: msg`Find out whether the service has these; decide yourself where a harvest cannot tell:`,
    takes: ({ state }) => state === 'uncertain',
    command: cmd`pas reconcile`,
  },
];

function printStep(
  { terminal }: Context,
  { title, takes, command }: Step,
  person: readonly Entry[],
  words: EntryWords,
): void {
  const group = person.filter(takes);
  if (group.length === 0) return;
  terminal.printLine(`\n${terminal.color.bold(title)}`);
  if (command !== undefined) terminal.printLine(`  ${command}`);
  const alike = new Map<string, Entry[]>();
  for (const entry of group)
    alike.set(words.getKind(entry), [...(alike.get(words.getKind(entry)) ?? []), entry]);
  for (const [entry, ...more] of [...alike.values()].slice(0, MAX_SHOWN)) {
    if (entry === undefined) continue;
    const [first = '', ...otherReasons] = words.why(entry);
    const what = String(formatEntry(entry.kind, entry.localId ?? entry.identCely));
    terminal.printLine(`  ${formatMore(what, more.length, first)}`);
    for (const line of otherReasons) terminal.printLine(`    ${line}`);
    terminal.printLine(`    ${findCommandFor(entry)}`);
  }
  printMore(terminal, alike.size - MAX_SHOWN);
}

function describeReason({ reason, issues }: Entry): string {
  const errors = issues.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return String(reason ?? '');
  const firstText =
    first.element === undefined ? first.message : `${first.element}: ${first.message}`;
  const more = errors.length - 1;
  return more === 0
    ? firstText
    : `${firstText} ${ngettext(msgid`(and ${more} more)`, `(and ${more} more)`, more)}`;
}

/** Prints photographs that no other list names, since they wait without end. */
function printChangedFinds({ terminal }: Context, finds: readonly string[]): void {
  if (finds.length === 0) return;
  const title = t`Compare these finds with their records; another version was sent from a copy of this outbox:`;
  terminal.printLine(`\n${terminal.color.bold(title)}`);
  for (const find of finds.slice(0, MAX_SHOWN)) terminal.printLine(`  ${cmd`pas show ${find}`}`);
}

function printDropped({ terminal }: Context, finds: readonly string[]): void {
  if (finds.length === 0) return;
  const title = t`Queue these finds again or remove them; they were dropped, but numbers and photographs are waiting for them:`;
  terminal.printLine(`\n${terminal.color.bold(title)}`);
  for (const find of finds.slice(0, MAX_SHOWN)) {
    for (const command of [cmd`pas resolve ${find} --resend`, cmd`pas remove ${find}`])
      terminal.printLine(`  ${command}`);
  }
}
