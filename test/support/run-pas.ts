import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fetchToken } from './contract-requests.ts';
import { found, makeNews } from './eventually.ts';
import { hosted } from './hosted-runs.ts';
import type { JsonOutput } from './json-output.ts';
import { tempFolder } from './temp-folder.ts';
import { tied } from './tied.ts';

export const PROJECT = resolve(import.meta.dirname, '..', '..');
const BIN = join(PROJECT, 'bin', 'pas.js');

export type Run = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type Home = {
  readonly folder: string;
  /** Writes a file beside the home and returns its path. */
  file(name: string, content: string | Buffer): string;
  /**
   * Runs `pas` to its end, in the process of {@link hosted} runs where that is as good as one of
   * its own.
   */
  pas(...args: string[]): Promise<Run>;
  /** Runs `pas` to its end. @throws Error with all that it wrote, where it does not end with 0 */
  do(...args: string[]): Promise<Run>;
  /** Makes a profile of this service, for training unless the flags say otherwise. */
  init(service: Addresses, ...flags: string[]): Promise<Run>;
  /** Runs `pas … --json`, and parses its one value. */
  json<Name extends keyof JsonOutput>(command: Name, ...args: string[]): Promise<JsonOutput[Name]>;
  json<T>(...args: string[]): Promise<T>;
  /** Starts `pas` and lets it run. */
  start(...args: string[]): Started;
  readonly env: NodeJS.ProcessEnv;
  /** The same home with another environment. */
  with(more: NodeJS.ProcessEnv): Home;
  /** Another home that holds the same, which costs no process. */
  copy(): Home;
};

export type Started = {
  readonly child: ChildProcess;
  readonly ended: Promise<Run>;
  /**
   * Waits until what it has written is so.
   * @throws Error with all that it wrote, where it ends before that, and after a deadline
   */
  until(isSo: (written: Written) => boolean): Promise<void>;
};

/** Whole lines only: the last one may not be finished. */
export type Written = { readonly stdout: string; readonly stderr: string };

export type Addresses = {
  readonly base_url: string;
  readonly oai_base?: string;
  readonly schema_base: string;
};
export type Service = Required<Addresses>;

/** A service whose parts all have this origin. */
export function serviceAt(origin: string): Service {
  return { base_url: origin, oai_base: origin, schema_base: `${origin}/schema` };
}

/** The same service under another host name. */
export function atHost(host: string, { base_url, oai_base, schema_base }: Service): Service {
  const move = (address: string): string => address.replace('127.0.0.1', host);
  return { base_url: move(base_url), oai_base: move(oai_base), schema_base: move(schema_base) };
}

/** Flags of `pas init` for a user who harvests with the account too. */
export function accountFlags(user = 'archaeologist'): string[] {
  return ['--username', user, '--oai-auth', 'basic'];
}

/** Flags that set a value in every find. */
export function setFlags(...settings: readonly string[]): string[] {
  return settings.flatMap((setting) => ['--set', setting]);
}

/** Arguments of `pas init` for a training profile of this service. */
export function initArgs({ base_url, oai_base, schema_base }: Addresses): string[] {
  const harvesting = oai_base === undefined ? [] : ['--oai-base', oai_base];
  const addresses = ['--base-url', base_url, ...harvesting, '--schema-base', schema_base];
  return ['init', '--kind', 'training', ...addresses];
}

/**
 * Flags of a profile for a mock server without throttle: nothing is waited for between requests.
 */
export const WITHOUT_PAUSES = ['--set', 'min_interval_ms=0'];

/**
 * Flags of a profile for which what happens at the mock server is settled so long after a request.
 */
export function settledAfter(settleMs: number, intervalMs = 10): string[] {
  return [
    '--set',
    `min_interval_ms=${intervalMs}`,
    '--set',
    `settle_ms=${settleMs}`,
    '--set',
    'index_allowance_ms=0',
  ];
}

/** Arguments of `pas init` for a profile of a service that is not there. */
export const INIT_OFFLINE = [...initArgs(serviceAt('https://pas.example')), '--name', 'here'];

/** A home of its own, with nothing of this machine's user in it. */
export function makeHome(more: NodeJS.ProcessEnv = {}, folder = tempFolder()): Home {
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: folder,
    PAS_HOME: join(folder, 'pas'),
    XDG_STATE_HOME: join(folder, 'state'),
    PAS_LANG: 'en',
    // Elsewhere than on Linux the keyring is found without any of the environment: the user's own
    // stays out of this.
    ...(process.platform === 'linux' ? {} : { PAS_KEYRING: 'off' }),
    ...more,
  };
  const start = (...args: string[]): Started => startProcess(args, env, folder);
  const pas = async (...args: string[]): Promise<Run> =>
    (await hosted(args, env, folder)) ?? start(...args).ended;
  return {
    folder,
    env,
    start,
    with: (changes) => makeHome({ ...more, ...changes }, folder),
    copy() {
      const other = makeHome(more);
      cpSync(folder, other.folder, { recursive: true });
      return other;
    },
    file(name, content) {
      const path = join(folder, name);
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    pas,
    do: (...args) => expectDone(pas(...args)),
    init: (service, ...flags) => expectDone(pas(...initArgs(service), ...flags)),
    async json<T>(...args: string[]): Promise<T> {
      const run = await pas(...args, '--json');
      try {
        return JSON.parse(run.stdout) as T;
      } catch {
        throw new Error(
          `pas ${args.join(' ')} ended with ${run.code} and no JSON:\n${run.stdout}\n${run.stderr}`,
        );
      }
    },
  };
}

