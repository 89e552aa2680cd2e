import { Option } from 'commander';
import { ConfigError, type ExitReason, UsageError } from '../../base/errors.ts';
import { cmd, t } from '../../base/message.ts';
import { appendValue, defineCommand, type Registration } from '../command.ts';
import {
  assertMaySendPassword,
  KEY_RULES,
  KEYS_WITH_FLAG,
  listProfilesOfOutbox,
  type ProfileKey,
  type ProfileSettings,
  parseProfileKeyValue,
  parseProfileSettings,
  toCamelCase,
  toProfile,
} from '../context/config.ts';
import {
  type Context,
  type GlobalOptions,
  omitAccountVariables,
  runPas,
} from '../context/context.ts';
import { discoverService, fetchSharedProfile } from '../context/discover-service.ts';
import { saveProfile } from '../context/profile-outbox.ts';
import { askChoice } from '../prompt.ts';

type InitOptions = GlobalOptions & {
  readonly name: string;
  readonly from?: string;
  readonly set?: readonly string[];
} & Readonly<Record<string, unknown>>;

/** Registers `pas init`, with a flag for each of {@link KEYS_WITH_FLAG}. */
export const registerCommands: Registration = (program, run) => {
  const command = defineCommand(
    program,
    'init',
    t`Create a profile for one service and one account. From the address that you give, pas finds the service's other addresses; it asks for the rest.`,
    [
      'pas init https://finds.example.org --username eva@example.org',
      'pas init --from https://museum.example.org/finds-profile.toml',
    ],
  );
  command.argument('[address]', t`an address of the service`);
  command.option('--name <name>', t`name of the profile`, 'default');
  command.option('--from <file>', t`file or https address of a profile from your institution`);
  for (const key of KEYS_WITH_FLAG) {
    const { choices } = KEY_RULES[key];
    const option = new Option(`${toFlag(key)} <value>`, getLabel(key));
    command.addOption(choices === undefined ? option : option.choices(choices));
  }
  command.option(
    '--set <key=value>',
    t`any other key of config.toml, such as min_interval_ms=200; may be repeated`,
    appendValue,
  );
  command.action(
    run(async (context, address: string | undefined, options: InitOptions) => {
      const reason = await init(context, options, address);
      return context.terminal.interactive ? continueSetup(context, options.name) : reason;
    }),
  );
};

/** Returns `--base-url` for `base_url`. */
function toFlag(key: ProfileKey): string {
  return `--${key.replaceAll('_', '-')}`;
}

/** On a terminal: signs in to the new profile and harvests its vocabularies, unless declined. */
async function continueSetup(context: Context, name: string): Promise<ExitReason> {
  const prompt = await context.prompt();
  if (!(await prompt.confirm(t`Sign in now?`, true))) return 'done';
  const signedIn = await runWithProfile(context, name, 'login');
  if (signedIn !== 'done') return signedIn;
  if (!(await prompt.confirm(t`Harvest the vocabularies now? It takes about a minute.`, true)))
    return 'done';
  return runWithProfile(context, name, 'harvest-vocab');
}

async function runWithProfile(
  { environment, cwd }: Context,
  name: string,
  command: string,
): Promise<ExitReason> {
  const { reason } = await runPas([command, '--profile', name], {
    environment: omitAccountVariables(environment),
    cwd,
    isOnTerminal: true,
  });
  return reason;
}

/**
 * Collects the settings of a profile, checks them, and writes it, as the default where there is
 * none. One of the same name is replaced.
 * @param address of the service; undefined where it is not an argument
 * @throws UsageError, ConfigError for the arguments; as {@link saveProfile}
 */
async function init(context: Context, options: InitOptions, address?: string): Promise<ExitReason> {
  const { terminal, places } = context;
  const config = context.getConfig();
  if (!/^[\w.-]{1,64}$/.test(options.name))
    throw new ConfigError(
      t`${options.name} is not a valid profile name: use letters, digits, - and _.`,
    );
  if (address !== undefined && options.from !== undefined)
    throw new UsageError(t`Give either an address or --from, not both.`);
  const answers = await collectSettings(context, options, address);
  // The whole profile is checked before anything is written.
  const profile = toProfile(options.name, answers, {}, 'pas init');
  await saveProfile(context, profile, answers);
  terminal.printLine(t`Profile ${options.name} is in ${places.configFile}.`);
  const flag =
    (config.defaultProfile ?? options.name) === options.name ? '' : ` --profile ${options.name}`;
  terminal.note(t`Next: \`${cmd`pas login`}${flag}\`, then \`${cmd`pas harvest-vocab`}${flag}\`.`);
  const alike = listProfilesOfOutbox(context.getConfig(), profile.outbox)
    .filter((other) => other !== options.name)
    .join(', ');
  if (alike !== '')
    terminal.note(t`It shares the outbox of ${alike}: the service and the account are the same.`);
  terminal.printValue({ profile: options.name, file: places.configFile, ...answers });
  return 'done';
}

/**
 * Collects settings: those of flags count before those of a shared profile, and these before what
 * the service shows. A person is asked for the rest; without a terminal a missing one is an error.
 */
