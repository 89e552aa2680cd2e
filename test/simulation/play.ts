import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../src/store/database.ts';
import { seededRandom } from '../chaos/random.ts';
import { tinyPng } from '../support/a-season.ts';
import { contentDigest, multipart } from '../support/contract-requests.ts';
import { type Ended, Machine } from './machine.ts';
import { Network } from './network.ts';
import { openService, recordsOf, type Service, type ServiceRecord } from './service.ts';
import { ACCOUNTS, type Account, type Fates, MACHINES, type MachineName, type Story } from './story.ts';
import { VirtualTime } from './virtual-time.ts';

const START_MS = Date.UTC(2024, 5, 1, 8);
const ORIGIN = 'https://service.test';
const PROJECT = 'C-202400101';
const LIMIT_MS = 100;
const HEADER = 'local_id;projekt;stav;geom_system;pristupnost;lon;lat;poznamka';
/** A push, as whatever happens to it ends: in any other way it has a bug. */
const EXPECTED_CODES = [0, 2, 3, 4, 5, 6, 11, 12, 15];
const OUTBOX_LEASED = 11;
const OPEN_STATES = ['queued', 'sending', 'uncertain'];
const QUIET_TURNS = 5;

/** For each machine a home with two profiles and an empty outbox, made once and copied for each story. */
export type Stage = {
  readonly time: VirtualTime;
  readonly service: Service;
  readonly folder: string;
  readonly templates: ReadonlyMap<MachineName, Machine>;
};

/** What the person of a story asked for. */
type Asked = {
  readonly id: string;
  readonly note: string;
  readonly account: Account;
  readonly photos: string[];
  readonly numbers: string[];
};

type Pusher = readonly [machine: MachineName, account: Account];

export type Outcome = {
  readonly trace: readonly string[];
  readonly violations: readonly string[];
  readonly left: number;
  readonly sent: number;
};

/** Loads all that stories use, so that from then on nothing but the story decides what comes next. */
const EVERYTHING: Story = {
  seed: 0,
  steps: [
    { kind: 'import', machine: 'laptop', account: 'archaeologist', finds: [{ id: 'F-1', note: 'story F-1', longitude: '14.4' }] },
    { kind: 'photo', machine: 'laptop', find: 'F-1', shade: 1 },
    { kind: 'number', machine: 'laptop', find: 'F-1', value: 'N-1' },
    {
      kind: 'push',
      machine: 'laptop',
      account: 'archaeologist',
      fates: [
        [1, 'answer-lost'],
        [2, 'bad-gateway-after'],
      ],
    },
    { kind: 'by-hand', find: 'F-1' },
    { kind: 'reconcile', machine: 'laptop', account: 'archaeologist', fates: [] },
    { kind: 'pull', machine: 'laptop', account: 'archaeologist', fates: [] },
    { kind: 'copy-home', from: 'laptop', to: 'office' },
    { kind: 'two-pushes', machine: 'office', fates: [], apartMs: 10 },
    { kind: 'push', machine: 'laptop', account: 'archaeologist', fates: [], killedAfter: 5 },
  ],
};

/** What all stories of a process share. @param folder of a disk that flushes at once */
export async function openStage(folder: string): Promise<Stage> {
  const time = new VirtualTime(START_MS);
  const service = await openService(ORIGIN, time);
  const network = new Network(time, [service], seededRandom(1));
  const templates = new Map<MachineName, Machine>();
  for (const name of MACHINES) {
    const own = mkdtempSync(join(folder, 'template-'));
    const machine = new Machine(name, '10.0.0.1', own, { time, network, random: seededRandom(1) });
    await furnish(machine, time);
    templates.set(name, machine);
  }
  const stage = { time, service, folder, templates };
  time.patienceMs = 20;
  await play(stage, EVERYTHING);
  time.patienceMs = 0;
  return stage;
}

/** Makes what takes longer to make than most stories take. */
async function furnish(machine: Machine, time: VirtualTime): Promise<void> {
  const run = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await time.until(machine.pas(args, { PAS_PROFILE: ACCOUNTS[0] }));
    if (code !== 0) throw new Error(stderr);
  };
  for (const account of ACCOUNTS) {
    const addresses = ['--base-url', ORIGIN, '--oai-base', ORIGIN, '--schema-base', `${ORIGIN}/schema/svc`];
    await run('init', '--name', account, '--kind', 'training', '--username', account, '--oai-auth', 'basic', ...addresses);
  }
  await run('status');
  await run('vocab', 'sets');
  rmSync(join(machine.folder, 'state'), { recursive: true, force: true });
}

