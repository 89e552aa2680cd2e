import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { hasErrors, type Issue } from '../base/issue.ts';
import { t } from '../base/language.ts';
import { shellWord } from '../base/shell-word.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { asFind, foldUnchecked, openLookups, openValidation } from '../context/validation.ts';
import { type Cells, cellsOf, editText, readEditText, withChanges } from '../find/edit-text.ts';
import { FIELDS } from '../find/fields.ts';
import type { FindElements } from '../find/find.ts';
import { settingsOrRefusal } from '../find/settings.ts';
import { type CellChange, type EditContext, type Edited, editableImport, editFind } from '../flows/edit-find.ts';
import { recoverAbandoned } from '../outbox/abandoned.ts';
import { importOfFind } from '../outbox/entries.ts';
import { STATE_WORDS } from '../outbox/entry-words.ts';
import type { StoredFind } from '../outbox/finds.ts';
import { issueValues, printIssues } from '../ui/issues.ts';
import { printable } from '../ui/printable.ts';
import { reasonToHold } from './adding.ts';
import { collect, defineCommand, type Runner } from './command.ts';
import { copyFromOthers } from './copy-from-others.ts';
import { askForChanges } from './edit-asking.ts';
import { editFile } from './edit-file.ts';
import { findsNamed } from './named-finds.ts';

type EditOptions = GlobalOptions & { readonly set?: readonly string[]; readonly ask?: boolean; readonly discard?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'edit <find>',
    summary: t`Mend a find that was not sent, or that the service refused, in your editor or by flags. It is queued again if it is complete.`,
    examples: ['pas edit K-017', "pas edit K-017 --set depth_cm=20 --set note='beside the path'"],
  })
    .option('--set <element=value>', t`set an element; an empty value takes it away; may be given again`, collect)
    .option('--ask', t`ask the questions of pas add, with what the find says now as answers`)
    .option('--discard', t`start anew where an earlier edit was left unfinished`)
    .action((find: string, options: EditOptions) => run(options, (context) => edit(context, find, options)));
}

async function edit(context: Context, name: string, options: EditOptions): Promise<ExitReason> {
  const outbox = await context.outbox();
  const profile = context.profile();
  const [stored] = findsNamed(outbox, [name]);
  if (stored === undefined) return 'done';
  recoverAbandoned(outbox);
  editableImport(outbox, stored);
  const { lookupTerm } = await openLookups(context, profile);
  const given: EditContext = { outbox, lookupTerm, validate: await openValidation(context) };
  if (options.ask === true && options.set === undefined) return editByAsking(context, given, stored, options);
  await copyPhotographsToo(context, given, stored);
  const before = cellsOf(stored.elements as FindElements, lookupTerm);
  if (options.set !== undefined)
    return finish(context, stored, editFind(given, stored, before, withChanges(before, cellsSet(options.set))));
  return editInEditor(context, given, stored, before, options.discard === true);
}

function cellsSet(texts: readonly string[]): Cells {
  return new Map(settingsOrRefusal(texts).map(({ name, value }) => [name, value]));
}

/** Aliases would stand beside the element that they mean. */
function canonicalName(name: string): string {
  return FIELDS.find((field) => field.alias === name)?.name ?? name;
}

/** Nothing is copied or stored before the last answer. */
async function editByAsking(context: Context, given: EditContext, stored: StoredFind, options: EditOptions): Promise<ExitReason> {
  const { find, wish } = await askForChanges(context, stored, options);
  await copyPhotographsToo(context, given, stored);
  const before = cellsOf(stored.elements as FindElements, given.lookupTerm);
  const after = cellsOf(find.elements, given.lookupTerm);
  const validate: EditContext['validate'] = (each) => {
    const validated = given.validate(each);
    return wish === 'send' ? validated : { ...validated, issues: [...validated.issues, reasonToHold(each, wish)] };
  };
  return finish(context, stored, editFind({ ...given, validate }, stored, before, after));
}

