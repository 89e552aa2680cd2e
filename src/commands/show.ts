import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context.ts';
import { sentFind } from '../flows/sent-finds.ts';
import { entriesOfFind } from '../outbox/entries.ts';
import type { Attempt, Entry } from '../outbox/entry.ts';
import { KIND_WORDS, STATE_WORDS } from '../outbox/entry-words.ts';
import { type Evidence, evidenceOf } from '../outbox/evidence.ts';
import type { StoredFind } from '../outbox/finds.ts';
import { attemptsOf } from '../outbox/journal.ts';
import { pulledRecord } from '../outbox/pulled.ts';
import { issueValue, printIssues } from '../ui/issues.ts';
import { printable } from '../ui/terminal.ts';
import { type AtService, atService, atServiceValue, changeText, standingText } from './at-service.ts';
import { defineCommand, type Runner } from './command.ts';
import { VERDICT_WORDS } from './entry-words.ts';
import { findsNamed } from './finds.ts';

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
  const profile = context.profile().name;
  const [find] = findsNamed(outbox, profile, [name]);
  if (find === undefined) return 'done';
  const stories = entriesOfFind(outbox, find.id, profile).map((entry) => ({
    entry,
    attempts: attemptsOf(outbox, entry.id),
    evidence: evidenceOf(outbox, entry.id),
  }));
  const sent = sentFind(outbox, profile, find);
  const pulled = sent === undefined ? undefined : pulledRecord(outbox, profile, sent.identCely);
  printFind(context, find);
  if (sent !== undefined && pulled !== undefined) printAtService(context, atService(sent, pulled));
  for (const story of stories) printStory(context, story);
  context.terminal.value({
    find: find.id,
    local_id: find.localId,
    source: find.sourceFile === null ? null : { file: find.sourceFile, row: find.sourceRow },
    elements: find.elements,
    at_service: atServiceValue(sent, pulled),
    entries: stories.map(storyValue),
  });
  return 'done';
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
    return 'text' in value && value.text !== '' ? `${String(value.text)} (${String(value.id)})` : String(value.id);
  }
  return String(value);
}

function printStory({ terminal }: Context, { entry, attempts, evidence }: Story): void {
  terminal.line();
  terminal.line(
    `${entryTitle(entry)}: ${terminal.color.bold(STATE_WORDS[entry.state])}${entry.identCely === null ? '' : `  ${entry.identCely}`}`,
  );
  if (entry.reason !== null) terminal.line(`  ${printable(entry.reason)}`);
  printIssues(terminal, entry.issues, (text) => terminal.line(`  ${text}`));
  for (const attempt of attempts) {
    const ended = attempt.endedAt === null ? t`no end known` : `${attempt.endedAt - attempt.startedAt} ms`;
    terminal.line(
      `  ${new Date(attempt.startedAt).toISOString()}  ${attempt.method} ${attempt.path}  ${attempt.status ?? '–'}  ${attempt.outcome ?? ''}  ${ended}`,
    );
  }
  for (const { foundAt, verdict, reason, candidates } of evidence) {
    const named = candidates.length === 0 ? '' : ` (${candidates.map(printable).join(', ')})`;
    const [found, why] = [VERDICT_WORDS[verdict], printable(reason)];
    terminal.line(`  ${new Date(foundAt).toISOString()}  ${t`evidence: ${found}; ${why}`}${named}`);
  }
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

function storyValue({ entry, attempts, evidence }: Story): Record<string, unknown> {
  return {
    entry: entry.id,
    kind: entry.kind,
    state: entry.state,
    ident_cely: entry.identCely,
    reason: entry.reason,
    ...(entry.kind === 'number' ? { value: entry.value } : {}),
    ...(entry.kind === 'photo' ? { photo: entry.photograph.name, sha512: entry.photograph.sha512.toString('hex') } : {}),
    issues: entry.issues.map(issueValue),
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
