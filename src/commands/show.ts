import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import { shellWord } from '../base/shell-word.ts';
import { profileFlag } from '../context/advice.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { NEW_PERSON } from '../find/resolve-reference.ts';
import { targetOf } from '../flows/enqueue-change.ts';
import { KIND_WORDS, STATE_WORDS, VERDICT_WORDS } from '../flows/entry-words.ts';
import { refuseUntouched } from '../flows/named-finds.ts';
import { sentFind } from '../flows/sent-finds.ts';
import { entriesOfFind, entriesOfRecord, importsElsewhere } from '../outbox/entries.ts';
import type { Attempt, Entry } from '../outbox/entry.ts';
import { type Evidence, evidenceOf } from '../outbox/evidence.ts';
import { findById, type StoredFind } from '../outbox/finds.ts';
import { attemptsOf } from '../outbox/journal.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import { pulledRecord } from '../outbox/pulled.ts';
import { allServices } from '../outbox/services.ts';
import { issueValues, printIssues } from '../ui/issues.ts';
import { printable, type Terminal } from '../ui/terminal.ts';
import { type AtService, atService, atServiceValue, changeText, standingText } from './at-service.ts';
import { defineCommand, type Runner } from './command.ts';
import { commandFor } from './next-command.ts';

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'show <find>',
    summary: t`Show a find: its elements, its entries, and every attempt with its answer.`,
    examples: ['pas show K-017', 'pas show C-202400101-N00001 --json'],
  }).action((find: string, options: GlobalOptions) => run(options, (context) => show(context, find)));
}

type Story = { readonly entry: Entry; readonly attempts: readonly Attempt[]; readonly evidence: readonly Evidence[] };

async function show(context: Context, name: string): Promise<ExitReason> {
  const outbox = await context.outbox();
  const target = targetOf(outbox, name);
  const find = target.findId === null ? undefined : findById(outbox, target.findId);
  if (find === undefined) return showRecord(context, outbox, name);
  const stories = storiesOf(outbox, entriesOfFind(outbox, find.id));
  const others = standingsElsewhere(outbox, find.id);
  const sent = sentFind(outbox, find);
  const pulled = sent === undefined ? undefined : pulledRecord(outbox, sent.identCely);
  printFind(context, find);
  if (sent !== undefined && pulled !== undefined) printAtService(context, atService(sent, pulled));
  for (const story of stories) printStory(context, story);
  for (const other of others) printOther(context, other);
  context.terminal.value({
    find: find.id,
    local_id: find.localId,
    source: find.sourceFile === null ? null : { file: find.sourceFile, row: find.sourceRow },
    elements: find.elements,
    at_service: atServiceValue(sent, pulled),
    entries: stories.map((story) => storyValue(context.terminal, story)),
    other_profiles: others.map(({ profile, service, entry }) => ({
      profile,
      service,
      state: entry.state,
      ident_cely: entry.identCely,
    })),
  });
  return 'done';
}

/** A record of the service that is no find here, but that something was queued for. */
function showRecord(context: Context, outbox: ServiceOutbox, name: string): ExitReason {
  refuseUntouched(outbox, name);
  const stories = storiesOf(outbox, entriesOfRecord(outbox, name));
  context.terminal.line(context.terminal.color.bold(name));
  context.terminal.line(`  ${t`a record of the service that is not kept here as a find`}`);
  for (const story of stories) printStory(context, story);
  context.terminal.value({
    find: null,
    local_id: null,
    ident_cely: name,
    source: null,
    elements: {},
    at_service: null,
    entries: stories.map((story) => storyValue(context.terminal, story)),
    other_profiles: [],
  });
  return 'done';
}

function storiesOf(outbox: ServiceOutbox, entries: readonly Entry[]): Story[] {
  return entries.map((entry) => ({ entry, attempts: attemptsOf(outbox, entry.id), evidence: evidenceOf(outbox, entry.id) }));
}

type Elsewhere = { readonly entry: Entry; readonly service: string; readonly profile: string | null };

/** What has become of the find at other services. */
function standingsElsewhere(outbox: ServiceOutbox, findId: number): Elsewhere[] {
  const services = new Map(allServices(outbox).map((row) => [row.id, row]));
  return importsElsewhere(outbox, findId).map((entry) => {
    const { address = null, knownAs = null, profiles = [] } = services.get(entry.serviceId) ?? {};
    return { entry, service: address ?? knownAs ?? '', profile: profiles[0] ?? null };
  });
}

function printOther({ terminal }: Context, { entry: { state, identCely }, service }: Elsewhere): void {
  const word = STATE_WORDS[state];
  terminal.line();
  terminal.line(identCely === null ? t`for ${service}: ${word}` : t`for ${service}: ${word} as ${identCely}`);
}

function printFind({ terminal }: Context, find: StoredFind): void {
  terminal.line(terminal.color.bold(printable(find.localId)));
  if (find.sourceFile !== null) terminal.line(`  ${originText(printable(find.sourceFile), find.sourceRow)}`);
  for (const [element, value] of Object.entries(find.elements))
    terminal.line(`  ${element.padEnd(20)} ${printable(valueText(value)).replaceAll('\n', `\n${' '.repeat(23)}`)}`);
}

function originText(file: string, row: number | null): string {
  return row === null ? t`from ${file}` : t`from ${file}, row ${row}`;
}

