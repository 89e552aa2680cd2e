import { Option } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { t } from '../../base/message.ts';
import { FIELD_APPS, type FieldApp, writeFieldForm } from '../../tables/forms/field-tools.ts';
import { appendValue, defineCommand, type Registration } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { listPrefilledValues, openConversionContext } from '../context/find-input.ts';
import { openProfileVocabulary } from '../context/open-service.ts';
import { confirmReplacing } from '../terminal.ts';

type MakeOptions = GlobalOptions & {
  readonly for: FieldApp;
  readonly set?: readonly string[];
};

/** Registers the group `pas field` with its command `make`. */
export const registerCommands: Registration = (program, run) => {
  const parent = program
    .command('field')
    .description(t`Make forms for a phone from the fields and the harvested vocabularies.`);
  defineCommand(
    parent,
    'make <destination>',
    t`Write a form for a phone app, with the lists that it needs. Import the submitted forms with \`pas import\`.`,
    [
      'pas field make finds.xlsx --for odk',
      'pas field make season --for qfield --set project=C-202400101',
    ],
  )
    .addOption(
      new Option('--for <application>', t`phone app that the form is for`)
        .choices(FIELD_APPS)
        .makeOptionMandatory(),
    )
    .option(
      '--set <element=value>',
      t`value to prefill for each find; may be repeated`,
      appendValue,
    )
    .action(run(make));
};

async function make(
  context: Context,
  destination: string,
  { for: tool, set }: MakeOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  const files = await writeFieldForm(tool, listPrefilledValues(context, set), {
    destination,
    overwrite: tool === 'odk' && (await confirmReplacing(context, destination)),
    vocabulary: await openProfileVocabulary(context),
    rules: await openConversionContext(context),
    nowMs: context.clock.now(),
  });
  for (const file of files) terminal.note(t`Written: ${file}`);
  terminal.printValue({ for: tool, files });
  return 'done';
}
