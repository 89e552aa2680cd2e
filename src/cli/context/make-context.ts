import { existsSync } from 'node:fs';
import { loadWidthLibrary } from '../../base/characters.ts';
import { systemClock } from '../../base/clock.ts';
import { once } from '../../base/collections.ts';
import { restrictPermissions } from '../../base/disk/files.ts';
import { ConfigError } from '../../base/errors.ts';
import { cmd, quoteShellWord, t } from '../../base/message.ts';
import type { VocabularyStore } from '../../finds/vocabulary/term-lookup.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { openSecrets, openSystemKeyring } from '../../service/secrets.ts';
import { makeTerminal, type Streams, type Terminal } from '../terminal.ts';
import {
  type Config,
  changeConfigFile,
  formatProfileAdvice,
  type Profile,
  type ProfileSettings,
  readConfigFile,
  requireProfileSettings,
  toProfile,
} from './config.ts';
import {
  type Context,
  type GlobalOptions,
  type Machine,
  type OutboxPlaces,
  omitAccountVariables,
  type Runtime,
} from './context.ts';
import {
  type Environment,
  isLedgerBesideOutbox,
  makeDataPaths,
  makeOutboxPaths,
  omitEmptyVariables,
  readMachineId,
  thisSystem,
} from './places.ts';

const THIS_MACHINE: Machine = {
  clock: systemClock,
  system: thisSystem,
  random: Math.random,
  openConnections: async (network) =>
    (await import('../../service/http/send.ts')).openConnections({ maxConnections: 64, network }),
};

/**
 * Makes the context of a command, which the caller closes. Nothing is read or opened before its
 * first use; an invalid configuration or a missing profile is a ConfigError of that use.
 * @param options global flags of the command
 */
export function makeContext(runtime: Runtime, options: GlobalOptions): Context {
  const base = makeBase(runtime, options);
  const { clock, environment, machine, places, onClose } = base;
  const ofProfile = makeProfileFunctions(base, options);
  let outbox: Promise<Outbox> | undefined;
  const context: Context = {
    ...base,
    ...ofProfile,
    getOutboxPlaces: makeOutboxLocator(base, ofProfile.getProfile),
    asProfile: (name, outboxesFolder) => {
      const inner = makeContext(
        {
          ...runtime,
          environment: omitAccountVariables(environment),
          outer: { terminal: base.terminal, outboxesFolder },
        },
        { ...options, profile: name },
      );
      onClose(inner.close);
      return inner;
    },
    openSecrets: once(() => openSecrets(places.secretsFile, openSystemKeyring(environment), clock)),
    getMachineId: once(() => readMachineId(machine.system)),
    openOutbox: (purpose) => {
      outbox ??= openProfileOutbox(context, purpose ?? 'command');
      return outbox;
    },
    openVocabulary: once(() => openVocabulary(base)),
  };
  return context;
}

type BaseContext = ReturnType<typeof makeBase>;

/** Makes the functions of configuration, profile and network; config.toml is read at first use. */
function makeProfileFunctions(base: BaseContext, options: GlobalOptions) {
  const { clock, environment, machine, places, onClose } = base;
  let config: Config | undefined;
  let profile: Profile | undefined;
  const getConfig = (): Config => {
    config ??= readConfigFile(places.configFile);
    return config;
  };
  const getProfile = (): Profile => {
    profile ??= chooseProfile(getConfig(), places.configFile, environment, options.profile);
    return profile;
  };
  const openConnections = async (settings: ProfileSettings = {}) => {
    const { proxy, ca_file: caFile } = { ...getConfig().network, ...settings };
    const connections = await machine.openConnections({ environment, proxy, caFile });
    onClose(() => connections.close());
    return connections;
  };
  const openOwnConnections = once(() =>
    openConnections(getConfig().profiles.get(getProfile().name)),
  );
  return {
    getConfig,
    changeConfig: (change: (config: Config) => Config): void => {
      config = changeConfigFile(places, clock, change);
      profile = undefined;
    },
    getProfile,
    getProfileFlag: once(() => formatProfileFlag(getConfig, environment, getProfile)),
    openConnections: (given?: ProfileSettings) =>
      given === undefined ? openOwnConnections() : openConnections(given),
  };
}

/** Makes the function that tells where an outbox is; by default that of the profile. */
function makeOutboxLocator(base: BaseContext, getProfile: () => Profile) {
  const { clock, machine, places } = base;
  const hasLedgerBeside = once(
    () => base.outer !== undefined || isLedgerBesideOutbox(places, machine.system),
  );
  return (name = getProfile().outbox): OutboxPlaces => {
    const paths = makeOutboxPaths(places, name, hasLedgerBeside());
    const { folder: outboxFolder, locksFolder } = paths;
    return { ...paths, lock: { folder: locksFolder, scope: name, outboxFolder, clock } };
  };
}

