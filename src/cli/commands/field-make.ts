import { type Command, Option } from 'commander';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { makeReferenceResolver } from '../../finds/resolve-references.ts';
import { findRoleRank } from '../../finds/value-rules.ts';
import { type FindDefaults, parseSettings } from '../../tables/columns/settings.ts';
import type {
  FieldFormOrder,
  FieldFormWriter,
  WrittenFieldForm,
} from '../../tables/forms/form-lists.ts';
import { appendValue, defineCommand, type Runner } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { openHarvestedVocabulary } from '../context/open-service.ts';
import {
  makeProfileDefaults,
  openValidationContext,
  readAccountName,
} from '../context/validation.ts';
import { mayReplace } from '../terminal.ts';

/** Programs that record finds on a phone. The code of a form is loaded only for its program. */
const MAKERS = {
  odk: async (request) =>
    (await import('../../tables/forms/make-odk-form.ts')).writeOdkForm(request),
  qfield: async (request) =>
    (await import('../../tables/forms/make-qfield-project.ts')).writeQfieldProject(request),
} as const satisfies Readonly<Record<string, FieldFormWriter>>;

type FieldApp = keyof typeof MAKERS;

const FIELD_TOOLS = Object.keys(MAKERS) as readonly FieldApp[];

type FormRequest = FieldFormOrder & {
  /** Values of config.toml and flags for every find. */
  readonly defaults: FindDefaults;
};

/**
 * Writes the form of a find for a phone app, with the given defaults. Without a default, the
 * state is 1 for a researcher and an unknown role, else 2.
 * @throws UsageError where a default cannot be read, a vocabulary was not harvested, or a file
 * exists that may not be replaced; errors of the disk
 */
async function writeFieldForm(
  tool: FieldApp,
  { defaults, ...wanted }: FormRequest,
): Promise<WrittenFieldForm> {
  const resolveReference = makeReferenceResolver(wanted.rules.lookupTerm);
  const { elements, issues } = parseSettings(defaults, '', {
    resolveReference,
    resolvePhoto: () => ({ value: '' }),
  });
  const issue = issues.find(({ severity }) => severity === 'error');
  if (issue !== undefined) throw new UsageError(issue.message);
  const rank = findRoleRank(wanted.rules);
  // A researcher, and so perhaps an unknown account, may import into state 1 only.
  const stav = rank === undefined || rank === 'researcher' ? 1 : 2;
  return MAKERS[tool]({ ...wanted, starting: { stav, ...elements } });
}

type MakeOptions = GlobalOptions & {
  readonly for: FieldApp;
  readonly set?: readonly string[];
};

export function register(program: Command, run: Runner): void {
  const parent = program
    .command('field')
    .description(t`Make forms for a phone from the fields and the harvested vocabularies.`);
  defineCommand(parent, {
    name: 'make <destination>',
    summary: t`Write a form for a phone app, with the lists that it needs. Import the submitted forms with \`pas import\`.`,
    examples: [
      'pas field make finds.xlsx --for odk',
      'pas field make season --for qfield --set project=C-202400101',
    ],
  })
    .addOption(
      new Option('--for <application>', t`phone app that the form is for`)
        .choices(FIELD_TOOLS)
        .makeOptionMandatory(),
    )
    .option(
      '--set <element=value>',
      t`value to prefill for each find; may be repeated`,
      appendValue,
    )
    .action(run(make));
}

async function make(
  context: Context,
  destination: string,
  { for: tool, set }: MakeOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  const { files, notes = [] } = await writeFieldForm(tool, {
    destination,
    overwrite: await mayReplace(context, destination),
    vocabulary: await openHarvestedVocabulary(context),
    defaults: makeProfileDefaults(context, set),
    rules: await openValidationContext(context),
    finder: await readAccountName(context),
    nowMs: context.clock.now(),
  });
  for (const file of files) terminal.note(t`Written: ${file}`);
  for (const note of notes) terminal.note(note);
  terminal.printValue({ for: tool, files, notes });
  return 'done';
}
