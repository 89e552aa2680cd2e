import { existsSync } from 'node:fs';
import { type Clock, systemClock } from '../base/clock.ts';
import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { addToCommands, cmd } from '../base/message.ts';
import { shellWord } from '../base/shell-word.ts';
import type { Connections } from '../http/send.ts';
import type { Outbox, ServiceOutbox } from '../outbox/open-outbox.ts';
import type { ProcessTable } from '../outbox/process-table.ts';
import type { NamedService } from '../outbox/services.ts';
import { keepPrivate } from '../store/folder.ts';
import { systemKeyring } from '../store/keyring.ts';
import { openSecrets, ownerOf, type SecretStore } from '../store/secrets.ts';
import { learnWidths } from '../text/width.ts';
import type { Prompt } from '../ui/prompt.ts';
import { makeTerminal, type Streams, type Terminal } from '../ui/terminal.ts';
import type { VocabularyStore } from '../vocabulary/vocabulary-store.ts';
import { type ConfigFile, chooseProfile, type Profile, readConfigFile } from './config.ts';
import { type Environment, givenVariables, type Places, placesFrom } from './places.ts';

/** The flags that every command has. */
export type GlobalOptions = {
  readonly profile?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly color?: boolean;
};

export type World = {
  readonly environment: Environment;
  readonly streams: Streams;
  readonly cwd: string;
  /** In place of the system's own. */
  readonly given?: Partial<Ports>;
};

/** What a command takes from the machine and the network. */
type Ports = {
  readonly clock: Clock;
  /** Without it the outbox asks the system. */
  readonly processes?: ProcessTable;
  /** From 0 to 1. */
  random(): number;
  openConnections(): Promise<Connections>;
};

const SYSTEM: Ports = {
  clock: systemClock,
  random: Math.random,
  openConnections: async () => (await import('../http/send.ts')).openConnections({ maxConnections: 64 }),
};

/** What a command is given. Whatever costs time to open is opened when it is first asked for, and closed at the end. */
export type Context = World & {
  readonly clock: Clock;
  random(): number;
  readonly places: Places;
  readonly terminal: Terminal;
  readonly secrets: SecretStore;
  config(): ConfigFile;
  profile(): Profile;
  /** All services in it, for what concerns no profile. @throws UsageError where there is none */
  wholeOutbox(): Promise<Outbox>;
  /** As the profile's account sees its service in it. */
  outbox(): Promise<ServiceOutbox>;
  /** The same two for looking only: a copy where the disk is full or cannot be written. */
  wholeOutboxToRead(): Promise<Outbox>;
  outboxToRead(): Promise<ServiceOutbox>;
  vocabulary(): Promise<VocabularyStore>;
  connections(): Promise<Connections>;
  prompt(): Promise<Prompt>;
  /** Registers what must be closed when the command is over. */
  onClose(close: () => void | Promise<void>): void;
  close(): Promise<void>;
};