/**
 * Makes the part of a context that needs no profile. An outer command lends its terminal, and
 * replaces the folder of outboxes, whose ledgers are then beside them.
 */
function makeBase(runtime: Runtime, options: GlobalOptions) {
  const { streams, outer } = runtime;
  const machine = { ...THIS_MACHINE, ...runtime.overrides };
  const environment = omitEmptyVariables(runtime.environment);
  const places = makeDataPaths(environment);
  const closers: (() => void | Promise<void>)[] = [];
  return {
    ...runtime,
    environment,
    machine,
    clock: machine.clock,
    random: machine.random,
    places: { ...places, outboxesFolder: outer?.outboxesFolder ?? places.outboxesFolder },
    terminal: outer?.terminal ?? makeContextTerminal(streams, environment, options),
    isConfirmed: options.yes === true,
    prompt: once(async () => {
      const [{ makePrompt }] = await Promise.all([import('../prompt.ts'), loadWidthLibrary()]);
      return makePrompt(streams.stdin, streams.stderr);
    }),
    onClose: (close: () => void | Promise<void>): void => {
      closers.unshift(close);
    },
    close: async (): Promise<void> => {
      for (const close of closers.splice(0)) await close();
    },
  };
}

async function openProfileOutbox(context: Context, purpose: 'command' | 'push'): Promise<Outbox> {
  const opening = await import('./profile-outbox.ts');
  return opening.openProfileOutbox(context, purpose);
}

async function openVocabulary({ places, clock, onClose }: BaseContext): Promise<VocabularyStore> {
  const opening = await import('../../finds/vocabulary/term-lookup.ts');
  const vocabulary = opening.openVocabulary(places.vocabularyFile, clock);
  onClose(() => vocabulary.close());
  return vocabulary;
}

function makeContextTerminal(
  streams: Streams,
  environment: Environment,
  options: GlobalOptions,
): Terminal {
  return makeTerminal(streams, {
    json: options.json === true,
    quiet: options.quiet === true,
    verbose: options.verbose === true,
    color: options.color !== false && isColorWanted(environment, streams),
    cursor: environment['TERM'] !== 'dumb',
  });
}

/** See no-color.org; a dumb terminal and a redirected stdout get plain text as well. */
function isColorWanted(environment: Environment, streams: Streams): boolean {
  if ((environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb') return false;
  return streams.stdout.isTTY === true;
}

/**
 * Takes from other users the permissions on the data folder and the file of secrets, with a
 * warning; where that fails, it warns at each command. A folder with neither outboxes nor secrets
 * is left alone: it may be another program's. Nothing on Windows.
 */
export function restrictHomePermissions({
  places: { home, outboxesFolder, secretsFile },
  terminal,
}: Context): void {
  if (!existsSync(outboxesFolder) && !existsSync(secretsFile)) return;
  for (const path of [home, secretsFile].filter(existsSync)) {
    const how = restrictPermissions(path);
    if (how === 'narrowed')
      terminal.warn(t`Others could read ${path} until now; from now on only you can.`);
    if (how === 'open')
      terminal.warn(t`Others may read ${path}, and its permissions cannot be changed.`);
  }
}

/**
 * Returns the profile of the flag, PAS_PROFILE, the default, or the only one, with all defaults.
 * @throws ConfigError where there is none of this name, no choice, or it is incomplete
 */
function chooseProfile(
  config: Config,
  configFile: string,
  environment: Environment,
  flag: string | undefined,
): Profile {
  const { profiles, defaultProfile } = config;
  const only = profiles.size === 1 ? [...profiles.keys()][0] : undefined;
  const name = flag ?? environment['PAS_PROFILE'] ?? defaultProfile ?? only;
  if (name === undefined) {
    throw profiles.size === 0
      ? new ConfigError(t`There is no profile yet.`, { hint: formatProfileAdvice(config) })
      : new ConfigError(t`There are several profiles, but no default.`, {
          hint: t`Choose one with \`${cmd`pas profile use`} NAME\` or --profile NAME.`,
        });
  }
  const settings = requireProfileSettings(config, name);
  return toProfile(name, settings, environment, t`${configFile}, profile ${name}`);
}

/**
 * Returns the `--profile` flag for printed commands, with a blank before it; empty where the
 * profile is the default anyway, or cannot be told. PAS_PROFILE may be set for this command only,
 * so it and the configured default must both be this profile.
 */
function formatProfileFlag(
  getConfig: () => Config,
  environment: Environment,
  getProfile: () => Profile,
): string {
  try {
    const { name } = getProfile();
    const { defaultProfile, profiles } = getConfig();
    const configured = defaultProfile ?? (profiles.size === 1 ? name : undefined);
    const isUsedAnyway = configured === name && (environment['PAS_PROFILE'] ?? name) === name;
    return isUsedAnyway ? '' : ` --profile ${quoteShellWord(name)}`;
  } catch {
    return '';
  }
}