/** Plays a story from its first step until everything has had time to settle, and holds what is there against what was asked for. */
export async function play(stage: Stage, story: Story): Promise<Outcome> {
  const scene = new Scene(stage, story);
  try {
    for (const step of story.steps) await scene.take(step);
    await scene.settle();
    return scene.judge();
  } finally {
    scene.close();
  }
}

class Scene {
  readonly #stage: Stage;
  readonly #folder: string;
  readonly #network: Network;
  readonly #machines: ReadonlyMap<MachineName, Machine>;
  readonly #asked = new Map<string, Asked>();
  readonly #tables = new Map<
    string,
    { readonly account: Account; readonly content: string; readonly machines: Set<MachineName> }
  >();
  readonly #copied = new Set<MachineName>();
  /** What each outbox held when it was last looked at, as long as nothing has touched it. */
  readonly #looked = new Map<MachineName, readonly Entry[]>();
  readonly #violations: string[] = [];
  readonly trace: string[] = [];

  constructor(stage: Stage, { seed }: Story) {
    const { time, service, folder, templates } = stage;
    this.#stage = stage;
    time.beginAt(START_MS);
    service.mock.reset();
    const random = seededRandom(seed ^ 0x5eed);
    this.#network = new Network(time, [service], random);
    this.#network.onEvent = (text) => this.#note(text);
    this.#folder = mkdtempSync(join(folder, 'story-'));
    this.#machines = new Map(
      MACHINES.map((name, index) => {
        const own = join(this.#folder, name);
        mkdirSync(own);
        cpSync(templates.get(name)?.home ?? '', join(own, 'home'), { recursive: true });
        return [name, new Machine(name, `10.0.0.${index + 1}`, own, { time, network: this.#network, random })];
      }),
    );
  }

  #note(text: string): void {
    this.trace.push(`${(this.#stage.time.nowMs - START_MS).toFixed(1)} ${text}`);
  }

  #machine(name: MachineName): Machine {
    return this.#machines.get(name) as Machine;
  }

  #entries(name: MachineName): readonly Entry[] {
    const entries = this.#looked.get(name) ?? entriesOf(this.#machine(name).home);
    this.#looked.set(name, entries);
    return entries;
  }