export function makeContext(world: World, options: GlobalOptions): Context {
  const { streams } = world;
  const { clock, processes, random, openConnections }: Ports = { ...SYSTEM, ...world.given };
  const environment = givenVariables(world.environment);
  const places = placesFrom(environment);
  const closers: (() => void | Promise<void>)[] = [];
  const onClose = (close: () => void | Promise<void>): void => {
    closers.unshift(close);
  };
  const opened = <T>(open: () => Promise<T>): (() => Promise<T>) => {
    let value: Promise<T> | undefined;
    return () => {
      value ??= open();
      return value;
    };
  };
  const readConfig = (): ConfigFile => readConfigFile(places.configFile);
  let chosen: Profile | undefined;
  const profile = (): Profile => {
    chosen ??= chooseProfile(readConfig(), places, { flag: options.profile, environment });
    return chosen;
  };
  const terminal = makeTerminal(streams, {
    json: options.json === true,
    quiet: options.quiet === true,
    verbose: options.verbose === true,
    color: options.color !== false && wantsColor(environment, streams),
    cursor: environment['TERM'] !== 'dumb',
  });
  let flag: string | undefined;
  addToCommands(() => {
    flag ??= profileFlag(readConfig, environment, profile);
    return flag;
  });
  const openAt = async (path: string): Promise<Outbox> => {
    const [{ openOutbox }, { nameServices }] = await Promise.all([
      import('../outbox/open-outbox.ts'),
      import('../outbox/services.ts'),
    ]);
    const outbox = openOutbox(
      path,
      clock,
      () => {
        if (streams.stderr.isTTY === true)
          terminal.note(t`The outbox is brought up to date for this version of pas. This takes some seconds, once.`);
      },
      processes,
    );
    onClose(() => outbox.close());
    nameServices(outbox, namedServices(readConfig()));
    return outbox;
  };
  const openWhole = opened(() => openAt(places.outboxFile));
  const openToRead = opened(async () => {
    try {
      return await openWhole();
    } catch (thrown) {
      const { cannotWrite, copyToRead } = await import('../store/database-file.ts');
      if (!cannotWrite(thrown) || !existsSync(places.outboxFile)) throw thrown;
      const copy = copyToRead(places.outboxFile);
      onClose(copy.remove);
      terminal.note(t`Nothing can be written in ${places.home}: the outbox is read from a copy.`);
      return openAt(copy.path);
    }
  });
  const existing = (open: () => Promise<Outbox>) => async (): Promise<Outbox> => {
    if (!existsSync(places.outboxFile)) throw new UsageError(t`There is no outbox in ${places.home} yet.`);
    return open();
  };
  const bound = (open: () => Promise<Outbox>) =>
    opened(async () => {
      const { notePointing, openService } = await import('../outbox/services.ts');
      // An empty outbox is never made where a drive is not connected: there would be no profile either.
      const { name, baseUrl, username = '' } = profile();
      const outbox = openService(await open(), { address: baseUrl, username });
      const before = notePointing(outbox, name);
      if (before !== undefined)
        terminal.warn(
          t`Profile ${name} named ${before} until now and names ${baseUrl} from here on. What was queued for, sent to or told by ${before} stays with it. If that service has moved: ${cmd`pas service moved ${before} ${baseUrl}`}`,
        );
      return outbox;
    });
  return {
    ...world,
    environment,
    clock,
    random,
    places,
    terminal,
    secrets: openSecrets(places.secretsFile, systemKeyring(environment), (name) => secretOwnersOf(readConfig(), name)),
    config: readConfig,
    profile,
    wholeOutbox: existing(openWhole),
    wholeOutboxToRead: existing(openToRead),
    outbox: bound(openWhole),
    outboxToRead: bound(openToRead),
    vocabulary: opened(async () => {
      const { openVocabulary } = await import('../vocabulary/vocabulary-store.ts');
      const vocabulary = openVocabulary(places.vocabularyFile, clock);
      onClose(() => vocabulary.close());
      return vocabulary;
    }),
    connections: opened(async () => {
      const connections = await openConnections();
      onClose(() => connections.close());
      return connections;
    }),
    prompt: opened(async () => {
      const [{ makePrompt }] = await Promise.all([import('../ui/prompt.ts'), learnWidths()]);
      return makePrompt(streams.stdin, streams.stderr);
    }),
    onClose,
    close: async () => {
      for (const close of closers.splice(0)) await close();
    },
  };
}

/** Which services and accounts the profiles of a configuration name. */
export function namedServices({ profiles }: ConfigFile): NamedService[] {
  return [...profiles].flatMap(([profile, { base_url: address, username }]) =>
    address === undefined ? [] : [{ profile, address: String(address), username: String(username ?? '') }],
  );
}

/** Under what the secrets of a profile are kept: its account's, and its pacing store's. */
export function secretOwnersOf({ profiles }: ConfigFile, name: string): string[] {
  const { base_url: address, username, pacing } = profiles.get(name) ?? {};
  if (address === undefined) return [];
  const account = ownerOf({ baseUrl: String(address), username: username === undefined ? undefined : String(username) });
  return pacing === undefined || pacing === 'local' ? [account] : [account, String(pacing)];
}

/** See no-color.org; a dumb terminal and a redirected stdout get plain text as well. */
function wantsColor(environment: Environment, streams: Streams): boolean {
  if ((environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb') return false;
  return streams.stdout.isTTY === true;
}

/**
 * A data folder or a file of secrets that others may read is narrowed, and a person is told; where it cannot be, each time. A folder
 * without either of ours may be anybody's.
 */
export function keepHomePrivate({ places: { home, outboxFile, secretsFile }, terminal }: Context): void {
  if (!existsSync(outboxFile) && !existsSync(secretsFile)) return;
  const kept = [home, secretsFile].filter(existsSync).map((path) => ({ path, how: keepPrivate(path) }));
  const [narrowed, open] = (['narrowed', 'open'] as const).map((how) =>
    kept.flatMap((each) => (each.how === how ? [each.path] : [])).join(', '),
  );
  if (narrowed !== '') terminal.warn(t`Others could read ${narrowed} until now; from here on only you can.`);
  if (open !== '') terminal.warn(t`Others may read ${open}, and its permissions cannot be changed.`);
}

/**
 * What a command must have added to act on the profile of this one; nothing where that profile is the one that is used anyway, or
 * there is none. What PAS_PROFILE says may be said for this command alone, so both that and the configured one must be it.
 */
function profileFlag(config: () => ConfigFile, environment: Environment, profile: () => Profile): string {
  try {
    const { name } = profile();
    const { defaultProfile, profiles } = config();
    const configured = defaultProfile ?? (profiles.size === 1 ? name : undefined);
    const isUsedAnyway = configured === name && (environment['PAS_PROFILE'] ?? name) === name;
    return isUsedAnyway ? '' : ` --profile ${shellWord(name)}`;
  } catch {
    return '';
  }
}