function printAtService({ terminal }: Context, { pulled, record, changes }: AtService): void {
  terminal.line();
  const [standing, seen] = [terminal.color.bold(standingText(pulled)), new Date(pulled.seenMs).toISOString()];
  terminal.line(t`at the service: ${standing}, as of ${seen}`);
  const facts: readonly (readonly [string, string | undefined])[] = [
    [t`number`, record?.elements.evidencni_cislo?.toString()],
    [t`photographs`, record?.files.map(({ name }) => name).join(', ')],
    [t`area`, record?.area?.text ?? (record?.protectedWithheld === true ? t`withheld from this account` : undefined)],
    [t`district`, record?.district?.text],
  ];
  for (const [name, text] of facts) {
    if (text !== undefined && text !== '') terminal.line(`  ${name.padEnd(20)} ${printable(text)}`);
  }
  for (const change of changes) {
    const what = printable(changeText(change));
    terminal.line(`  ${t`changed since it was sent: ${what}`}`);
  }
}

function valueText(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'id' in value) {
    const [id, text] = [String(value.id), 'text' in value ? String(value.text) : ''];
    // A person by name has no identifier yet.
    if (id === NEW_PERSON) return text;
    return text === '' || text === id ? id : `${text} (${id})`;
  }
  return String(value);
}

function printStory(context: Context, { entry, attempts, evidence }: Story): void {
  const { terminal } = context;
  terminal.line();
  terminal.line(
    `${entryTitle(entry)}: ${terminal.color.bold(STATE_WORDS[entry.state])}${entry.identCely === null ? '' : `  ${entry.identCely}`}`,
  );
  for (const line of aboutEntry(entry, profileFlag(context), terminal.advised)) terminal.line(`  ${line}`);
  printIssues(terminal, entry.issues, (text) => terminal.line(`  ${text}`));
  for (const attempt of attempts) {
    const ended = attempt.endedAt === null ? t`no end known` : `${attempt.endedAt - attempt.startedAt} ms`;
    terminal.line(
      `  ${new Date(attempt.startedAt).toISOString()}  ${attempt.method} ${attempt.path}  ${attempt.status ?? '–'}  ${attempt.outcome ?? ''}  ${ended}`,
    );
    if (attempt.reason !== null && attempt.reason !== entry.reason)
      terminal.line(`    ${printable(terminal.advised(attempt.reason))}`);
  }
  for (const { foundAt, verdict, reason, candidates } of evidence) {
    const named = candidates.length === 0 ? '' : ` (${candidates.map(printable).join(', ')})`;
    const [found, why] = [VERDICT_WORDS[verdict], printable(reason)];
    terminal.line(`  ${new Date(foundAt).toISOString()}  ${t`evidence: ${found}; ${why}`}${named}`);
  }
}

function aboutEntry(entry: Entry, flag: string, advised: Terminal['advised']): string[] {
  const lines: string[] = [];
  // What the service found stands beside its elements below.
  if (entry.reason !== null && (entry.state !== 'refused' || entry.issues.length === 0))
    lines.push(printable(advised(entry.reason)));
  if (entry.doubt !== null) {
    const [from, until] = [new Date(entry.doubt.fromMs).toISOString(), new Date(entry.doubt.untilMs).toISOString()];
    lines.push(t`it may have been sent between ${from}, when the backup was made, and ${until}, when it was put back`);
  }
  if (entry.kind === 'import' && entry.document !== null) {
    const sizeBytes = entry.document.length;
    const digest = entry.documentSha512?.toString('hex').slice(0, 16) ?? '';
    const find = `${shellWord(entry.localId ?? '')}${flag}`;
    lines.push(t`document of ${sizeBytes} bytes, SHA-512 ${digest}…; to read it: pas build ${find}`);
  }
  const next = ['draft', 'refused', 'uncertain'].includes(entry.state) ? commandFor(entry, flag) : undefined;
  if (next !== undefined) lines.push(t`next: ${next}`);
  return lines;
}

function entryTitle(entry: Entry): string {
  switch (entry.kind) {
    case 'import':
      return KIND_WORDS.import;
    case 'number': {
      const value = printable(entry.value);
      return t`number ${value}`;
    }
    case 'photo': {
      const name = printable(entry.photograph.name);
      const { sizeBytes } = entry.photograph;
      return ngettext(msgid`photograph ${name} (${sizeBytes} byte)`, `photograph ${name} (${sizeBytes} bytes)`, sizeBytes);
    }
  }
}

function storyValue(terminal: Terminal, { entry, attempts, evidence }: Story): Record<string, unknown> {
  return {
    entry: entry.id,
    kind: entry.kind,
    state: entry.state,
    ident_cely: entry.identCely,
    reason: entry.reason === null ? null : terminal.advised(entry.reason),
    ...(entry.kind === 'import'
      ? { document: entry.document?.toString('utf8') ?? null, sha512: entry.documentSha512?.toString('hex') ?? null }
      : {}),
    ...(entry.kind === 'number' ? { value: entry.value } : {}),
    ...(entry.kind === 'photo' ? { photo: entry.photograph.name, sha512: entry.photograph.sha512.toString('hex') } : {}),
    issues: issueValues(terminal, entry.issues),
    evidence: evidence.map(({ foundAt, ...rest }) => ({ found_at: new Date(foundAt).toISOString(), ...rest })),
    attempts: attempts.map((attempt) => ({
      started_at: new Date(attempt.startedAt).toISOString(),
      ended_at: attempt.endedAt === null ? null : new Date(attempt.endedAt).toISOString(),
      method: attempt.method,
      path: attempt.path,
      status: attempt.status,
      outcome: attempt.outcome,
      reason: attempt.reason,
    })),
  };
}
