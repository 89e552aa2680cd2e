import { type Command, Option } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { openHarvested } from '../../context/harvesting.ts';
import { openValidationContext, profileDefaults } from '../../context/validation.ts';
import { FIELD_TOOLS, type FieldTool, makeField } from '../../flows/field/make-field.ts';
import { defineCommand, type Runner } from '../command.ts';

type MakeOptions = GlobalOptions & { readonly for: FieldTool; readonly force?: boolean };

export function register(program: Command, run: Runner): void {
  const parent = program.command('field').description(t`Make forms for a phone from the fields and the harvested vocabularies.`);
  defineCommand(parent, {
    name: 'make <destination>',
    summary: t`Write a form for a program on the phone, with the lists that it needs. What comes back goes into \`pas import\`.`,
    examples: ['pas field make finds.xlsx --for odk', 'pas field make season/finds.xlsx --for odk --force'],
  })
    .addOption(new Option('--for <program>', t`program that the form is for`).choices(FIELD_TOOLS).makeOptionMandatory())
    .option('--force', t`replace a file that is there already`)
    .action((destination: string, options: MakeOptions) => run(options, (context) => make(context, destination, options)));
}

async function make(context: Context, destination: string, { for: tool, force }: MakeOptions): Promise<ExitReason> {
  const { terminal } = context;
  const { files } = await makeField(tool, {
    destination,
    overwrite: force === true,
    vocabulary: await openHarvested(context),
    defaults: profileDefaults(context),
    rules: await openValidationContext(context),
    nowMs: context.clock.now(),
  });
  for (const file of files) terminal.note(t`Written: ${file}`);
  terminal.value({ for: tool, files });
  return 'done';
}