async function collectSettings(
  context: Context,
  options: InitOptions,
  address: string | undefined,
): Promise<ProfileSettings> {
  const { terminal } = context;
  const { from } = options;
  const ofFlags = parseProfileSettings('pas init', parseFlagSettings(options));
  const offered = from === undefined ? {} : await fetchSharedProfile(context, from, ofFlags);
  for (const [key, value] of Object.entries(offered)) terminal.note(`  ${key} = ${value}`);
  const givenSettings = { ...offered, ...ofFlags };
  const start =
    address ??
    (isWhole(givenSettings) ? undefined : await chooseStartAddress(context, givenSettings));
  const { settings: foundSettings = {}, problem } =
    start === undefined ? {} : await discoverService(context, start, givenSettings);
  const settings = { ...foundSettings, ...givenSettings };
  if (start !== undefined) showFound(context, foundSettings, settings);
  if (start === undefined && !terminal.interactive && !isWhole(settings)) {
    throw new UsageError(t`pas init needs an address of the service, or --from with a profile.`, {
      hint: t`For example: ${cmd`pas init`} https://finds.example.org`,
    });
  }
  if (!terminal.interactive) assertWhole(settings, problem);
  if (problem !== undefined) terminal.warn(problem);
  return terminal.interactive ? askForRest(context, settings) : settings;
}

/** Returns a given address for the probes, else asks for one; undefined without a terminal. */
async function chooseStartAddress(
  context: Context,
  givenSettings: ProfileSettings,
): Promise<string | undefined> {
  const address = givenSettings.base_url ?? givenSettings.oai_base;
  if (address !== undefined) return address;
  return context.terminal.interactive ? askForAddress(context) : undefined;
}

function showFound(
  { terminal }: Context,
  foundSettings: ProfileSettings,
  settings: ProfileSettings,
): void {
  for (const key of Object.keys(foundSettings) as ProfileKey[])
    terminal.note(`  ${getLabel(key)}: ${settings[key]}`);
  if (foundSettings.base_url !== undefined && settings.oai_base === undefined)
    terminal.note(
      t`It has no harvesting interface. A training instance uses that of production: specify it with --oai-base ADDRESS.`,
    );
}

function getLabel(key: ProfileKey): string {
  return String(KEY_RULES[key].help ?? key);
}

const NEEDED = KEYS_WITH_FLAG.filter((key) => KEY_RULES[key].required);

function isWhole(settings: ProfileSettings): boolean {
  return NEEDED.every((key) => settings[key] !== undefined);
}

/** @throws ConfigError with the flags of the settings that were not found */
function assertWhole(settings: ProfileSettings, problem: string | undefined): void {
  const missing = NEEDED.filter((key) => settings[key] === undefined);
  if (missing.length === 0) return;
  const words = missing.map(getLabel).join(', ');
  const flags = missing.map((key) =>
    key === 'kind' ? '--kind=production|training' : `${toFlag(key)}=ADDRESS`,
  );
  const flagNames = flags.join(' ');
  throw new ConfigError(problem ?? t`The service does not provide: ${words}.`, {
    hint: t`Check the address and the network, or add ${flagNames}.`,
  });
}

function parseFlagSettings(options: InitOptions): Record<string, unknown> {
  const settings: Record<string, unknown> = Object.fromEntries(
    (options.set ?? []).map(parseProfileKeyValue),
  );
  for (const key of KEYS_WITH_FLAG) {
    const value = options[toCamelCase(key)];
    if (value !== undefined) settings[key] = value;
  }
  return settings;
}

const QUESTIONS = KEYS_WITH_FLAG.filter((key) => key !== 'oai_auth');
const ADDRESSES: readonly ProfileKey[] = ['base_url', 'oai_base'];

async function askForAddress(context: Context): Promise<string> {
  const prompt = await context.prompt();
  const findProblem = async (text: string) =>
    text.trim() === '' ? t`This is required.` : undefined;
  return prompt.askText({ message: t`address of the service:`, findProblem });
}

/** Asks for missing settings, until each answer is valid; an optional one may stay empty. */
async function askForRest(
  context: Context,
  givenSettings: ProfileSettings,
): Promise<ProfileSettings> {
  const prompt = await context.prompt();
  let settings = givenSettings;
  for (const key of QUESTIONS) {
    if (settings[key] !== undefined) continue;
    const { choices } = KEY_RULES[key];
    const message = `${getLabel(key)}:`;
    const answer =
      choices !== undefined
        ? await askChoice(
            prompt,
            message,
            choices.map((value) => ({ value, name: value })),
          )
        : await prompt.askText({
            message,
            findProblem: async (text) => findSettingProblem(key, text.trim(), settings),
          });
    if (answer.trim() !== '')
      settings = { ...settings, ...parseProfileSettings('pas init', { [key]: answer.trim() }) };
  }
  return settings;
}

/** Returns the fault of an answer with its remedy; undefined where it is valid. */
function findSettingProblem(
  key: ProfileKey,
  text: string,
  { allow_http: allowHttp }: ProfileSettings,
): string | undefined {
  if (text === '') return KEY_RULES[key].required ? t`This is required.` : undefined;
  try {
    const { [key]: value } = parseProfileSettings('pas init', { [key]: text });
    if (ADDRESSES.includes(key))
      assertMaySendPassword('pas init', String(value), allowHttp === true);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof ConfigError)
      return [thrown.message, thrown.hint].filter((part) => part !== undefined).join(' ');
    throw thrown;
  }
}
