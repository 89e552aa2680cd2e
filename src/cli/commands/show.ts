import { Option } from 'commander';
import { measureDisplayWidth, padEndText } from '../../base/characters.ts';
import { formatIso } from '../../base/clock.ts';
import { hashSha512 } from '../../base/disk/files.ts';
import type { ExitReason } from '../../base/errors.ts';
import { hasErrors } from '../../base/issue.ts';
import { cmd, formatMoment, formatSize, t } from '../../base/message.ts';
import { ATTEMPT_OUTCOMES } from '../../base/outcomes.ts';
import {
  type EntryHistory,
  findNamedFinds,
  getDocumentOfFind,
  getFindDetails,
} from '../../outbox/changes/resolve-finds.ts';
import type { Entry } from '../../outbox/entry.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { KIND_WORDS, STATE_WORDS, VERDICT_WORDS } from '../../outbox/views/entry-words.ts';
import {
  formatChange,
  formatStanding,
  type StateAtService,
  toStateAtServiceJson,
} from '../../outbox/views/records-at-service.ts';
import { explainUncertain } from '../../push/uncertain-words.ts';
import { defineCommand, type Registration } from '../command.ts';
import { type Context, findSettleMs, type GlobalOptions } from '../context/context.ts';
import { openFindValidator } from '../context/find-input.ts';
import { renewProfileDocuments } from '../context/profile-outbox.ts';
import { getSettlingCommand, toHeldQuestionJson } from '../result-texts.ts';
import { printIssues, toIssuesJson } from '../terminal.ts';

type ShowOptions = GlobalOptions & { readonly xml?: boolean };

/** Registers `pas show`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'show <find>',
    t`Show a find: its elements, its entries, and every attempt with its answer.`,
    ['pas show K-017', 'pas show K-017 --xml > K-017.xml', 'pas show C-202400101-N00001 --json'],
  )
    .addOption(
      new Option(
        '--xml',
        t`print only its import document: the one that was sent or will be, byte for byte`,
      ).conflicts('json'),
    )
    .action(
      run((context, find: string, options: ShowOptions) =>
        options.xml === true ? printDocument(context, find) : show(context, find),
      ),
    );
};

/**
 * Prints the import document of a find to stdout, byte for byte; issues go to stderr.
 * @returns `dataRefused` where it has an error
 */
async function printDocument(context: Context, name: string): Promise<ExitReason> {
  const outbox = await context.openOutbox();
  await renewProfileDocuments(context);
  const [find] = findNamedFinds(outbox, [name]);
  if (find === undefined) return 'done';
  const { document, issues } = await getDocumentOfFind(outbox, find, () =>
    openFindValidator(context),
  );
  context.streams.stdout.write(document);
  printIssues(context.terminal, issues, context.terminal.warn);
  return hasErrors(issues) ? 'dataRefused' : 'done';
}

/** Prints a find, or a record that only has entries here, with their attempts and evidence. */
async function show(context: Context, name: string): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutbox();
  const { find, elements, texts, records, stories, atService } = getFindDetails(outbox, name);
  const { file = null, row = null } = find?.wish.rows[0] ?? {};
  terminal.printLine(terminal.color.bold(find?.localId ?? name));
  if (find === undefined)
    terminal.printLine(`  ${t`a record of the service that is not stored here as a find`}`);
  else if (find.isHidden) terminal.printLine(`  ${t`removed here`}`);
  else if (file !== null)
    terminal.printLine(`  ${row === null ? t`from ${file}` : t`from ${file}, row ${row}`}`);
  const list = records.join(', ');
  if (records.length > 1)
    terminal.printLine(`  ${t`the service has several records of it: ${list}`}`);
  printFacts(context, texts);
  if (atService !== undefined) printStateAtService(context, atService);
  for (const story of stories) printStory(context, outbox, story);
  terminal.printValue({
    find: find?.uuid ?? null,
    local_id: find?.localId ?? null,
    ident_cely: find === undefined ? name : undefined,
    source: file === null ? null : { file, row },
    elements,
    records,
    at_service: atService === undefined ? null : toStateAtServiceJson(atService),
    entries: stories.map(toStoryJson),
  });
  return 'done';
}

function printFacts(
  { terminal }: Context,
  facts: readonly (readonly [name: string, text: string | undefined])[],
): void {
  const width = Math.max(20, ...facts.map(([name]) => measureDisplayWidth(name)));
  for (const [name, text = ''] of facts) {
    if (text !== '')
      terminal.printLine(
        `  ${padEndText(name, width)} ${text.replaceAll('\n', `\n${' '.repeat(width + 3)}`)}`,
      );
  }
}