function startProcess(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Started {
  const child = tied(
    spawn(process.execPath, [BIN, ...args], { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  const written = { stdout: '', stderr: '' };
  const news = makeNews();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
      news.tell();
    });
  }
  let isOver = false;
  const ended = new Promise<Run>((end) =>
    child.on('close', (code, signal) => {
      isOver = true;
      news.tell();
      end({ code, signal, ...written });
    }),
  );
  const until = async (isSo: (lines: Written) => boolean): Promise<void> => {
    await found(news, async () => {
      const seen = { stdout: wholeLines(written.stdout), stderr: wholeLines(written.stderr) };
      const lacks = `pas ${args.join(' ')} has not come to ${isSo}:\n${written.stdout}\n${written.stderr}`;
      return { seen, lacks: isSo(seen) ? undefined : lacks, isOver };
    });
  };
  return { child, ended, until };
}

function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf('\n') + 1);
}

/** Address without a listener. */
const NOWHERE = 'http://127.0.0.1:9';

/** A home of the field: its profile names a service that cannot be reached. */
export async function homeWithoutNetwork(): Promise<Home> {
  const home = makeHome();
  const account = ['--username', 'a', '--oai-auth', 'none'];
  await home.init(serviceAt(NOWHERE), '--name', 'field', ...account);
  return home;
}

/** By service: a later one may have got the same address. */
const signedInHomes = new WeakMap<Service, Map<string, Promise<Home>>>();

/** Preparation of a home before tests get their copies of it. */
export type Preparation = { readonly name: string; prepare(home: Home): Promise<unknown> };

/**
 * A home that is signed in at the mock server. The first of a kind is made by `pas`; the next ones
 * are copies of it, with the token that the server gives now.
 */
export async function signedIn(
  service: Service,
  more: readonly string[] = WITHOUT_PAUSES,
  user = 'archaeologist',
  preparation?: Preparation,
): Promise<Home> {
  const kind = JSON.stringify([user, more, preparation?.name]);
  const homes = signedInHomes.get(service) ?? new Map<string, Promise<Home>>();
  signedInHomes.set(service, homes);
  const first = homes.get(kind);
  if (first === undefined) {
    const homePromise = makeSignedIn(service, more, user).then(async (home) => {
      await preparation?.prepare(home);
      return home;
    });
    homes.set(kind, homePromise);
    return (await homePromise).copy();
  }
  const home = (await first).copy();
  const secrets = join(home.folder, 'pas', 'secrets.json');
  const kept = JSON.parse(readFileSync(secrets, 'utf8')) as Record<string, Record<string, string>>;
  const owner = `${service.base_url} ${user}`;
  const token = await fetchToken({ url: service.base_url }, user);
  writeFileSync(secrets, JSON.stringify({ ...kept, [owner]: { ...kept[owner], token } }));
  return home;
}

/** A signed-in home that has harvested all vocabularies. */
export function withVocabularies(service: Service): Promise<Home> {
  return signedIn(service, WITHOUT_PAUSES, 'archaeologist', {
    name: 'vocabularies',
    prepare: (home) => home.do('harvest-vocab'),
  });
}

async function makeSignedIn(
  service: Service,
  more: readonly string[],
  user: string,
): Promise<Home> {
  const home = makeHome({ PAS_PASSWORD: user });
  await home.init(service, '--name', 'mock', ...accountFlags(user), ...more);
  await home.do('login');
  return home;
}

export async function expectDone(running: Promise<Run>): Promise<Run> {
  const run = await running;
  if (run.code !== 0) throw new Error(`pas ended with ${run.code}\n${run.stdout}\n${run.stderr}`);
  return run;
}

/**
 * A run of `pas` ends with this code, and its messages have this text or match this pattern, and no
 * stack.
 */
export async function expectEnded(
  running: Promise<Run> | Run,
  code: number,
  said: string | RegExp = '',
): Promise<void> {
  const run = await running;
  const hasSaid = typeof said === 'string' ? run.stderr.includes(said) : said.test(run.stderr);
  if (run.code !== code || !hasSaid)
    throw new Error(`ended with ${run.code}, not with ${code} and ${said}:\n${run.stderr}`);
  if (/\n\s+at .+:\d+:\d+/.test(run.stderr)) throw new Error(`showed a stack:\n${run.stderr}`);
}

/** The words of a command, as a shell takes them. */
export function splitWords(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
}

/** The state of each find, by its name, as `pas list` says it. */
export async function findStates(home: Home): Promise<Record<string, string>> {
  const listed = await home.json('list');
  return Object.fromEntries(listed.map(({ local_id, state }) => [local_id, state]));
}

/** Identifier of a find at the service, empty before it has one. */
export async function readIdent(home: Home, find: string): Promise<string> {
  const listed = await home.json('list');
  return listed.find(({ local_id }) => local_id === find)?.ident_cely ?? '';
}

/** Every line of JSON that a command printed. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
