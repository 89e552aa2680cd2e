import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context.ts';
import { ENTRY_KINDS, ENTRY_STATES, type Entry } from '../outbox/entry.ts';
import { KIND_WORDS, STATE_WORDS } from '../outbox/entry-words.ts';
import { countEntries, countFinds, countWaiting, needingPerson } from '../outbox/overview.ts';
import { table } from '../ui/table.ts';
import { printable } from '../ui/terminal.ts';
import { defineCommand, type Runner } from './command.ts';
import { findCount } from './counted.ts';
import { entryText, INSTANCE_WORDS } from './entry-words.ts';

/** More than this many are counted, not listed. */
const MOST_LISTED = 1000;
const MOST_SHOWN = 10;

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'status',
    summary: t`Show what is queued, what waits for what, and what needs a person.`,
    examples: ['pas status', 'pas status --json'],
  }).action((options: GlobalOptions) => run(options, status));
}

async function status(context: Context): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.outbox();
  const profile = context.profile();
  const finds = countFinds(outbox);
  const counts = countEntries(outbox, profile.name);
  const waiting = countWaiting(outbox, profile.name);
  const person = needingPerson(outbox, profile.name, MOST_LISTED);

  const [all, kind] = [findCount(finds), INSTANCE_WORDS[profile.kind]];
  terminal.line(t`${all}; profile ${profile.name}, ${kind}, ${profile.baseUrl}`);
  terminal.line();
  const used = ENTRY_STATES.filter((state) => ENTRY_KINDS.some((kind) => counts[kind][state] > 0));
  const rows = ENTRY_KINDS.map((each) => [KIND_WORDS[each], ...used.map((state) => String(counts[each][state]))]);
  for (const line of table(['', ...used.map((state) => STATE_WORDS[state])], rows)) terminal.line(line);
  printWaiting(context, waiting);
  for (const state of ['draft', 'refused', 'uncertain'] as const) printGroup(context, state, person);
  const sendable = ENTRY_KINDS.reduce((sum, kind) => sum + counts[kind].queued, 0);
  if (sendable > 0) {
    terminal.line();
    terminal.line(t`Send what is queued: pas push`);
  }
  terminal.value({
    finds,
    entries: counts,
    waiting: { for_import: waiting.forImport, for_time: waiting.forTime },
    needs_person: person.map((entry) => ({
      entry: entry.id,
      kind: entry.kind,
      find: entry.localId ?? entry.identCely,
      state: entry.state,
      reason: entry.reason ?? entry.issues[0]?.message ?? null,
      command: commandFor(entry),
    })),
  });
  return 'done';
}

function printWaiting({ terminal }: Context, { forImport, forTime }: ReturnType<typeof countWaiting>): void {
  if (forImport > 0) {
    terminal.line();
    terminal.line(
      ngettext(
        msgid`${forImport} number or photograph waits for its find to be imported.`,
        `${forImport} numbers and photographs wait for their find to be imported.`,
        forImport,
      ),
    );
  }
  if (forTime > 0) {
    terminal.line(
      ngettext(
        msgid`${forTime} entry waits before it is tried again.`,
        `${forTime} entries wait before they are tried again.`,
        forTime,
      ),
    );
  }
}

const GROUP_TITLES: Readonly<Record<'draft' | 'refused' | 'uncertain', string>> = {
  draft: t`Not complete; mend the table and import it again:`,
  refused: t`Refused by the service. Mend a find’s row and import the table again; send the same again with \`pas resolve\`:`,
  uncertain: t`Uncertain: the service may or may not have them. Ask it with \`pas reconcile\`; what it cannot tell, you decide:`,
};

function printGroup({ terminal }: Context, state: 'draft' | 'refused' | 'uncertain', person: readonly Entry[]): void {
  const group = person.filter((entry) => entry.state === state);
  if (group.length === 0) return;
  terminal.line(`\n${terminal.color.bold(GROUP_TITLES[state])}`);
  for (const entry of group.slice(0, MOST_SHOWN)) {
    const why = entry.reason ?? entry.issues.find((issue) => issue.severity === 'error')?.message ?? '';
    terminal.line(`  ${printable(entryText(entry.kind, entry.localId ?? entry.identCely))}: ${printable(why)}`);
    terminal.line(`    ${commandFor(entry)}`);
  }
  const more = group.length - MOST_SHOWN;
  if (more > 0) {
    terminal.line(`  ${t`… and ${more} more (pas status --json)`}`);
  }
}

/** A record may have several photographs, of which some are there and some are not: each is decided by itself. */
export function commandFor(entry: Entry): string {
  const find = entry.localId ?? entry.identCely ?? '';
  const only = entry.kind === 'import' ? '' : ` --entry ${entry.id}`;
  switch (entry.state) {
    case 'uncertain':
      return `pas resolve ${find}${only} --created ${entry.kind === 'import' ? 'IDENT' : entry.identCely} | --resend | --drop`;
    case 'refused':
      return entry.kind === 'import' ? `pas show ${find}` : `pas resolve ${find}${only} --resend | --drop`;
    default:
      return `pas show ${find}`;
  }
}