function printStateAtService(context: Context, { pulled, changes }: StateAtService): void {
  const { record } = pulled;
  const { terminal } = context;
  terminal.printLine();
  const standing = terminal.color.bold(formatStanding(pulled));
  const seenText = formatMoment(pulled.seenMs);
  terminal.printLine(t`in the service: ${standing}, as of ${seenText}`);
  printFacts(context, [
    [t`number`, record?.elements.evidencni_cislo?.toString()],
    [t`photographs`, record?.files.map(({ name }) => name).join(', ')],
    [
      t`area`,
      record?.area?.text ??
        (record?.protectedWithheld === true ? t`hidden from this account` : undefined),
    ],
    [t`district`, record?.district?.text],
  ]);
  for (const change of changes) {
    const what = formatChange(change);
    terminal.printLine(`  ${t`differs from the find here: ${what}`}`);
  }
}

function printStory(
  context: Context,
  outbox: Outbox,
  { entry, attempts, evidence }: EntryHistory,
): void {
  const { terminal } = context;
  terminal.printLine();
  terminal.printLine(
    `${formatEntryTitle(entry)}: ${terminal.color.bold(STATE_WORDS[entry.state])}${entry.identCely === null ? '' : `  ${entry.identCely}`}`,
  );
  if (entry.differsFromAccepted)
    terminal.printLine(
      `  ${t`The service has the version that was sent, not this one. Only its number can still be sent.`}`,
    );
  if (entry.state === 'uncertain')
    terminal.printLine(`  ${explainUncertain(outbox, entry.id, findSettleMs(context))[0]}`);
  for (const line of describeEntry(entry)) terminal.printLine(`  ${line}`);
  printIssues(terminal, entry.issues, (text) => terminal.printLine(`  ${text}`));
  for (const attempt of attempts) {
    const ended =
      attempt.endedAt === null ? t`duration unknown` : `${attempt.endedAt - attempt.startedAt} ms`;
    const outcome = attempt.outcome === null ? '' : ATTEMPT_OUTCOMES[attempt.outcome].word;
    terminal.printLine(
      `  ${formatMoment(attempt.startedAt)}  ${attempt.method} ${attempt.path}  ${attempt.status ?? '–'}  ${outcome}  ${ended}`,
    );
    if (attempt.reason !== null && String(attempt.reason) !== String(entry.reason))
      terminal.printLine(`    ${attempt.reason}`);
  }
  for (const { at, verdict, reason, candidates } of evidence) {
    const names = candidates.length === 0 ? '' : ` (${candidates.join(', ')})`;
    const verdictText = VERDICT_WORDS[verdict];
    terminal.printLine(`  ${formatMoment(at)}  ${t`evidence: ${verdictText}; ${reason}`}${names}`);
  }
}

function describeEntry(entry: Entry): string[] {
  const lines: string[] = [];
  // The values of the service are printed beside the elements below.
  if (entry.reason !== null && (entry.state !== 'refused' || entry.issues.length === 0))
    lines.push(String(entry.reason));
  if (entry.kind === 'import' && entry.document !== null) {
    const sizeBytes = entry.document.length;
    const digest = hashSha512(entry.document).slice(0, 16);
    const find = entry.localId ?? '';
    lines.push(
      t`document of ${sizeBytes} bytes, SHA-512 ${digest}…; to read it: ${cmd`pas show ${find} --xml`}`,
    );
  }
  if (entry.held !== null) {
    const { question } = entry.held;
    lines.push(t`held: ${question}`);
  }
  if (entry.held !== null || ['draft', 'refused', 'uncertain'].includes(entry.state)) {
    const next = getSettlingCommand(entry);
    lines.push(t`next: ${next}`);
  }
  return lines;
}

function formatEntryTitle(entry: Entry): string {
  switch (entry.kind) {
    case 'import':
      return String(KIND_WORDS.import);
    case 'number':
      return t`number ${entry.value}`;
    case 'photo': {
      const { name, sizeBytes } = entry.photograph;
      const size = formatSize(sizeBytes);
      return t`photograph ${name} (${size})`;
    }
  }
}

function toStoryJson({ entry, attempts, evidence }: EntryHistory): Record<string, unknown> {
  return {
    entry: entry.id,
    kind: entry.kind,
    state: entry.state,
    ident_cely: entry.identCely,
    reason: entry.reason === null ? null : String(entry.reason),
    ...toHeldQuestionJson(entry),
    ...toContentJson(entry),
    issues: toIssuesJson(entry.issues),
    evidence: evidence.map(({ at, ...rest }) => ({
      found_at: formatIso(at),
      ...rest,
    })),
    attempts: attempts.map(({ startedAt, endedAt, method, path, status, outcome, reason }) => ({
      started_at: formatIso(startedAt),
      ended_at: formatIso(endedAt),
      method,
      path,
      status,
      outcome,
      reason,
    })),
  };
}

function toContentJson(entry: Entry): Record<string, unknown> {
  switch (entry.kind) {
    case 'import':
      return {
        document: entry.document?.toString('utf8') ?? null,
        sha512: entry.document === null ? null : hashSha512(entry.document),
      };
    case 'number':
      return { value: entry.value };
    case 'photo':
      return { photo: entry.photograph.name, sha512: entry.photograph.sha512 };
  }
}
