import { type Command, Option } from 'commander';
import { ConfigError, type ExitReason } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { refuseContradiction, toProfile, writeConfigFile } from '../../context/config.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { readOfferedProfile } from '../../context/offered-profile.ts';
import { checkSettings, PROFILE_KEYS } from '../../context/profile-settings.ts';
import { printable } from '../../ui/terminal.ts';
import { defineCommand, type Runner } from '../command.ts';
import { askForRest } from './ask-profile.ts';

type InitOptions = GlobalOptions & { readonly name: string; readonly from?: string } & Readonly<Record<string, unknown>>;

export function register(program: Command, run: Runner): void {
  const command = defineCommand(program, {
    name: 'init',
    summary: t`Make a profile: one deployment of the service and one account. Asks for what no flag gives.`,
    examples: [
      'pas init --from https://museum.example.org/finds-profile.toml',
      'pas init --name training --kind training --base-url https://training.example.org --schema-base https://api.example.org/schema/svc',
      'pas init --name museum --kind production --base-url https://finds.example.org --oai-base https://api.example.org \\\n      --schema-base https://api.example.org/schema/svc --oai-auth basic --username eva@example.org',
    ],
  });
  command.option('--name <name>', t`name of the profile`, 'default');
  command.option('--from <file>', t`file or https address of a profile that an institution hands out`);
  for (const [key, { kind, help }] of Object.entries(PROFILE_KEYS)) {
    const flag = `--${key.replaceAll('_', '-')}`;
    const option = new Option(kind === 'boolean' ? flag : `${flag} <value>`, String(help));
    command.addOption(typeof kind === 'object' ? option.choices([...kind]) : option);
  }
  command.action((options: InitOptions) => run(options, (context) => init(context, options)));
}

/** Writes the profile and makes it the default when it is the first. */
export async function init(context: Context, options: InitOptions): Promise<ExitReason> {
  const { terminal, places } = context;
  const config = context.config();
  if (!/^[\w.-]{1,64}$/.test(options.name))
    throw new ConfigError(t`${options.name} cannot be a profile's name: use letters, digits, - and _.`);
  const offered = options.from === undefined ? {} : await readOfferedProfile(context, options.from);
  const given = { ...offered, ...checkSettings('pas init', settingsFromFlags(options)) };
  for (const [key, value] of Object.entries(offered)) terminal.note(`  ${key} = ${printable(String(value))}`);
  const settings = terminal.interactive ? await askForRest(context, given) : given;
  // The whole profile is checked before anything is written.
  toProfile(options.name, settings, context.environment, 'pas init');
  refuseContradiction(config, places, options.name, settings);
  writeConfigFile(places.configFile, {
    ...config,
    defaultProfile: config.defaultProfile ?? options.name,
    profiles: new Map([...config.profiles, [options.name, settings]]),
  });
  terminal.line(t`Profile ${options.name} is in ${places.configFile}.`);
  const flag = (config.defaultProfile ?? options.name) === options.name ? '' : ` --profile ${options.name}`;
  terminal.note(t`Next: \`${cmd`pas login`}${flag}\`, then \`${cmd`pas harvest-vocab`}${flag}\`.`);
  terminal.value({ profile: options.name, file: places.configFile });
  return 'done';
}

function settingsFromFlags(options: InitOptions): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const key of Object.keys(PROFILE_KEYS)) {
    const value = options[key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())];
    if (value !== undefined) settings[key] = value;
  }
  return settings;
}