/** With its photographs and its number, which an edit alone would leave behind. */
async function copyPhotographsToo(context: Context, { outbox }: EditContext, { localId }: StoredFind): Promise<void> {
  await copyFromOthers(context, outbox, { names: [localId], all: true, dryRun: false });
}

async function editInEditor(
  context: Context,
  given: EditContext,
  stored: StoredFind,
  before: Cells,
  discard: boolean,
): Promise<ExitReason> {
  const { terminal } = context;
  const file = editFile(context, stored);
  const entry = importOfFind(given.outbox, stored.id);
  // What the service said stands in the outbox; what is missing is judged anew, by what was harvested since.
  const known = entry?.state === 'refused' ? entry.issues : given.validate(asFind(stored)).issues;
  const find = shellWord(stored.localId);
  if (file.left === undefined || discard) file.write(editText(stored.localId, before, known));
  else terminal.warn(t`You go on with what an earlier edit left. To start anew: pas edit ${find} --discard`);
  for (;;) {
    const read = readEditText(file.open());
    if (read === undefined) {
      file.remove();
      return finish(context, stored, { kind: 'unchanged' });
    }
    const edited: Edited =
      read.issues.length > 0
        ? { kind: 'unreadable', issues: read.issues }
        : editFind(given, stored, before, canonicalCells(read.cells));
    if (edited.kind !== 'unreadable') {
      file.remove();
      return finish(context, stored, edited);
    }
    finish(context, stored, edited);
    if (!terminal.interactive || !(await (await context.prompt()).confirm(t`Open the editor again?`))) {
      terminal.warn(t`What you wrote is in ${file.path}. Run the command again to go on with it.`);
      return 'dataRefused';
    }
    if (read.issues.length === 0) file.write(editText(stored.localId, read.cells, edited.issues));
  }
}

function canonicalCells(cells: Cells): Cells {
  return new Map([...cells].map(([name, text]) => [canonicalName(name), text]));
}

/** Says what became of it. */
function finish(context: Context, stored: StoredFind, edited: Edited): ExitReason {
  const { terminal } = context;
  const find = stored.localId;
  const issues = edited.kind === 'unchanged' ? [] : foldUnchecked(edited.issues);
  if (edited.kind === 'stored') printChanges(context, edited.changed, stored);
  printIssues(terminal, issues.map(withoutPlace));
  const shown = printable(find);
  if (edited.kind === 'unchanged') terminal.line(t`Nothing was changed.`);
  if (edited.kind === 'unreadable') terminal.line(t`${shown} was not changed: mend what is marked ✗.`);
  if (edited.kind === 'stored') {
    const state = STATE_WORDS[edited.state];
    const text = {
      queued: t`${shown} is queued. Send it: pas push`,
      draft: t`${shown} is a draft until what is marked ✗ is mended.`,
      uncertain: t`${shown} may have been sent since the backup was made that was put back. Find out: pas reconcile`,
    };
    terminal.line(edited.state in text ? terminal.advised(text[edited.state as keyof typeof text]) : `${shown}: ${state}`);
  }
  terminal.value({
    find,
    changed: edited.kind === 'stored' ? edited.changed : [],
    state: edited.kind === 'stored' ? edited.state : null,
    issues: issueValues(terminal, issues),
  });
  return edited.kind === 'unreadable' || hasErrors(issues) ? 'dataRefused' : 'done';
}

function withoutPlace({ file: _file, row: _row, column: _column, find: _find, ...issue }: Issue): Issue {
  return issue;
}

function printChanges({ terminal }: Context, changes: readonly CellChange[], stored: StoredFind): void {
  terminal.line(terminal.color.bold(printable(stored.localId)));
  for (const { element, was, is } of changes) terminal.line(`  ${element}: ${printable(was ?? '–')} → ${printable(is ?? '–')}`);
}
