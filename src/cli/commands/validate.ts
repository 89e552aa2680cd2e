import type { ExitReason } from '../../base/errors.ts';
import { hasErrors } from '../../base/issue.ts';
import { cmd, t } from '../../base/message.ts';
import { findSubjectsWithEntries } from '../../outbox/changes/resolve-finds.ts';
import { readMappingFile } from '../../tables/own-terms/mapping.ts';
import { validateAndRenewFinds } from '../../tables/validate-finds.ts';
import { defineCommand, type Registration } from '../command.ts';
import type { Context } from '../context/context.ts';
import { openValidationContext, readFileOrInput } from '../context/find-input.ts';
import { openVocabularyLookups } from '../context/open-service.ts';
import { listNewPeopleOfProfile, printNewPeople, toNewPeopleJson } from '../new-people.ts';
import { printIssues, toIssuesJson, withProgress } from '../terminal.ts';

/** Registers `pas validate`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'validate [find-or-file...]',
    t`Check finds of the outbox, or XML documents, for anything that the service would refuse.`,
    ['pas validate', 'pas validate K-017 document.xml --json'],
  ).action(run(validate));
};

/**
 * Validates the named finds and XML files (`-` is stdin), or the whole outbox, and prints the
 * issues; the results of finds are stored.
 * @param names empty: the whole outbox
 * @returns `dataRefused` where an issue is an error
 * @throws UsageError for an unknown find; FileError where a file cannot be read; ConfigError where
 * the schema cannot be used; DatabaseError
 */
async function validate(context: Context, names: readonly string[]): Promise<ExitReason> {
  const { terminal } = context;
  const files = names.filter((name) => name === '-' || name.toLowerCase().endsWith('.xml'));
  const documents = await Promise.all(files.map((file) => readFileOrInput(context, file)));
  const isAll = names.length === 0;
  const named = names.filter((name) => !files.includes(name));
  const { lookupTerm } = await openVocabularyLookups(context);
  const ruleContext = await openValidationContext(context);
  const outbox = await context.openOutbox();
  const mapping = await readMappingFile(context.places.mappingFile);
  const terms = isAll ? { mapping, lookupTerm } : undefined;
  const { valid, invalid, issues } = await withProgress(terminal, t`Checking`, (onProgress) =>
    validateAndRenewFinds(outbox, ruleContext, {
      finds: isAll ? undefined : named,
      documents,
      terms,
      onProgress,
    }),
  );
  if (!printIssues(terminal, issues))
    terminal.note(t`To list all of them: ${cmd`pas validate --json`}`);
  terminal.printLine(t`${valid} valid, ${invalid} invalid.`);
  const people = await listNewPeopleOfProfile(
    context,
    outbox,
    isAll ? undefined : findSubjectsWithEntries(outbox, named),
  );
  printNewPeople(context, people, terminal.printLine);
  terminal.printValue({
    valid,
    invalid,
    issues: toIssuesJson(issues),
    new_people: toNewPeopleJson(people),
  });
  return hasErrors(issues) ? 'dataRefused' : 'done';
}
