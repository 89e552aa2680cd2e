import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { seededRandom } from '../chaos/random.ts';
import { tinyPng } from '../support/a-season.ts';
import { contentDigest, multipart } from '../support/contract-requests.ts';
import { ACCOUNT_IDS, type Asked, documentOf, type Entry, entriesOf, judge } from './judge.ts';
import { type Ended, Machine } from './machine.ts';
import { Network } from './network.ts';
import { changeRecord, openService, recordsOf, type Service } from './service.ts';
import {
  ACCOUNTS,
  type Account,
  type DiskFault,
  type Fates,
  HOMES,
  MACHINES,
  type MachineName,
  type PlannedFind,
  type Step,
  type Story,
} from './story.ts';
import { VirtualTime } from './virtual-time.ts';

/** After all that the mock's own records tell of: what was changed later than a find was sent could be it. */
const START_MS = Date.UTC(2026, 5, 1, 8);
const ORIGIN = 'https://service.test';
const OTHER_ORIGIN = 'https://other.test';
const PROJECT = 'C-202400101';
const LIMIT_MS = 100;
const HEADER = 'local_id;projekt;stav;geom_system;pristupnost;lon;lat;poznamka';
/** A push, as whatever happens to it ends: in any other way it has a bug. */
const EXPECTED_CODES = [0, 2, 3, 4, 5, 6, 11, 12, 15];
const OUTBOX_LEASED = 11;
/** What a disk that is full or broken comes to. */
const DATABASE_FAILED = 12;
const TOKEN_MS = 86_400_000;
const OPEN_STATES = ['queued', 'sending', 'uncertain'];
const QUIET_TURNS = 5;
const BEFORE_PUT_ASIDE_MS = 10_000;
const PUTTING_BACK_MS = 60_000;

/** For each machine a home with three profiles and an empty outbox, made once and copied for each story. */
export type Stage = {
  readonly time: VirtualTime;
  readonly service: Service;
  /** Which a profile may be pointed at, from the first story on that tells of it. */
  other: Service | undefined;
  readonly folder: string;
  readonly templates: ReadonlyMap<MachineName, Machine>;
};

