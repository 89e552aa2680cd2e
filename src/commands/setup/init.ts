import { type Command, Option } from 'commander';
import { ConfigError, type ExitReason } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { profilesAlike, withSettings } from '../../context/change-config.ts';
import { chooseOutbox } from '../../context/check-binding.ts';
import { toProfile } from '../../context/config.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { readOfferedProfile } from '../../context/offered-profile.ts';
import { checkSettings, flagOf, PROFILE_FLAGS, PROFILE_KEYS, type ProfileSettings } from '../../context/profile-settings.ts';
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
  for (const key of PROFILE_FLAGS) {
    const { kind, help } = PROFILE_KEYS[key];
    const flag = flagOf(key);
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
  const asked = terminal.interactive ? await askForRest(context, given) : given;
  const before = config.profiles.get(options.name)?.outbox;
  const withOutbox = (outbox: ProfileSettings['outbox']) => (outbox === undefined ? asked : { ...asked, outbox });
  // The whole profile is checked before anything is written.
  const profile = toProfile(options.name, withOutbox(before), context.environment, 'pas init');
  const outbox = await chooseOutbox(context, profile, asked);
  context.changeConfig((current) => ({
    ...withSettings(current, options.name, withOutbox(outbox)),
    defaultProfile: current.defaultProfile ?? options.name,
  }));
  terminal.line(t`Profile ${options.name} is in ${places.configFile}.`);
  const flag = (config.defaultProfile ?? options.name) === options.name ? '' : ` --profile ${options.name}`;
  terminal.note(t`Next: \`${cmd`pas login`}${flag}\`, then \`${cmd`pas harvest-vocab`}${flag}\`.`);
  const alike = profilesAlike(config, options.name, asked)
    .filter((other) => config.profiles.get(other)?.outbox === outbox)
    .join(', ');
  if (alike !== '') terminal.note(t`It shares the outbox of ${alike}: the service and the account are the same.`);
  else if (before !== undefined && outbox !== before)
    terminal.note(t`It has an outbox of its own from now on. The finds of the other one stay with its profile.`);
  terminal.value({ profile: options.name, file: places.configFile });
  return 'done';
}

function settingsFromFlags(options: InitOptions): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const key of PROFILE_FLAGS) {
    const value = options[key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())];
    if (value !== undefined) settings[key] = value;
  }
  return settings;
}