  /** Runs `pas` for an account, with what befalls its requests. */
  async #run(
    name: MachineName,
    account: Account,
    args: readonly string[],
    fates: Fates = [],
    killedAfter?: number,
  ): Promise<Ended> {
    this.#weather(fates);
    const run = this.#pas(name, account, args, killedAfter);
    return this.#stage.time.until(run);
  }

  async #pas(name: MachineName, account: Account, args: readonly string[], killedAfter?: number): Promise<Ended> {
    const env = { PAS_PASSWORD: account, PAS_PROFILE: account };
    const killed = killedAfter === undefined ? undefined : { afterLooks: killedAfter };
    const ended = await this.#machine(name).pas(args, env, killed);
    this.#looked.delete(name);
    this.#note(`${name} ${account} pas ${args.filter((arg) => !arg.startsWith('/')).join(' ')} -> ${ended.code ?? 'killed'}`);
    if (ended.code !== null && !EXPECTED_CODES.includes(ended.code))
      this.#violations.push(`pas ${args.join(' ')} ended with ${ended.code}: ${ended.stderr}`);
    return ended;
  }

  #weather(fates: Fates): void {
    const byNumber = new Map(fates);
    let nth = 0;
    this.#network.weather = {
      fateOf: ({ method, url }) => {
        const fate = byNumber.get(nth) ?? 'arrives';
        nth += 1;
        // Only a change that is the same when it comes a second time may be repeated on the way.
        return fate === 'repeated' && (method !== 'PATCH' || !url.includes('/api/pas/')) ? 'arrives' : fate;
      },
    };
  }

  async take(step: Story['steps'][number]): Promise<void> {
    const { time, service } = this.#stage;
    this.#looked.clear();
    switch (step.kind) {
      case 'import': {
        const rows = step.finds.map(({ id, note, longitude }) => `${id};${PROJECT};1;4326;HES-000867;${longitude};50.08;${note}`);
        const content = [HEADER, ...rows].join('\n');
        for (const { id, note } of step.finds) {
          this.#asked.set(id, { id, note, account: step.account, photos: [], numbers: [] });
          this.#tables.set(id, { account: step.account, content, machines: new Set([step.machine]) });
        }
        await this.#import(step.machine, step.account, content);
        return;
      }
      case 'import-again': {
        const table = this.#tables.get(step.find);
        // Two people who enter one find in two places make it twice, and mean to.
        if (table?.machines.has(step.machine) === true) await this.#import(step.machine, table.account, table.content);
        return;
      }
      case 'photo': {
        const asked = this.#asked.get(step.find);
        const file = this.#machine(step.machine).file(`photo-${step.shade}.png`, tinyPng(step.shade));
        const { code } = await this.#run(step.machine, asked?.account ?? 'archaeologist', ['photo', 'add', step.find, file]);
        if (code === 0) asked?.photos.push(createHash('sha512').update(tinyPng(step.shade)).digest('hex'));
        return;
      }
      case 'number': {
        const { code } = await this.#run(step.machine, 'archaeologist', ['number', 'set', step.find, step.value]);
        if (code === 0) this.#asked.get(step.find)?.numbers.push(step.value);
        return;
      }
      case 'push':
      case 'reconcile':
      case 'pull': {
        const args = [step.kind, ...this.#answers(step.kind, step.machine)];
        const { code } = await this.#run(step.machine, step.account, args, step.fates, step.killedAfter);
        if (step.kind === 'push' && code === 0) this.#expectNothingLeft(step.machine, step.account);
        return;
      }
      case 'two-pushes':
        await this.#sideBySide(step, [step.machine, 'archaeologist'], [step.machine, 'researcher']);
        return;
      case 'both-push':
        await this.#sideBySide(step, ['laptop', 'archaeologist'], ['office', 'archaeologist']);
        return;
      case 'wait':
        await time.until(time.sleep(step.ms));
        return;
      case 'keep-copy':
        this.#copyOutbox(this.#machine(step.machine).home, join(this.#folder, `kept-${step.machine}`), true);
        return;
      case 'put-copy-back': {
        const kept = join(this.#folder, `kept-${step.machine}`);
        if (existsSync(kept)) this.#copyOutbox(kept, this.#machine(step.machine).home, step.withLog);
        return;
      }
      case 'copy-home':
        rmSync(this.#machine(step.to).home, { recursive: true });
        cpSync(this.#machine(step.from).home, this.#machine(step.to).home, {
          recursive: true,
          filter: (path) => !path.endsWith('-shm'),
        });
        this.#copied.add(step.to);
        for (const { machines } of this.#tables.values()) if (machines.has(step.from)) machines.add(step.to);
        return;
      case 'by-hand':
        this.#note(`somebody enters ${step.find} by hand`);
        await this.#enterByHand(step.find);
        return;
      case 'clock':
        if (step.machine === 'service') service.mock.clock.advance(step.byMs);
        else this.#machine(step.machine).skewMs += step.byMs;
        return;
      case 'index':
        service.mock.applySettings({ index_delay_ms: step.delayMs });
    }
  }

  async #sideBySide({ fates, apartMs }: { fates: Fates; apartMs: number }, first: Pusher, second: Pusher): Promise<void> {
    const { time } = this.#stage;
    this.#weather(fates);
    const push = ([machine, account]: Pusher) => this.#pas(machine, account, ['push', ...this.#answers('push', machine)]);
    const later = time.sleep(apartMs).then(() => push(second));
    await time.until(Promise.all([push(first), later]));
  }

  async #import(machine: MachineName, account: Account, content: string): Promise<void> {
    await this.#run(machine, account, ['import', this.#machine(machine).file('finds.csv', content)]);
  }

  /** Exit code 0 means sent. */
  #expectNothingLeft(machine: MachineName, account: Account): void {
    const open = this.#entries(machine).filter(
      ({ kind, state, username }) => kind === 'import' && username === account && OPEN_STATES.includes(state),
    );
    if (open.length > 0) this.#violations.push(`a push ended with 0, and ${open[0]?.find} is ${open[0]?.state}`);
  }

  /** What a person says of a home that comes from another machine. */
  #answers(kind: string, machine: MachineName): string[] {
    return kind === 'push' && this.#copied.has(machine) ? ['--copied'] : [];
  }

  #copyOutbox(from: string, to: string, withLog: boolean): void {
    mkdirSync(to, { recursive: true });
    for (const suffix of ['', '-wal', '-shm']) {
      rmSync(join(to, `outbox.sqlite${suffix}`), { force: true });
      const source = join(from, `outbox.sqlite${suffix}`);
      if (existsSync(source) && (suffix === '' || (suffix === '-wal' && withLog)))
        cpSync(source, join(to, `outbox.sqlite${suffix}`));
    }
  }

  /** The document that `pas` would send, sent by a colleague. */
  async #enterByHand(find: string): Promise<void> {
    const { time, service } = this.#stage;
    const document = [...this.#machines.values()].flatMap(({ home }) => documentOf(home, find) ?? [])[0];
    if (document === undefined) return;
    const post = (path: string, headers: Record<string, string>, body: Buffer) =>
      time.until(service.take({ method: 'POST', url: `${ORIGIN}${path}`, headers, body, address: '10.9.9.9' }));
    const signedIn = await post(
      '/api/token-auth/',
      { 'content-type': 'application/json' },
      Buffer.from('{"username":"archivist","password":"archivist"}'),
    );
    const { token } = JSON.parse(signedIn.body.toString()) as { token: string };
    const file = { name: 'file', fileName: 'find.xml', type: 'application/xml', bytes: document };
    const body = multipart([file]);
    await post(
      '/api/pas/import-xml',
      {
        'content-type': 'multipart/form-data; boundary=xYzZY',
        'content-length': String(body.length),
        authorization: `Bearer ${token}`,
        'content-digest': contentDigest(document),
      },
      body,
    );
  }

  /** The trouble is over, and everybody pushes and looks until nothing changes any more. */
  async settle(): Promise<void> {
    const { time, service } = this.#stage;
    service.mock.applySettings({ index_delay_ms: 0 });
    for (let turn = 0; turn < QUIET_TURNS; turn += 1) {
      await time.until(time.sleep(2 * 3_600_000));
      const before = this.#states();
      for (const machine of MACHINES)
        for (const account of this.#accountsWithOpen(machine)) await this.#pushAndLook(machine, account);
      if (turn > 0 && this.#states() === before) return;
    }
  }

  #accountsWithOpen(machine: MachineName): readonly Account[] {
    const open = this.#entries(machine).filter(({ state }) => OPEN_STATES.includes(state));
    return ACCOUNTS.filter((account) => open.some(({ username }) => username === account));
  }

  async #pushAndLook(machine: MachineName, account: Account): Promise<void> {
    for (const command of ['push', 'reconcile']) {
      const args = [command, ...this.#answers(command, machine)];
      const { code } = await this.#run(machine, account, args);
      // Of a process of the machine that a home comes from a person must say that it is gone.
      if (code === OUTBOX_LEASED) await this.#run(machine, account, [...args, '--take-over']);
    }
  }

  #states(): string {
    return JSON.stringify(MACHINES.map((name) => this.#entries(name)));
  }

  judge(): Outcome {
    const records = recordsOf(this.#stage.service, PROJECT);
    const homes = MACHINES.map((name) => ({ name, entries: this.#entries(name) }));
    const all = homes.flatMap(({ entries }) => entries);
    const violations = [...this.#violations, ...this.#gaps()];
    for (const asked of this.#asked.values()) {
      const alike = [...this.#asked.values()].filter(({ note }) => note === asked.note);
      violations.push(...judgeFind(asked, alike, records, all));
    }
    return {
      trace: this.trace,
      violations,
      left: all.filter(({ state }) => state === 'uncertain').length,
      sent: all.filter(({ state }) => state === 'accepted').length,
    };
  }

  /** Requests of one machine, whose processes share a pace. */
  #gaps(): string[] {
    const lastMs = new Map<string, number>();
    return this.#network.departures.flatMap(({ atMs, url, from }) => {
      if (!new URL(url).pathname.startsWith('/api/pas/')) return [];
      const [machine = ''] = from.split(':');
      const gapMs = atMs - (lastMs.get(machine) ?? Number.NEGATIVE_INFINITY);
      lastMs.set(machine, atMs);
      return gapMs < LIMIT_MS - 0.001 ? [`two requests of ${machine} left ${gapMs.toFixed(2)} ms apart`] : [];
    });
  }

  close(): void {
    for (const machine of this.#machines.values()) machine.bury();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

type Entry = {
  readonly find: string;
  readonly kind: string;
  readonly state: string;
  readonly ident: string | null;
  readonly username: string;
  readonly value: string | null;
};

function entriesOf(home: string): Entry[] {
  return (
    readOutbox(
      home,
      `select coalesce(local_id, entries.ident_cely) as find, kind, state, entries.ident_cely as ident, entries.username as username, entries.value as value
      from entries left join finds on finds.id = find_id order by entries.id`,
    ) ?? []
  );
}

function documentOf(home: string, find: string): Buffer | undefined {
  const [row] =
    readOutbox<{ document: Buffer }>(
      home,
      `select document from entries join finds on finds.id = find_id
    where kind = 'import' and local_id = '${find}'`,
    ) ?? [];
  return row?.document;
}

function readOutbox<T = Entry>(home: string, query: string): T[] | undefined {
  const path = join(home, 'outbox.sqlite');
  if (!existsSync(path)) return undefined;
  const outbox = openSqlite(path);
  try {
    return outbox.prepare(query).all() as T[];
  } finally {
    outbox.close();
  }
}

/** @param twins the finds that are the same in all that the service is told, itself among them */
function judgeFind(
  { id, note, account }: Asked,
  twins: readonly Asked[],
  records: readonly ServiceRecord[],
  entries: readonly Entry[],
): string[] {
  const [numbers, photos] = [twins.flatMap((twin) => twin.numbers), twins.flatMap((twin) => twin.photos)];
  const alike = records.filter((record) => record.note === note);
  const made = alike.filter(({ maker }) => maker === ACCOUNT_IDS[account]);
  const ofFind = entries.filter(({ find }) => find === id);
  const imports = ofFind.filter(({ kind }) => kind === 'import');
  const inState = (...states: readonly string[]) => imports.filter(({ state }) => states.includes(state));
  const accepted = inState('accepted');
  const wrong = accepted.filter(({ ident }) => !made.some((record) => record.ident === ident));
  const makers = [BY_HAND, ...twins.map((twin) => ACCOUNT_IDS[twin.account])];
  const others = alike.filter(({ maker }) => !makers.includes(maker));
  const most = twins.filter((twin) => twin.account === account).length;
  const digests = made.flatMap((record) => record.digests);
  const own = made.filter((record) => accepted.some(({ ident }) => ident === record.ident));
  const sharers = entries.filter((entry) => entry.kind === 'import' && entry.state === 'accepted' && entry.find !== id);
  const shared = sharers.filter(({ ident }) => own.some((record) => record.ident === ident));
  const strange = digests.filter((digest) => !photos.includes(digest));
  const sent = ofFind.filter(({ kind }) => kind === 'number');
  const last = sent.findLast(({ state }) => state === 'accepted');
  const isAtRest = sent.every(({ state }) => state === 'accepted' || state === 'dropped') && accepted.length === 1;
  const number = own[0]?.number ?? '';
  return [
    made.length > most ? `${id} was made ${made.length} times: ${made.map(({ ident }) => ident)}` : '',
    others.length > 0 ? `${id} was made by ${others[0]?.maker}, who did not queue it` : '',
    wrong.length > 0 ? `${id} is called ${wrong[0]?.ident}, and the service calls it ${made.map(({ ident }) => ident)}` : '',
    inState('refused').length > 0 ? `${id} is called refused` : '',
    inState('queued', 'sending').length > 0
      ? `${id} is still ${inState('queued', 'sending')[0]?.state}, though nothing is in its way`
      : '',
    strange.length > 0 ? `${id} has a photograph that nobody gave it` : '',
    shared.length > 0 ? `${id} and ${shared[0]?.find} are called the same record` : '',
    made.length === 0 && inState('dropped').length > 0 && inState('uncertain').length === 0 ? `${id} was given up by nobody` : '',
    made.some((record) => new Set(record.digests).size < record.digests.length) ? `${id} has a photograph twice` : '',
    number !== '' && !numbers.includes(number) ? `${id} has the number ${number}, which nobody gave it` : '',
    isAtRest && last !== undefined && last.value !== number
      ? `${id} has the number ${number}, and ${last.value} was accepted last`
      : '',
  ].filter((violation) => violation !== '');
}

/** Who types finds in by hand. */
const BY_HAND = 'U-000020';

/** What the seed calls them. */
const ACCOUNT_IDS: Readonly<Record<Account, string>> = { archaeologist: 'U-000408', researcher: 'U-000102' };