type Trouble = {
  readonly fates?: Fates;
  readonly writes?: Fates | undefined;
  readonly killedAfter?: number | undefined;
  readonly disk?: DiskFault | undefined;
  readonly putAside?: { readonly afterLooks: number; readonly forMs: number };
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
  const stage = { time, service, other: undefined, folder, templates };
  time.patienceMs = 2;
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
  if (story.steps.some(({ kind }) => kind === 'point')) stage.other ??= await openService(OTHER_ORIGIN, stage.time);
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
    {
      readonly account: Account;
      readonly content: string;
      readonly finds: readonly PlannedFind[];
      readonly machines: Set<MachineName>;
    }
  >();
  readonly #copied = new Set<MachineName>();
  /** Where profiles point. */
  readonly #pointed = new Map<MachineName, string>();
  /** Who sends also what others have queued. */
  readonly #sentForAll = new Set<Account>();
  /** Finds whose records people at the service have changed. */
  readonly #curated = new Set<string>();
  readonly #freed = new Set<string>();
  readonly #isFair: boolean;
  /** A second service is named. */
  readonly #isPointed: boolean;
  readonly #wasCopied: boolean;
  readonly #wereClocksSet: boolean;
  #wasPutBack = false;
  /** What each outbox held when it was last looked at, as long as nothing has touched it. */
  readonly #looked = new Map<MachineName, readonly Entry[]>();
  readonly #violations: string[] = [];
  /** Pushes that were put aside. */
  readonly #aside: Promise<unknown>[] = [];
  readonly trace: string[] = [];

  constructor(stage: Stage, { seed, steps }: Story) {
    const { time, service, other, folder, templates } = stage;
    this.#isFair = steps.every(isFair);
    this.#isPointed = steps.some(({ kind }) => kind === 'point');
    this.#wereClocksSet = steps.some(({ kind }) => kind === 'clock');
    this.#wasCopied = steps.some(({ kind }) => kind === 'put-copy-back' || kind === 'copy-home');
    this.#stage = stage;
    time.beginAt(START_MS);
    service.renew();
    if (other?.wasUsed() === true) other.renew();
    const random = seededRandom(seed ^ 0x5eed);
    this.#network = new Network(time, other === undefined ? [service] : [service, other], random);
    this.#network.onEvent = (text) => this.#note(text);
    this.#folder = mkdtempSync(join(folder, 'story-'));
    this.#machines = new Map(
      MACHINES.map((name, index) => {
        const own = join(this.#folder, name);
        mkdirSync(own);
        const machine = new Machine(name, `10.0.0.${index + 1}`, own, { time, network: this.#network, random });
        const template = templates.get(name)?.home ?? '';
        for (const file of readdirSync(template)) copyFileSync(join(template, file), join(machine.home, file));
        this.#looked.set(name, []);
        return [name, machine];
      }),
    );
  }

  #note(text: string): void {
    this.trace.push(`${(this.#stage.time.nowMs - START_MS).toFixed(1)} ${text}`);
  }

  #machine(name: MachineName): Machine {
    return this.#machines.get(name === 'second' ? 'laptop' : name) as Machine;
  }

  #home(name: MachineName): string {
    const machine = this.#machine(name);
    return name === 'second' ? join(machine.folder, 'second') : machine.home;
  }

  #homes(): MachineName[] {
    return HOMES.filter((name) => existsSync(this.#home(name)));
  }

  #serviceOf(name: MachineName): string {
    return this.#pointed.get(name) ?? ORIGIN;
  }

  #point(name: MachineName, to: string): void {
    const [config, from] = [join(this.#home(name), 'config.toml'), this.#serviceOf(name)];
    if (from === to || !existsSync(config)) return;
    const names = {
      base_url: to,
      oai_base: to,
      schema_base: `${to === OTHER_ORIGIN ? to : ORIGIN}/schema/svc`,
      kind: to === OTHER_ORIGIN ? 'production' : 'training',
    };
    const lines = Object.entries(names).map(
      ([key, value]) => [new RegExp(`^${key} = .*$`, 'gm'), `${key} = "${value}"`] as const,
    );
    writeFileSync(
      config,
      lines.reduce((text, [line, said]) => text.replace(line, said), readFileSync(config, 'utf8')),
    );
    this.#pointed.set(name, to);
  }

  /** In its one spelling. */
  #origin(name: MachineName): string {
    return this.#serviceOf(name) === OTHER_ORIGIN ? OTHER_ORIGIN : ORIGIN;
  }

  #entries(name: MachineName): readonly Entry[] {
    const entries = this.#looked.get(name) ?? entriesOf(this.#home(name));
    this.#looked.set(name, entries);
    return entries;
  }

  /** Runs `pas` for an account, with what befalls its requests. */
  async #run(
    name: MachineName,
    account: Account,
    args: readonly string[],
    { fates = [], writes = [], killedAfter, disk }: Trouble = {},
  ): Promise<Ended> {
    this.#weather(fates, writes);
    const run = this.#pas(name, account, args, { killedAfter, disk });
    return this.#stage.time.until(run);
  }

  async #pas(name: MachineName, account: Account, args: readonly string[], trouble: Trouble = {}): Promise<Ended> {
    if (this.#isPointed && args[0] === 'push' && this.#origin(name) === ORIGIN) this.#takeForTraining(name, account);
    const { killedAfter, disk, putAside } = trouble;
    const env = { PAS_PASSWORD: account, PAS_PROFILE: account, PAS_HOME: this.#home(name) };
    const ended = await this.#machine(name).pas(args, env, {
      ...(killedAfter === undefined ? {} : { killed: { afterLooks: killedAfter } }),
      ...(putAside === undefined ? {} : { putAside }),
      ...(disk === undefined ? {} : { disk }),
    });
    this.#looked.delete(name);
    this.#note(`${name} ${account} pas ${args.filter((arg) => !arg.startsWith('/')).join(' ')} -> ${ended.code ?? 'killed'}`);
    const isExpected = EXPECTED_CODES.includes(ended.code ?? 0) || (disk !== undefined && ended.code === DATABASE_FAILED);
    if (!isExpected) this.#violations.push(`pas ${args.join(' ')} ended with ${ended.code}: ${ended.stderr}`);
    return ended;
  }

  /** All that a home has is sent to a training service, by whoever pushes first there; production is given what was queued for it. */
  #takeForTraining(name: MachineName, account: Account): void {
    const entries = this.#entries(name);
    const known = new Set(entries.flatMap(({ find, kind, service }) => (kind === 'import' && service === ORIGIN ? [find] : [])));
    for (const { find } of entries) {
      const asked = this.#asked.get(find);
      asked?.services.add(ORIGIN);
      if (!known.has(find)) asked?.copiers.add(account);
    }
  }

  #weather(fates: Fates, writes: Fates = []): void {
    const byNumber = { all: new Map(fates), writes: new Map(writes) };
    const seen = { all: 0, writes: 0 };
    this.#network.weather = {
      fateOf: ({ method, url, headers }) => {
        const isWrite = method === 'PATCH' || headers?.['content-digest'] !== undefined;
        const ofWrite = isWrite ? byNumber.writes.get(seen.writes++) : undefined;
        const fate = ofWrite ?? byNumber.all.get(seen.all) ?? 'arrives';
        seen.all += 1;
        const isChange = url.includes('/api/pas/nalez/');
        // Only a change that is the same when it comes a second time may be repeated on the way, and only a record may be locked.
        return (fate === 'repeated' && !(isChange && method === 'PATCH')) || (fate === 'locked' && !isChange) ? 'arrives' : fate;
      },
    };
  }

  async take(step: Story['steps'][number]): Promise<void> {
    const { time, service } = this.#stage;
    const home = 'machine' in step ? step.machine : 'second' in step ? step.second : undefined;
    // Cut out of a story, with what made it.
    if (home !== undefined && home !== 'service' && !existsSync(this.#home(home))) return;
    switch (step.kind) {
      case 'import': {
        const rows = step.finds.map(({ id, note, longitude }) => `${id};${PROJECT};1;4326;HES-000867;${longitude};50.08;${note}`);
        const content = [HEADER, ...rows].join('\n');
        for (const { id, note } of step.finds) {
          this.#asked.set(id, {
            id,
            note,
            account: step.account,
            photos: [],
            numbers: [],
            services: new Set(this.#isPointed ? [] : [ORIGIN]),
            copiers: new Set(),
          });
          this.#tables.set(id, { account: step.account, content, finds: step.finds, machines: new Set([step.machine]) });
        }
        await this.#import(step.machine, step.finds[0]?.id);
        return;
      }
      case 'import-again':
        // Two people who enter one find in two places make it twice, and mean to.
        if (this.#tables.get(step.find)?.machines.has(step.machine) === true) await this.#import(step.machine, step.find);
        return;
      case 'photo': {
        const asked = this.#asked.get(step.find);
        const file = this.#machine(step.machine).file(step.name ?? `photo-${step.shade}.png`, tinyPng(step.shade));
        const { code } = await this.#run(step.machine, asked?.account ?? 'archaeologist', ['photo', 'add', step.find, file]);
        if (code === 0) asked?.photos.push(createHash('sha512').update(tinyPng(step.shade)).digest('hex'));
        return;
      }
      case 'photo-changed':
        this.#machine(step.machine).file(`photo-${step.shade}.png`, tinyPng(step.shade + 1));
        return;
      case 'number': {
        const account = step.account ?? 'archaeologist';
        const { code } = await this.#run(step.machine, account, ['number', 'set', step.find, step.value]);
        const service = this.#origin(step.machine);
        if (code === 0) this.#asked.get(step.find)?.numbers.push({ value: step.value, service });
        return;
      }
      case 'push':
      case 'reconcile':
      case 'pull': {
        const isForAll = step.kind === 'push' && step.anyAccount === true;
        if (isForAll) this.#sentForAll.add(step.account);
        const args = [step.kind, ...this.#answers(step.kind, step.machine), ...(isForAll ? ['--any-account'] : [])];
        const { code, stderr } = await this.#run(step.machine, step.account, args, step);
        if (step.kind === 'push' && code === 0) this.#expectNothingLeft(step.machine, step.account);
        if (this.#isFair && code !== 0)
          this.#violations.push(`nothing happened to it, and ${step.kind} ended with ${code}: ${stderr}`);
        return;
      }
      case 'two-pushes': {
        const second = step.alone === true ? 'archaeologist' : 'researcher';
        await this.#sideBySide(step, [step.machine, 'archaeologist'], [step.machine, second]);
        return;
      }
      case 'both-push':
        await this.#sideBySide(step, ['laptop', 'archaeologist'], [step.second ?? 'office', step.account ?? 'archaeologist']);
        return;
      case 'push-put-aside': {
        const args = ['push', ...this.#answers('push', step.machine)];
        this.#weather([]);
        this.#aside.push(this.#pas(step.machine, step.account, args, { putAside: step }));
        // Until it is put aside or has come to an end.
        await time.until(time.sleep(BEFORE_PUT_ASIDE_MS));
        return;
      }
      case 'wait':
        await time.until(time.sleep(step.ms));
        return;
      case 'keep-copy':
        this.#copyOutbox(this.#home(step.machine), join(this.#folder, `kept-${step.machine}`), true);
        return;
      case 'put-copy-back': {
        this.#looked.delete(step.machine);
        const kept = join(this.#folder, `kept-${step.machine}`);
        if (existsSync(kept)) this.#copyOutbox(kept, this.#home(step.machine), step.withLog);
        return;
      }
      case 'copy-home':
        this.#looked.delete(step.to);
        rmSync(this.#home(step.to), { recursive: true, force: true });
        cpSync(this.#home(step.from), this.#home(step.to), { recursive: true, filter: (path) => !path.endsWith('-shm') });
        this.#pointed.set(step.to, this.#serviceOf(step.from));
        if (step.to !== 'second') this.#copied.add(step.to);
        for (const { machines } of this.#tables.values()) if (machines.has(step.from)) machines.add(step.to);
        return;
      case 'new-home':
        this.#looked.delete('second');
        rmSync(this.#home('second'), { recursive: true, force: true });
        cpSync(this.#stage.templates.get('laptop')?.home ?? '', this.#home('second'), {
          recursive: true,
          filter: (path) => !basename(path).startsWith('outbox.sqlite'),
        });
        this.#pointed.delete('second');
        return;
      case 'by-hand':
        this.#note(`somebody enters ${step.find} by hand`);
        await this.#enterByHand(step.find);
        return;
      case 'curator':
        this.#curate(step);
        return;
      case 'tokens':
        service.mock.applySettings({ token_ms: step.lastMs });
        return;
      case 'saving':
        service.mock.faults.set([{ endpoint: 'import', fault: 'slow', at: 'save', ms: step.takesMs }]);
        return;
      case 'connecting':
        this.#network.mostConnectMs = step.mostMs;
        return;
      case 'steady-way':
        this.#network.isSteady = true;
        return;
      case 'keep-service':
        service.keep();
        return;
      case 'put-service-back':
        this.#wasPutBack = service.putBack() || this.#wasPutBack;
        // What it has lost and what is made then are told apart by their times.
        await time.until(time.sleep(PUTTING_BACK_MS));
        return;
      case 'point':
        this.#point(step.machine, step.to);
        return;
      case 'other-account':
        // Whom it was before, only a home can know that has been there.
        if (this.#homes().every((name) => this.#knowsArchaeologist(name)))
          service.nameAccount('archaeologist', ACCOUNT_IDS.researcher);
        return;
      case 'clock':
        if (step.machine === 'service') service.mock.clock.advance(step.byMs);
        else this.#machine(step.machine).skewMs += step.byMs;
        return;
      case 'index':
        service.mock.applySettings({ index_delay_ms: step.delayMs });
    }
  }

  /** Or has nothing that it could send. */
  #knowsArchaeologist(name: MachineName): boolean {
    const entries = this.#entries(name);
    return entries.length === 0 || entries.some(({ state, username }) => state === 'accepted' && username === 'archaeologist');
  }

  async #sideBySide({ fates, apartMs }: { fates: Fates; apartMs: number }, first: Pusher, second: Pusher): Promise<void> {
    const { time } = this.#stage;
    this.#weather(fates);
    const push = ([machine, account]: Pusher) => this.#pas(machine, account, ['push', ...this.#answers('push', machine)]);
    const before = this.#network.departures.length;
    const later = time.sleep(apartMs).then(() => push(second));
    await time.until(Promise.all([push(first), later]));
    if (first[0] === second[0]) this.#expectOneAfterTheOther(this.#network.departures.slice(before));
  }

  /** One outbox is pushed by one process at a time. */
  #expectOneAfterTheOther(departures: Network['departures']): void {
    const pids = departures.filter(({ url }) => new URL(url).pathname.startsWith('/api/pas/')).map(({ pid }) => pid);
    const turns = pids.filter((pid, nth) => pid !== pids[nth - 1]);
    if (turns.length > new Set(turns).size) this.#violations.push('two processes push one outbox at once');
  }

  /** The table that a find stands in. */
  async #import(machine: MachineName, find: string | undefined): Promise<void> {
    const table = this.#tables.get(find ?? '');
    if (table === undefined) return;
    const file = this.#machine(machine).file('finds.csv', table.content);
    const { code } = await this.#run(machine, table.account, ['import', file]);
    // A find that was killed among others may be there as well.
    if (code === 0) for (const { id } of table.finds) this.#asked.get(id)?.services.add(this.#origin(machine));
  }

  #curate({ find, does, value }: Extract<Step, { readonly kind: 'curator' }>): void {
    const { service } = this.#stage;
    const asked = this.#asked.get(find);
    const record = recordsOf(service, PROJECT).find(({ note, isDeleted }) => note === asked?.note && !isDeleted);
    if (asked === undefined || record === undefined) return;
    this.#note(`a curator makes a ${does} of ${find}`);
    this.#curated.add(find);
    for (const twin of this.#asked.values()) if (twin.note === asked.note) this.#curated.add(twin.id);
    if (does === 'number') asked.numbers.push({ value, service: service.origin });
    if (does === 'deletion') this.#freed.add(record.ident);
    changeRecord(service, record.ident, does, value);
  }

  /** Exit code 0 means sent. */
  #expectNothingLeft(machine: MachineName, account: Account): void {
    const service = this.#origin(machine);
    const open = this.#entries(machine).filter(
      ({ kind, state, username, ident, service: at }) =>
        (kind === 'import' || ident !== null) && username === account && at === service && OPEN_STATES.includes(state),
    );
    if (open.length > 0) this.#violations.push(`a push ended with 0, and ${open[0]?.find} is ${open[0]?.state}`);
  }

  /** What a person says of a home that comes from another machine. */
  #answers(kind: string, machine: MachineName): string[] {
    if (kind !== 'push') return [];
    return [...(this.#copied.has(machine) ? ['--copied'] : []), ...(this.#origin(machine) === OTHER_ORIGIN ? ['--yes'] : [])];
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
    const document = this.#homes().flatMap((name) => documentOf(this.#home(name), find) ?? [])[0];
    if (document === undefined) return;
    const post = (path: string, headers: Record<string, string>, body: Buffer) =>
      time.until(service.take({ method: 'POST', url: `${ORIGIN}${path}`, headers, body, address: '10.9.9.9' }));
    const signedIn = await post(
      '/api/token-auth/',
      { 'content-type': 'application/json' },
      Buffer.from('{"username":"colleague","password":"colleague"}'),
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

  /** The trouble is over, and everybody who has something open pushes and looks until nothing changes any more. */
  async settle(): Promise<void> {
    const { time, service } = this.#stage;
    await time.until(Promise.all(this.#aside));
    service.mock.applySettings({ index_delay_ms: 0, token_ms: TOKEN_MS });
    service.mock.faults.set([]);
    service.nameAccount('archaeologist', ACCOUNT_IDS.archaeologist);
    for (let turn = 0; turn < QUIET_TURNS; turn += 1) {
      await time.until(time.sleep(2 * 3_600_000));
      const before = this.#states();
      for (const name of this.#homes()) {
        for (const origin of [ORIGIN, OTHER_ORIGIN]) {
          const accounts = this.#accountsWithOpen(name, origin);
          if (accounts.length > 0 && this.#origin(name) !== origin) this.#point(name, origin);
          for (const account of accounts) await this.#pushAndLook(name, account);
        }
      }
      if (this.#states() === before && (turn > 0 || !this.#isOpen('queued', 'sending'))) return;
    }
  }

  #isOpen(...states: readonly string[]): boolean {
    return this.#homes().some((name) => this.#entries(name).some(({ state }) => states.includes(state)));
  }

  #accountsWithOpen(name: MachineName, service: string): readonly Account[] {
    const open = this.#entries(name).filter((entry) => entry.service === service && OPEN_STATES.includes(entry.state));
    return ACCOUNTS.filter((account) => open.some(({ username }) => username === account));
  }

  async #pushAndLook(name: MachineName, account: Account): Promise<void> {
    for (const command of ['push', 'reconcile']) {
      if (!this.#accountsWithOpen(name, this.#origin(name)).includes(account)) return;
      const args = [command, ...this.#answers(command, name)];
      const { code, stderr } = await this.#run(name, account, args);
      if (code !== OUTBOX_LEASED) continue;
      // Of a process of the machine that a home comes from a person must say that it is gone. Of any other one a machine knows it.
      if (this.#copied.has(name)) await this.#run(name, account, [...args, '--take-over']);
      else if (stderr.includes(' is pushing this outbox'))
        this.#violations.push(`${name} waits for a process that is gone: ${stderr}`);
    }
  }

  #states(): string {
    return JSON.stringify(this.#homes().map((name) => this.#entries(name)));
  }

  judge(): Outcome {
    const { service, other } = this.#stage;
    const homes = this.#homes().map((name) => this.#entries(name));
    const used = other?.wasUsed() === true ? [service, other] : [service];
    const violations = used.flatMap((each) =>
      judge({
        service: each.origin,
        records: recordsOf(each, PROJECT),
        homes,
        asked: [...this.#asked.values()],
        sentForAll: this.#sentForAll,
        curated: this.#curated,
        freed: this.#freed,
        wasCopied: this.#wasCopied,
        wereClocksSet: this.#wereClocksSet,
        wasPutBack: this.#wasPutBack,
      }),
    );
    const all = homes.flat();
    return {
      trace: this.trace,
      violations: [...this.#violations, ...this.#gaps(), ...this.#network.betrayed, ...violations],
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
      const way = `${machine} ${new URL(url).hostname}`;
      const gapMs = atMs - (lastMs.get(way) ?? Number.NEGATIVE_INFINITY);
      lastMs.set(way, atMs);
      return gapMs < LIMIT_MS - 0.001 ? [`two requests of ${machine} left ${gapMs.toFixed(2)} ms apart`] : [];
    });
  }

  close(): void {
    for (const machine of this.#machines.values()) machine.bury();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Whether whoever does it may expect that all goes well. */
function isFair(step: Step): boolean {
  switch (step.kind) {
    case 'import':
    case 'import-again':
    case 'photo':
    case 'number':
    case 'wait':
    case 'steady-way':
      return true;
    case 'push':
    case 'reconcile':
    case 'pull': {
      const { fates, writes = [], killedAfter, disk, anyAccount } = step;
      return fates.length + writes.length === 0 && killedAfter === undefined && disk === undefined && anyAccount === undefined;
    }
    default:
      return false;
  }
}
