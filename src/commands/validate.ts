import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { type ExitReason, FileError, UsageError } from '../base/errors.ts';
import { hasErrors, type Issue } from '../base/issue.ts';
import { t } from '../base/language.ts';
import { shellWord } from '../base/shell-word.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { readMappingFile, readStandardInput, STANDARD_INPUT } from '../context/own-files.ts';
import { asFind, foldUnchecked, openValidation, openValidationContext } from '../context/validation.ts';
import { checkDocument } from '../find/check-document.ts';
import { checkMapping } from '../find/check-mapping.ts';
import { readInputFile } from '../find/input-file.ts';
import { contentOf } from '../flows/enqueue-finds.ts';
import { type ImportContent, importOfFind, replaceImport } from '../outbox/entries.ts';
import { allFinds, findByIdentCely, findByLocalId } from '../outbox/finds.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import { issueValues, printIssues } from '../ui/issues.ts';
import { defineCommand, type Runner } from './command.ts';
import { findsNamed } from './named-finds.ts';

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'validate [find-or-file...]',
    summary: t`Check finds of the outbox, or XML documents, against everything that the service would refuse.`,
    examples: ['pas validate', 'pas validate K-017 document.xml --json'],
  }).action((names: string[], options: GlobalOptions) => run(options, (context) => validate(context, names)));
}

type Verdict = { valid: number; invalid: number; issues: Issue[] };

export async function validate(context: Context, names: readonly string[]): Promise<ExitReason> {
  const { terminal } = context;
  const verdict: Verdict = { valid: 0, invalid: 0, issues: [] };
  const files = names.filter((name) => name === '-' || name.toLowerCase().endsWith('.xml'));
  const finds = names.filter((name) => !files.includes(name));
  for (const name of finds) await refuseOtherFile(context, name);
  for (const file of files) await validateFile(context, file, verdict);
  if (names.length === 0 || finds.length > 0) await validateFinds(context, finds, verdict);
  const issues = [...foldUnchecked(verdict.issues), ...(names.length === 0 ? await mappingWarnings(context) : [])];
  printIssues(terminal, issues);
  terminal.line(t`${verdict.valid} valid, ${verdict.invalid} not.`);
  terminal.value({ valid: verdict.valid, invalid: verdict.invalid, issues: issueValues(terminal, issues) });
  return verdict.invalid > 0 ? 'dataRefused' : 'done';
}

/** @throws FileError, UsageError where the name is no find's, and a folder or a file that is no XML has it */
async function refuseOtherFile(context: Context, name: string): Promise<void> {
  const outbox = await context.outbox();
  const isFind = (findByLocalId(outbox, name) ?? findByIdentCely(outbox, name)) !== undefined;
  const found = isFind ? undefined : statSync(name, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isDirectory()) throw new FileError(name, t`${name} is a folder, not a file.`);
  const file = shellWord(name);
  throw new UsageError(t`${name} is neither a find nor a file that ends in .xml.`, {
    hint: t`To check a table: pas import ${file} --dry-run`,
  });
}

async function validateFile(context: Context, file: string, verdict: Verdict): Promise<void> {
  const bytes = file === '-' ? await readStandardInput(context) : await readInputFile(file);
  note(verdict, checkDocument(file === '-' ? STANDARD_INPUT : file, bytes, await openValidationContext(context)));
}

/** Also brings the entries up to date: what was a draft may be complete now that the vocabularies are harvested. */
async function validateFinds(context: Context, names: readonly string[], verdict: Verdict): Promise<void> {
  const outbox = await context.outbox();
  const check = await openValidation(context);
  const all = names.length === 0 ? [...allFinds(outbox)] : findsNamed(outbox, names);
  const progress = context.terminal.progress(t`Checking`);
  for (const [index, stored] of all.entries()) {
    progress.update(index, all.length);
    const find = asFind(stored);
    const validated = check(find);
    note(
      verdict,
      validated.issues.map((issue) => ({ find: stored.localId, ...find.source, ...issue })),
    );
    const content = contentOf(find, validated);
    outbox.change(() => bringUpToDate(outbox, stored.id, content));
  }
  progress.end();
}

/** As the entry is at this moment: a push may have taken it since the find was read. */
function bringUpToDate(outbox: ServiceOutbox, findId: number, content: ImportContent): void {
  const entry = importOfFind(outbox, findId);
  if (entry === undefined || (entry.state !== 'draft' && entry.state !== 'queued')) return;
  const same = content.document === null ? entry.document === null : entry.document?.equals(content.document) === true;
  if (!same) replaceImport(outbox, entry, content);
}

/** A term that leads nowhere spoils no find that is here; it would spoil the next that is imported. */
async function mappingWarnings(context: Context): Promise<Issue[]> {
  const { lookupTerm } = (await context.vocabulary()).lookups(context.profile().oaiBase ?? '');
  return checkMapping(readMappingFile(context), lookupTerm).map((issue) => ({ ...issue, severity: 'warning' }));
}

function note(verdict: Verdict, issues: readonly Issue[]): void {
  if (hasErrors(issues)) verdict.invalid += 1;
  else verdict.valid += 1;
  verdict.issues.push(...issues);
}
