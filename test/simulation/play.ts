import { createHash } from 'node:crypto';
import {
  closeSync,
  cpSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { contentDigest, multipart } from '../support/contract-requests.ts';
import { seededRandom } from '../support/random.ts';
import { tinyPng } from '../support/season.ts';
import { type Ended, Machine } from './machine.ts';
import { isWrite, Network } from './network.ts';
import { type Asked, judge, type Wish } from './oracle.ts';
import {
  arePushed,
  type Entry,
  findOutbox,
  getFolderName,
  listOutboxes,
  readDocument,
  readEntries,
  readLastCommand,
} from './outboxes.ts';
import { answerTo, findAsked, type Known } from './person.ts';
import {
  ACCOUNT_IDS,
  ACCOUNTS,
  type Account,
  bothPushing,
  type DiskFault,
  type Done,
  type Fates,
  HOMES,
  MACHINES,
  type MachineName,
  type PlannedFind,
  PROFILES,
  type Profile,
  type Pusher,
  type Scenario,
  type Step,
} from './scenario.ts';
import {
  changeRecord,
  listRecords,
  openService,
  type Service,
  type ServiceRecord,
} from './service.ts';
import { VirtualTime } from './virtual-time.ts';

/**
 * After all that the mock's own records tell of: what was changed later than a find was sent could
 * be it.
 */
const START_MS = Date.UTC(2026, 5, 1, 8);
const ORIGIN = 'https://service.test';
const OTHER_ORIGIN = 'https://other.test';
const PROJECT = 'C-202400101';
const LIMIT_MS = 100;
const HEADER = 'local_id;projekt;stav;geom_system;pristupnost;lon;lat;poznamka';
/** Whatever happens to a command: in any other way it has a bug. */
const EXPECTED_CODES = [0, 2, 3, 4, 5, 6, 11, 12, 15];
const TOKEN_MS = 86_400_000;
const OPEN_STATES = ['queued', 'sending', 'uncertain'];
const QUIET_TURNS = 5;
const MAX_ANSWERS = 3;
const PUTTING_BACK_MS = 60_000;
/** Between a look at a record and its number. */
const LOOK_MS = 3000;

/**
 * For each machine a home with all profiles and an empty outbox, made once and copied for each
 * scenario.
 */
export type Stage = {
  readonly time: VirtualTime;
  readonly service: Service;
  /** For training, from the first scenario on that uses it. */
  other: Service | undefined;
  readonly folder: string;
  readonly templates: ReadonlyMap<MachineName, Machine>;
  /** Identifiers are drawn again from here. */
  drawAnew(seed: number): void;
};

type Trouble = {
  readonly fates?: Fates;
  readonly writes?: Fates | undefined;
  readonly killedAfter?: number | undefined;
  readonly killedAt?: Promise<void>;
  readonly disk?: DiskFault | undefined;
};

type Wishes = ReadonlyMap<string, Wish>;

export type Outcome = {
  readonly trace: readonly string[];
  readonly violations: readonly string[];
  readonly left: number;
  readonly sent: number;
};

/**
 * Loads all that scenarios use, so that from then on nothing but the scenario decides what comes
 * next.
 */
const EVERYTHING: Scenario = {
  seed: 0,
  steps: [
    {
      kind: 'import',
      machine: 'laptop',
      account: 'archaeologist',
      finds: [{ id: 'F-1', note: 'scenario F-1', longitude: '14.4' }],
    },
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
    { kind: 'backup', machine: 'laptop' },
    { kind: 'copy-home', from: 'laptop', to: 'second' },
    bothPushing([], 10, ['second', 'archaeologist'], ['second', 'researcher']),
    ...(
      [
        'edit',
        'validate',
        'number-import',
        'check',
        'drop',
        'restore',
        'train',
        'rehearse',
        'take-back',
        'redo',
        'remove',
        'take-over',
      ] as const
    ).map(
      (does) =>
        ({
          kind: 'does',
          machine: 'laptop',
          account: 'archaeologist',
          does,
          find: 'F-1',
          value: 'N-2',
        }) as const,
    ),
    { kind: 'answer', machine: 'laptop', account: 'archaeologist' },
    {
      kind: 'watch',
      machine: 'laptop',
      account: 'archaeologist',
      fates: [],
      meanwhile: [],
      restMs: 5000,
    },
    { kind: 'push', machine: 'laptop', account: 'archaeologist', fates: [], killedAfter: 5 },
  ],
};

/** State shared by all scenarios of a process. @param folder of a disk that flushes at once */
export async function openStage(folder: string, drawAnew: Stage['drawAnew']): Promise<Stage> {
  const time = new VirtualTime(START_MS);
  const service = await openService(ORIGIN, time);
  const network = new Network(time, [service], seededRandom(1));
  const templates = new Map<MachineName, Machine>();
  for (const name of MACHINES) {
    const templateFolder = mkdtempSync(join(folder, 'template-'));
    const machine = new Machine(name, '10.0.0.1', templateFolder, {
      time,
      network,
      random: seededRandom(1),
    });
    await furnish(machine, time);
    templates.set(name, machine);
  }
  const stage = { time, service, other: undefined, folder, templates, drawAnew };
  time.patienceMs = 2;
  await play(stage, EVERYTHING);
  time.patienceMs = 0;
  return stage;
}

/** Makes what takes longer to make than most scenarios take. */
async function furnish(machine: Machine, time: VirtualTime): Promise<void> {
  const run = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await time.until(machine.pas(args, { PAS_PROFILE: ACCOUNTS[0] }));
    if (code !== 0) throw new Error(stderr);
  };
  for (const profile of PROFILES) {
    const [origin, kind] =
      profile === 'training' ? [OTHER_ORIGIN, 'training'] : [ORIGIN, 'production'];
    const addresses = [
      '--base-url',
      origin,
      '--oai-base',
      origin,
      '--schema-base',
      `${origin}/schema/svc`,
    ];
    await run(
      'init',
      '--name',
      profile,
      '--kind',
      kind,
      '--username',
      getAccount(profile),
      '--oai-auth',
      'basic',
      ...addresses,
    );
  }
  await run('vocab', 'list');
  // Outboxes that are made with a scenario are made again and again.
  for (const profile of ACCOUNTS) await run('status', '--profile', profile);
}

function getAccount(profile: Profile): Account {
  return profile === 'training' ? 'archaeologist' : profile;
}

/**
 * Plays a scenario from its first step until everything has had time to settle, and holds what is
 * there against what was asked for.
 */
export async function play(stage: Stage, scenario: Scenario): Promise<Outcome> {
  if (scenario.steps.some(isOfTwoServices))
    stage.other ??= await openService(OTHER_ORIGIN, stage.time);
  const scene = new Scene(stage, scenario);
  try {
    for (const step of scenario.steps) await scene.take(step);
    await scene.settle();
    return await scene.judge();
  } finally {
    scene.close();
  }
}

function isOfTwoServices(step: Step): boolean {
  return 'does' in step && (step.does === 'train' || step.does === 'rehearse');
}

class Scene {
  readonly #stage: Stage;
  readonly #folder: string;
  readonly #network: Network;
  readonly #machines: ReadonlyMap<MachineName, Machine>;
  readonly #asked = new Map<string, Asked>();
  /** Wishes before each command of a person, and after it. */
  readonly #commands = new Map<
    string,
    { readonly place: string; readonly before: Wishes; readonly after: Wishes }
  >();
  readonly #undone = new Set<string>();
  /** Wishes and commands when the last backup of each home was made. */
  readonly #backups = new Map<
    MachineName,
    { readonly wishes: Wishes; readonly commands: ReadonlySet<string> }
  >();
  readonly #tables = new Map<
    string,
    {
      readonly account: Account;
      readonly content: string;
      readonly finds: readonly PlannedFind[];
      readonly machines: Set<MachineName>;
    }
  >();
  /**
   * The machine that an outbox is pushed from, where that is not the only one that it ever was on.
   */
  readonly #owners = new Map<string, string>();
  /** By their digests. */
  readonly #photographs = new Map<string, { readonly name: string; readonly shade: number }>();
  /** Finds whose records people at the service have changed. */
  readonly #curated = new Set<string>();
  readonly #freed = new Set<string>();
  /** Numbers that curators set, and when a home learnt what a record has, or decided. */
  readonly #curatedNumbers: {
    readonly ident: string;
    readonly value: string;
    readonly atMs: number;
    readonly isSeen: boolean;
  }[] = [];
  readonly #acts: { readonly note: string | undefined; readonly atMs: number }[] = [];
  readonly #isFair: boolean;
  /** Nothing but commands, copies and the network changes anything. */
  readonly #isOrdinary: boolean;
  readonly #questions: Entry[] = [];
  readonly #wasCopied: boolean;
  readonly #wereClocksSet: boolean;
  readonly #isAnonymous: boolean;
  #indexDelayMs = 0;
  /**
   * Two outboxes were pushed at once: a slow service refuses one of two finds of a project without
   * a reason.
   */
  #wereBeside = false;
  #wasPutBack = false;
  /** Contents of each outbox at the last look, as long as nothing has changed it. */
  readonly #looked = new Map<MachineName, readonly Entry[]>();
  readonly #violations: string[] = [];
  readonly trace: string[] = [];

  constructor(stage: Stage, { seed, steps }: Scenario) {
    const { time, service, other, folder, templates } = stage;
    this.#isFair = steps.every(isFair);
    this.#isOrdinary = steps.every(isOrdinary) && !bringsRemovedBack(steps);
    this.#wereClocksSet = steps.some(({ kind }) => kind === 'clock');
    this.#isAnonymous = steps.some(({ kind }) => kind === 'anonymous');
    this.#wasCopied = steps.some(isCopying);
    this.#stage = stage;
    time.beginAt(START_MS);
    service.renew();
    if (other?.wasUsed() === true) other.renew();
    stage.drawAnew(seed);
    const random = seededRandom(seed ^ 0x5eed);
    this.#network = new Network(time, other === undefined ? [service] : [service, other], random);
    this.#network.onEvent = (text) => this.#note(text);
    this.#folder = mkdtempSync(join(folder, 'scenario-'));
    this.#machines = new Map(
      MACHINES.map((name, index) => {
        const homeFolder = join(this.#folder, name);
        cpSync(templates.get(name)?.folder ?? '', homeFolder, { recursive: true });
        const machine = new Machine(name, `10.0.0.${index + 1}`, homeFolder, {
          time,
          network: this.#network,
          random,
        });
        this.#looked.set(name, []);
        return [name, machine];
      }),
    );
  }

  #note(text: string): void {
    this.trace.push(`${(this.#stage.time.nowMs - START_MS).toFixed(1)} ${text}`);
  }

  #machine(name: MachineName): Machine {
    return this.#machines.get(getMachine(name)) as Machine;
  }

  #home(name: MachineName): string {
    const machine = this.#machine(name);
    return name === 'second' ? join(machine.folder, 'second') : machine.home;
  }

  #homes(): MachineName[] {
    return HOMES.filter((name) => existsSync(this.#home(name)));
  }

  #entries(name: MachineName): readonly Entry[] {
    const entries = this.#looked.get(name) ?? readEntries(this.#home(name));
    this.#looked.set(name, entries);
    return entries;
  }

  #isPushedFrom(name: MachineName, outbox: string): boolean {
    return (this.#owners.get(outbox) ?? getMachine(name)) === getMachine(name);
  }

  /** A person pushes an outbox at one place. */
  #mayPush(name: MachineName, profile: Profile): boolean {
    return this.#isPushedFrom(name, findOutbox(this.#home(name), profile) ?? '');
  }

  /** Runs `pas` for an account, with what befalls its requests. */
  async #run(
    name: MachineName,
    profile: Profile,
    args: readonly string[],
    { fates = [], writes = [], killedAfter, disk }: Trouble = {},
  ): Promise<Ended> {
    this.#weather(fates, writes);
    const run = this.#pas(name, profile, args, { killedAfter, disk });
    return this.#stage.time.until(run);
  }

  async #pas(
    name: MachineName,
    profile: Profile,
    args: readonly string[],
    trouble: Trouble = {},
  ): Promise<Ended> {
    const { killedAfter, killedAt, disk } = trouble;
    const env = {
      PAS_PASSWORD: getAccount(profile),
      PAS_PROFILE: profile,
      PAS_HOME: this.#home(name),
    };
    const ended = await this.#machine(name).pas(args, env, {
      ...(killedAfter === undefined ? {} : { killed: { afterLooks: killedAfter } }),
      ...(killedAt === undefined ? {} : { killed: { at: killedAt } }),
      disk,
    });
    this.#looked.delete(name);
    this.#note(
      `${name} ${profile} pas ${args.filter((arg) => !arg.startsWith('/')).join(' ')} -> ${ended.code ?? 'killed'}`,
    );
    if (IS_SAID) this.#note(`${ended.stdout}${ended.stderr}`);
    if (!EXPECTED_CODES.includes(ended.code ?? 0))
      this.#violations.push(`pas ${args.join(' ')} ended with ${ended.code}: ${ended.stderr}`);
    return ended;
  }

  /** A push, which nothing may leave from where another machine is the outbox's. */
  async #push(name: MachineName, profile: Profile, trouble: Trouble = {}): Promise<Ended> {
    const before = this.#network.departures.length;
    const mayPush = this.#mayPush(name, profile);
    const ended = await this.#run(name, profile, PUSH, trouble);
    const isBetrayed = this.#network.departures.slice(before).some(({ isWrite: leaves }) => leaves);
    if (!mayPush && isBetrayed)
      this.#violations.push(
        `${name} pushes an outbox that is pushed from ${this.#owners.get(findOutbox(this.#home(name), profile) ?? '')}`,
      );
    return ended;
  }

  #weather(fates: Fates, writes: Fates = []): void {
    const byNumber = { all: new Map(fates), writes: new Map(writes) };
    const seen = { all: 0, writes: 0 };
    this.#network.weather = {
      getFate: (request) => {
        const ofWrite = isWrite(request) ? byNumber.writes.get(seen.writes++) : undefined;
        const fate = ofWrite ?? byNumber.all.get(seen.all) ?? 'arrives';
        seen.all += 1;
        const isChange = request.url.includes('/api/pas/nalez/');
        // Only a change that is the same when it comes a second time may be repeated on the way,
        // and only a record may be locked.
        const isOdd =
          (fate === 'repeated' && !(isChange && request.method === 'PATCH')) ||
          (fate === 'locked' && !isChange);
        return isOdd ? 'arrives' : fate;
      },
    };
  }

  async take(step: Step): Promise<void> {
    const account = this.#findAccount(step);
    if (account === undefined || !('machine' in step)) return this.#take(step);
    return this.#command(step.machine as MachineName, account, () => this.#take(step));
  }

  /** Whose outbox a command of a person changes. */
  #findAccount(step: Step): Account | undefined {
    switch (step.kind) {
      case 'import':
        return step.account;
      case 'number':
        return step.account ?? 'archaeologist';
      case 'import-again':
        return step.account ?? this.#asked.get(step.find)?.account ?? 'archaeologist';
      case 'photo':
        return this.#asked.get(step.find)?.account ?? 'archaeologist';
      default:
        return undefined;
    }
  }

  async #take(step: Step): Promise<void> {
    const { time, service } = this.#stage;
    // Cut out of a scenario, with what made it.
    if (listHomes(step).some((home) => home !== 'service' && !existsSync(this.#home(home)))) return;
    switch (step.kind) {
      case 'import': {
        const rows = step.finds.map(
          ({ id, note, longitude }) =>
            `${id};${PROJECT};1;4326;HES-000867;${longitude};50.08;${note}`,
        );
        const content = [HEADER, ...rows].join('\n');
        for (const { id, note } of step.finds) {
          this.#asked.set(id, {
            id,
            note,
            account: step.account,
            photos: [],
            numbers: [],
            services: new Set([ORIGIN]),
            wasImported: false,
            rehearsedAt: new Set(),
            wasGivenUp: false,
            unwantedWith: undefined,
            edited: undefined,
            inCopies: { photos: [], numbers: [] },
          });
          this.#tables.set(id, {
            account: step.account,
            content,
            finds: step.finds,
            machines: new Set(),
          });
        }
        await this.#import(step.machine, step.finds[0]?.id);
        return;
      }
      case 'import-again':
        if (
          step.elsewhere === true ||
          this.#tables.get(step.find)?.machines.has(step.machine) === true
        )
          await this.#import(step.machine, step.find, step);
        return;
      case 'photo': {
        const account = this.#asked.get(step.find)?.account ?? 'archaeologist';
        await this.#addPhotograph(step, (...args) => this.#run(step.machine, account, args));
        return;
      }
      case 'photo-changed':
        this.#machine(step.machine).file(`photo-${step.shade}.png`, tinyPng(step.shade + 1));
        return;
      case 'number':
        await this.#setNumber(step);
        return;
      case 'push':
      case 'reconcile':
      case 'pull':
        await this.#sync(step);
        return;
      case 'does':
        await this.#do(step);
        return;
      case 'beside': {
        if (!this.#mayPush(step.machine, step.account)) return;
        this.#weather(step.fates);
        const push = this.#pas(step.machine, step.account, PUSH);
        await time.until(time.sleep(step.afterMs));
        await this.#do(withoutKill(step));
        await time.until(push);
        this.#looked.delete(step.machine);
        return;
      }
      case 'watch':
        await this.#watch(step);
        return;
      case 'answer':
        await this.#pushAndAnswer(step.machine, step.account);
        return;
      case 'both-push':
        await this.#sideBySide(step);
        return;
      case 'wait':
        await time.until(time.sleep(step.ms));
        return;
      case 'keep-copy':
        this.#rememberCopied();
        this.#copyOutbox(
          step.machine,
          this.#home(step.machine),
          join(this.#folder, `kept-${step.machine}`),
          true,
        );
        return;
      case 'put-copy-back': {
        const keptFolder = join(this.#folder, `kept-${step.machine}`);
        if (existsSync(keptFolder))
          this.#copyOutbox(step.machine, keptFolder, this.#home(step.machine), step.withLog);
        this.#looked.delete(step.machine);
        return;
      }
      case 'backup':
        this.#rememberCopied();
        this.#backups.set(step.machine, {
          wishes: this.#wishes(),
          commands: new Set(this.#commands.keys()),
        });
        await this.#run(step.machine, 'archaeologist', [
          'backup',
          this.#makeBackup(step.machine),
          '--yes',
          '--photos',
        ]);
        return;
      case 'copy-home':
        // An outbox that was never pushed is no copy: two machines then have one table, which
        // another theme covers.
        if (getMachine(step.from) !== getMachine(step.to) && !arePushed(this.#home(step.from)))
          return;
        this.#rememberCopied();
        rmSync(this.#home(step.to), { recursive: true, force: true });
        cpSync(this.#home(step.from), this.#home(step.to), {
          recursive: true,
          filter: (path) => !path.endsWith('-shm'),
        });
        this.#looked.delete(step.to);
        for (const outbox of listOutboxes(this.#home(step.from)))
          if (!this.#owners.has(outbox)) this.#owners.set(outbox, getMachine(step.from));
        for (const { machines } of this.#tables.values())
          if (machines.has(step.from)) machines.add(step.to);
        return;
      case 'new-home':
        this.#setUp('second', 'laptop');
        return;
      case 'lose-home':
        this.#setUp(step.machine, step.machine === 'second' ? 'laptop' : step.machine);
        return;
      case 'keep-machine':
        this.#rememberCopied();
        this.#machine(step.machine).keep(join(this.#folder, `kept-machine-${step.machine}`));
        return;
      case 'roll-back': {
        const keptFolder = join(this.#folder, `kept-machine-${step.machine}`);
        if (existsSync(keptFolder)) this.#machine(step.machine).rollBack(keptFolder);
        for (const name of HOMES) this.#looked.delete(name);
        this.#note(`${step.machine} is as it was`);
        return;
      }
      case 'damage-ledger':
        this.#damage(join(this.#machine(step.machine).state, 'ledger.sqlite'), step.places);
        return;
      case 'lose-ledger':
        // The pace is another matter.
        for (const name of readdirSync(this.#machine(step.machine).state))
          if (name.startsWith('ledger.')) rmSync(join(this.#machine(step.machine).state, name));
        return;
      case 'anonymous':
        for (const name of this.#homes()) {
          const config = join(this.#home(name), 'config.toml');
          writeFileSync(
            config,
            readFileSync(config, 'utf8').replaceAll('oai_auth = "basic"', 'oai_auth = "none"'),
          );
        }
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
        service.mock.faults.set([
          { endpoint: 'import', fault: 'slow', at: 'save', ms: step.takesMs },
        ]);
        return;
      case 'connecting':
        this.#network.maxConnectMs = step.maxMs;
        return;
      case 'steady-way':
        this.#network.isSteady = true;
        return;
      case 'keep-service':
        service.keep();
        return;
      case 'put-service-back':
        this.#wasPutBack = service.putBack() || this.#wasPutBack;
        // Lost and new records are told apart by their times.
        await time.until(time.sleep(PUTTING_BACK_MS));
        return;
      case 'other-account':
        // Whom it was before, only an outbox can know that has sent something.
        if (this.#homes().every((name) => this.#knowsArchaeologist(name)))
          service.nameAccount('archaeologist', ACCOUNT_IDS.researcher);
        return;
      case 'clock':
        if (step.machine === 'service') service.mock.clock.advance(step.byMs);
        else this.#machine(step.machine).skewMs += step.byMs;
        return;
      case 'index':
        this.#indexDelayMs = step.delayMs;
        service.mock.applySettings({ index_delay_ms: step.delayMs });
    }
  }

  async #watch({
    machine,
    account,
    fates,
    meanwhile,
    restMs,
  }: Extract<Step, { readonly kind: 'watch' }>): Promise<void> {
    const { time } = this.#stage;
    if (!this.#mayPush(machine, account)) return;
    this.#weather(fates);
    let kill: () => void = () => {};
    const killedAt = new Promise<void>((resolve) => {
      kill = resolve;
    });
    const push = this.#pas(machine, account, [...PUSH, '--watch'], { killedAt });
    for (const done of meanwhile) {
      await time.until(time.sleep(done.afterMs));
      await this.#do(withoutKill(done));
    }
    await time.until(time.sleep(restMs));
    kill();
    await time.until(push);
    this.#looked.delete(machine);
  }

  async #sync(
    step: Extract<Step, { readonly kind: 'push' | 'reconcile' | 'pull' }>,
  ): Promise<void> {
    const { kind, machine, account } = step;
    const owner = this.#owners.get(findOutbox(this.#home(machine), account) ?? '');
    // The place that pushed it before it was adopted.
    if (
      kind !== 'pull' &&
      owner !== undefined &&
      owner !== getMachine(machine) &&
      machine === 'laptop'
    )
      return;
    const { code, stderr } =
      kind === 'push'
        ? await this.#push(machine, account, step)
        : await this.#run(machine, account, [kind], step);
    if (kind === 'push' && code === 0) this.#expectNothingLeft(machine, account);
    if (kind === 'pull' && code === 0)
      this.#acts.push({ note: undefined, atMs: this.#stage.time.nowMs });
    const isAsked = code === HELD && this.#isAskedAboutColleagues(machine, account);
    if (this.#isFair && code !== 0 && !isAsked)
      this.#violations.push(`nothing happened to it, and ${kind} ended with ${code}: ${stderr}`);
  }

  /** All that is left waits for what a person says about an equal find of another account. */
  #isAskedAboutColleagues(machine: MachineName, account: Profile): boolean {
    const asked = [...this.#asked.values()];
    const colleagues = asked.filter((each) => each.account !== account);
    const isLikeTheirs = ({ find }: Entry): boolean => {
      const note = this.#asked.get(find)?.note;
      return colleagues.some((each) => each.note === note);
    };
    const open = this.#entries(machine).filter(
      ({ profile, state }) => profile === account && OPEN_STATES.includes(state),
    );
    const imports = open.filter(({ kind }) => kind === 'import');
    return (
      imports.length > 0 && imports.every(({ held }) => held !== null) && open.every(isLikeTheirs)
    );
  }

  async #setNumber({
    machine,
    find,
    value,
    account = 'archaeologist',
  }: Extract<Step, { readonly kind: 'number' }>): Promise<void> {
    const asked = this.#asked.get(find);
    const isOwn = account === asked?.account;
    const entries = this.#homes().flatMap((name) =>
      this.#entries(name).filter((entry) => entry.find === find && entry.kind === 'import'),
    );
    const ident = entries.find(
      ({ state, service }) => state === 'accepted' && service === ORIGIN,
    )?.ident;
    if (!isOwn && ident == null) return;
    const { code } = await this.#run(machine, account, [
      'number',
      'set',
      isOwn ? find : (ident ?? ''),
      value,
      '--replace',
    ]);
    if (code === 0) this.#askForNumber(find, value, account);
  }

  async #addPhotograph(
    {
      machine,
      find,
      shade,
      name = `photo-${shade}.png`,
    }: Omit<Extract<Step, { readonly kind: 'photo' }>, 'kind'>,
    run: (...args: string[]) => Promise<Ended>,
  ): Promise<void> {
    const asked = this.#asked.get(find);
    const image = tinyPng(shade);
    const { code } = await run('photo', 'add', find, this.#machine(machine).file(name, image));
    const digest = createHash('sha512').update(image).digest('hex');
    if ((code === 0 || code === null) && asked !== undefined)
      asked.photos = [...asked.photos, digest];
    this.#photographs.set(digest, { name, shade });
  }

  #rememberCopied(): void {
    for (const asked of this.#asked.values()) {
      const { photos, numbers } = asked.inCopies;
      asked.inCopies = {
        photos: [...photos, ...asked.photos],
        numbers: [...numbers, ...asked.numbers],
      };
    }
  }

  #askForNumber(find: string, value: string, by: string): void {
    const asked = this.#asked.get(find);
    const last = asked?.numbers.at(-1);
    // What is wanted already makes no command that could be taken back.
    if (asked === undefined || (last?.value === value && last.by === by)) return;
    asked.numbers = [...asked.numbers, { value, service: ORIGIN, by }];
  }

  #do(done: Done): Promise<void> {
    return this.#command(done.machine, done.account, () => this.#act(done));
  }

  /** One action of a person. */
  async #act(done: Done): Promise<void> {
    const { machine, account, does, find, value, killedAfter } = done;
    const { time } = this.#stage;
    const asked = this.#asked.get(find);
    const run = (...args: string[]): Promise<Ended> =>
      time.until(this.#pas(machine, account, args, { killedAfter }));
    switch (does) {
      case 'edit': {
        const before = this.#getImport(machine, find);
        const { code } = await run('edit', find, '--set', `lokalizace=${value}`);
        const after = this.#getImport(machine, find);
        const isUnsent =
          before?.state === 'queued' &&
          before.attempts === 0 &&
          after?.state === 'queued' &&
          after.attempts === 0;
        if (code === 0 && isUnsent && asked !== undefined && !this.#wasCopied) asked.edited = value;
        if (code === null && asked !== undefined) asked.edited = undefined;
        return;
      }
      case 'remove':
      case 'drop': {
        const { code } = await (does === 'remove'
          ? run('remove', find, '--yes')
          : run('resolve', find, '--drop'));
        const isLeft = !['dropped', undefined].includes(this.#getImport(machine, find)?.state);
        if (asked !== undefined && (code === 0 || (code === null && !isLeft)))
          asked.wasGivenUp = true;
        return;
      }
      case 'take-back':
        await this.#takeBack(done);
        return;
      case 'redo': {
        const undo = readLastCommand(this.#home(machine), account, 'undo:%');
        if (undo !== undefined) await this.#takeBack(done, undo);
        return;
      }
      case 'photo': {
        await this.#addPhotograph({ machine, find, shade: Number(value.slice(2)) }, run);
        return;
      }
      case 'import-again': {
        const table = this.#tables.get(find);
        if (table === undefined || !table.machines.has(machine) || table.account !== account)
          return;
        await run('import', this.#machine(machine).file('finds.csv', table.content));
        for (const { id } of table.finds) {
          const imported = this.#asked.get(id);
          if (imported !== undefined)
            Object.assign(imported, { edited: undefined, unwantedWith: undefined });
        }
        return;
      }
      case 'curate':
        this.#curate({ kind: 'curator', find, does: 'number', value });
        return;
      case 'decide': {
        const entry = this.#entries(machine).find(
          (each) => each.find === find && each.profile === account && isForPerson(each),
        );
        if (entry !== undefined) await this.#answer(machine, account, entry);
        return;
      }
      case 'validate':
        await run('validate');
        return;
      case 'check':
        await run(...REPAIR);
        return;
      case 'number-import': {
        const file = this.#machine(machine).file(
          'numbers.csv',
          `local_id;evidencni_cislo\n${find};${value}\n`,
        );
        const { code } = await run('number', 'import', file, '--replace');
        const isQueued = this.#entries(machine).some(
          (entry) => entry.find === find && entry.kind === 'number' && entry.value === value,
        );
        if (code === 0 || (code === null && isQueued)) this.#askForNumber(find, value, account);
        return;
      }
      case 'restore':
        if (!existsSync(this.#makeBackup(machine))) return;
        await run('restore', this.#makeBackup(machine), '--replace');
        this.#restoreWishes(machine);
        return;
      case 'take-over':
        await this.#takeOver(machine, account);
        return;
      case 'train': {
        const table = this.#tables.get(find);
        if (table?.account !== 'archaeologist') return;
        const file = this.#machine(machine).file('finds.csv', table.content);
        const { code } = await time.until(this.#pas(machine, 'training', ['import', file]));
        if (code === 0)
          for (const { id } of table.finds) this.#asked.get(id)?.services.add(OTHER_ORIGIN);
        return;
      }
      case 'rehearse':
        for (const each of this.#asked.values()) each.rehearsedAt.add(OTHER_ORIGIN);
        await time.until(this.#pas(machine, 'training', ['login']));
        await run('rehearse', '--yes');
    }
  }

  /** Does what a person does by one command, and remembers what was wanted before it. */
  async #command(name: MachineName, profile: Profile, work: () => Promise<unknown>): Promise<void> {
    const before = this.#wishes();
    const id = await this.#findNewCommand(name, profile, work);
    // After a restore an earlier command is the last one again.
    if (id !== undefined && !this.#commands.has(id))
      this.#commands.set(id, { place: `${name} ${profile}`, before, after: this.#wishes() });
  }

  /** Returns the command that the work made, by its words and its UUID. */
  async #findNewCommand(
    name: MachineName,
    profile: Profile,
    work: () => Promise<unknown>,
  ): Promise<string | undefined> {
    const before = readLastCommand(this.#home(name), profile);
    await work();
    const last = readLastCommand(this.#home(name), profile);
    return last === before ? undefined : last;
  }

  /** What was given up before the backup is so again, whatever later commands are taken back. */
  #restoreWishes(machine: MachineName): void {
    const { wishes = [], commands = new Set<string>() } = this.#backups.get(machine) ?? {};
    const later = [...this.#commands].filter(([id]) => !commands.has(id));
    for (const [id, { wasGivenUp }] of wishes) {
      if (!wasGivenUp) continue;
      const before = later.map(([, command]) => command.before.get(id));
      for (const wish of [this.#asked.get(id), ...before])
        if (wish !== undefined) wish.wasGivenUp = true;
    }
  }

  #wishes(): Wishes {
    return new Map([...this.#asked].map(([id, asked]) => [id, { ...asked }]));
  }

  /** All that a command changed is as it was before it, or nobody knows: other commands stay. */
  async #takeBack(
    { machine: name, account: profile, killedAfter }: Done,
    undo?: string,
  ): Promise<void> {
    const place = `${name} ${profile}`;
    const last = [...this.#commands].findLast(
      ([id, each]) => each.place === place && !id.startsWith('undo:') && !this.#undone.has(id),
    )?.[0];
    let code: number | null = null;
    const args = ['undo', ...(undo === undefined ? [] : [getUuid(undo)])];
    const made = await this.#findNewCommand(name, profile, async () => {
      ({ code } = await this.#stage.time.until(this.#pas(name, profile, args, { killedAfter })));
    });
    const [undone, command] = this.#findUndone(made) ?? [];
    if (undone === undefined || command === undefined) return;
    if (undo === undefined && undone !== last && !this.#wasCopied)
      this.#violations.push(`undo took back ${undone}, and ${last} was the last command`);
    this.#setUndone(undone, true);
    for (const [id, after] of command.after) {
      const asked = this.#asked.get(id);
      const before = command.before.get(id);
      if (asked === undefined || (before !== undefined && isSameWish(before, after))) continue;
      if (code !== 0) Object.assign(asked, { wasGivenUp: true, edited: undefined });
      else if (before !== undefined) Object.assign(asked, undoWish(asked, before, after));
      else {
        asked.wasGivenUp = true;
        asked.unwantedWith = this.#records(ORIGIN).filter(({ note }) => note === asked.note).length;
      }
    }
  }

  /** What an undo took back is done again where that undo is undone, and so on. */
  #setUndone(id: string, isUndone: boolean): void {
    this.#undone[isUndone ? 'add' : 'delete'](id);
    const [taken] = this.#findUndone(id) ?? [];
    if (taken !== undefined) this.#setUndone(taken, !isUndone);
  }

  #findUndone(undo = '') {
    const [, uuid] = /^undo:(\S+)/.exec(undo) ?? [];
    return [...this.#commands].find(([id]) => getUuid(id) === uuid);
  }

  #getImport(name: MachineName, find: string): Entry | undefined {
    return this.#entries(name).find((entry) => entry.find === find && entry.kind === 'import');
  }

  /**
   * From now on nothing is sent from the other place, and what was entered there is entered here.
   */
  async #takeOver(name: MachineName, account: Account): Promise<void> {
    // Requests from the old place must have reached the index.
    if (!this.#mayPush(name, account)) await this.#take({ kind: 'wait', ms: 2_400_000 });
    const { code } = await this.#run(name, account, [...PUSH, '--take-over']);
    if (code === 2 || code === 11) return;
    const outbox = findOutbox(this.#home(name), account);
    if (outbox !== undefined) this.#owners.set(outbox, getMachine(name));
    for (const table of new Set(this.#tables.values()))
      if (table.account === account && !table.machines.has(name))
        await this.#import(name, table.finds[0]?.id);
  }

  #knowsArchaeologist(name: MachineName): boolean {
    const entries = this.#entries(name).filter(({ profile }) => profile === 'archaeologist');
    return entries.length === 0 || entries.some(({ state }) => state === 'accepted');
  }

  async #sideBySide({
    fates,
    apartMs,
    pushers: [first, second],
  }: Extract<Step, { readonly kind: 'both-push' }>): Promise<void> {
    const { time } = this.#stage;
    this.#weather(fates);
    const push = async ([machine, account]: Pusher): Promise<unknown> =>
      this.#mayPush(machine, account) ? this.#pas(machine, account, PUSH) : undefined;
    const before = this.#network.departures.length;
    const later = time.sleep(apartMs).then(() => push(second));
    await time.until(Promise.all([push(first), later]));
    if (!this.#areOne(first, second)) this.#wereBeside = true;
    if (
      getMachine(first[0]) === getMachine(second[0]) &&
      first[1] === second[1] &&
      this.#areOne(first, second)
    )
      this.#expectOneAfterTheOther(this.#network.departures.slice(before));
  }

  #areOne(first: Pusher, second: Pusher): boolean {
    return (
      findOutbox(this.#home(first[0]), first[1]) === findOutbox(this.#home(second[0]), second[1])
    );
  }

  /** One outbox is pushed by one process at a time. */
  #expectOneAfterTheOther(departures: Network['departures']): void {
    const pids = departures.filter(({ isWrite: leaves }) => leaves).map(({ pid }) => pid);
    const turns = pids.filter((pid, nth) => pid !== pids[nth - 1]);
    if (turns.length > new Set(turns).size)
      this.#violations.push('two processes push one outbox at once');
  }

  /** The table that a find stands in. */
  async #import(
    machine: MachineName,
    find: string | undefined,
    { account, renamed }: { readonly account?: Account; readonly renamed?: true } = {},
  ): Promise<void> {
    const table = this.#tables.get(find ?? '');
    if (table === undefined) return;
    const content = renamed === true ? table.content.replaceAll(/^F-/gm, 'T-') : table.content;
    const file = this.#machine(machine).file(renamed === true ? 'other.csv' : 'finds.csv', content);
    let { code, stdout, stderr } = await this.#run(machine, account ?? table.account, [
      'import',
      file,
    ]);
    const isAsked = code === 3 && `${stdout}${stderr}`.includes('pas resolve');
    const { account: own } = table;
    // Rows under other numbers are no finds of their own.
    if (isAsked && renamed === true) await this.#run(machine, account ?? own, ['undo']);
    if (account !== undefined || renamed === true) return;
    // Finds that are like others are other finds.
    if (isAsked) ({ code } = await this.#run(machine, own, ['resolve', '--all', 'new']));
    if (code !== 0) return;
    table.machines.add(machine);
    // A find that was killed among others may be there as well.
    for (const { id } of table.finds) {
      const asked = this.#asked.get(id);
      if (asked !== undefined)
        Object.assign(asked, { edited: undefined, unwantedWith: undefined, wasImported: true });
    }
  }

  #records(origin: string): ServiceRecord[] {
    const { service, other } = this.#stage;
    const named = origin === OTHER_ORIGIN ? other : service;
    return named === undefined ? [] : listRecords(named, PROJECT);
  }

  #curate({ find, does, value }: Extract<Step, { readonly kind: 'curator' }>): void {
    const { service, time } = this.#stage;
    const asked = this.#asked.get(find);
    const isOwn = ({ note, maker, isDeleted }: ServiceRecord): boolean =>
      asked !== undefined &&
      note === asked.note &&
      maker === ACCOUNT_IDS[asked.account] &&
      !isDeleted;
    const record = this.#records(ORIGIN).find(isOwn);
    if (asked === undefined || record === undefined) return;
    this.#note(`a curator makes a ${does} of ${find}`);
    // Requests in flight arrive after it, and an index that lags shows what was before it.
    if (this.#network.onItsWay > 0 || this.#indexDelayMs > 0) this.#network.wasLate = true;
    this.#curated.add(find);
    for (const twin of this.#asked.values())
      if (twin.note === asked.note) this.#curated.add(twin.id);
    if (does === 'number') {
      this.#askForNumber(find, value, 'curator');
      this.#curatedNumbers.push({
        ident: record.ident,
        value,
        atMs: time.nowMs,
        isSeen: this.#indexDelayMs === 0 && this.#network.onItsWay === 0,
      });
    }
    if (does === 'deletion') this.#freed.add(record.ident);
    changeRecord(service, record.ident, does, value);
  }

  /** Exit code 0 means sent. */
  #expectNothingLeft(machine: MachineName, account: Profile): void {
    const open = this.#entries(machine).filter(
      ({ kind, state, profile, ident, isHidden }) =>
        (kind === 'import' || ident !== null) &&
        profile === account &&
        isHidden === 0 &&
        OPEN_STATES.includes(state),
    );
    if (open.length > 0)
      this.#violations.push(`a push ended with 0, and ${open[0]?.find} is ${open[0]?.state}`);
  }

  #makeBackup(name: MachineName): string {
    return join(this.#folder, `backup-${name}.sqlite`);
  }

  /** The outbox of the archaeologist, as a person copies files. */
  #copyOutbox(machine: MachineName, from: string, to: string, withLog: boolean): void {
    const outbox = getFolderName(this.#home(machine), 'archaeologist');
    if (!existsSync(join(from, 'outboxes', outbox, 'outbox.sqlite'))) return;
    mkdirSync(join(to, 'outboxes', outbox), { recursive: true });
    for (const suffix of ['', '-wal', '-shm']) {
      const [source, target] = [from, to].map((home) =>
        join(home, 'outboxes', outbox, `outbox.sqlite${suffix}`),
      ) as [string, string];
      rmSync(target, { force: true });
      if (existsSync(source) && (suffix === '' || (suffix === '-wal' && withLog)))
        cpSync(source, target);
    }
  }

  /** A home as it was made, without outboxes. */
  #setUp(name: MachineName, like: MachineName): void {
    const template = this.#stage.templates.get(like)?.home ?? '';
    rmSync(this.#home(name), { recursive: true, force: true });
    cpSync(template, this.#home(name), {
      recursive: true,
      filter: (path) => !path.includes(`${template}/outboxes`),
    });
    const config = join(this.#home(name), 'config.toml');
    const text = readFileSync(config, 'utf8');
    writeFileSync(
      config,
      this.#isAnonymous ? text.replaceAll('oai_auth = "basic"', 'oai_auth = "none"') : text,
    );
    this.#looked.delete(name);
  }

  #damage(path: string, places: readonly number[]): void {
    if (!existsSync(path)) return;
    // Data in its write-ahead log alone would replace what was damaged.
    const file = openSync(path, 'r+');
    const bytes = fstatSync(file).size;
    for (const place of places)
      writeSync(file, Buffer.from('damaged'), 0, 7, Math.floor(place * (bytes - 7)));
    closeSync(file);
  }

  /** The document that `pas` would send, sent by a colleague. */
  async #enterByHand(find: string): Promise<void> {
    const { time, service } = this.#stage;
    const document = this.#homes().flatMap((name) => readDocument(this.#home(name), find) ?? [])[0];
    if (document === undefined) return;
    const post = (path: string, headers: Record<string, string>, body: Buffer) =>
      time.until(
        service.take({
          method: 'POST',
          url: `${ORIGIN}${path}`,
          headers: { ...headers, 'content-length': String(body.length) },
          body,
          address: '10.9.9.9',
        }),
      );
    const signedIn = await post(
      '/api/token-auth/',
      { 'content-type': 'application/json' },
      Buffer.from('{"username":"colleague","password":"colleague"}'),
    );
    const { token } = JSON.parse(signedIn.body.toString()) as { token: string };
    await post(
      '/api/pas/import-xml',
      {
        'content-type': 'multipart/form-data; boundary=xYzZY',
        authorization: `Bearer ${token}`,
        'content-digest': contentDigest(document),
      },
      multipart([{ name: 'file', fileName: 'find.xml', type: 'application/xml', bytes: document }]),
    );
  }

  /**
   * The trouble is over, and everybody who has something open pushes, looks and answers until
   * nothing changes any more.
   */
  async settle(): Promise<void> {
    const { service } = this.#stage;
    this.#indexDelayMs = 0;
    service.mock.applySettings({ index_delay_ms: 0, token_ms: TOKEN_MS });
    service.mock.faults.set([]);
    service.nameAccount('archaeologist', ACCOUNT_IDS.archaeologist);
    await this.#comeToRest();
  }

  async #comeToRest(): Promise<void> {
    const { time } = this.#stage;
    for (let turn = 0; turn < QUIET_TURNS; turn += 1) {
      await time.until(time.sleep(2 * 3_600_000));
      const before = this.#states();
      for (const name of this.#homes()) {
        for (const profile of this.#profilesWithOpen(name))
          if (this.#mayPush(name, profile)) await this.#pushAndAnswer(name, profile);
      }
      if (this.#states() === before && (turn > 0 || !this.#isOpen('queued', 'sending'))) return;
    }
  }

  #isOpen(...states: readonly string[]): boolean {
    return this.#homes().some((name) =>
      this.#entries(name).some(({ state }) => states.includes(state)),
    );
  }

  #profilesWithOpen(name: MachineName): readonly Profile[] {
    const open = this.#entries(name).filter(
      ({ kind, state }) =>
        OPEN_STATES.includes(state) || (kind !== 'number' && state === 'refused'),
    );
    return PROFILES.filter((name) => open.some(({ profile }) => profile === name));
  }

  /** Pushes, answers what is asked, and looks for what is uncertain then. */
  async #pushAndAnswer(name: MachineName, profile: Profile): Promise<void> {
    const isOpen = (): boolean =>
      this.#entries(name).some(
        (entry) => entry.profile === profile && OPEN_STATES.includes(entry.state),
      );
    await this.#bringPhotographs(name, profile);
    await this.#sendAgain(name, profile);
    for (let turn = 0; turn < MAX_ANSWERS && isOpen(); turn += 1) {
      const { code } = await this.#push(name, profile);
      if (code === DAMAGED) await this.#run(name, profile, REPAIR);
      const held = this.#entries(name).filter(
        (entry) => entry.profile === profile && entry.held !== null && entry.state === 'queued',
      );
      for (const entry of held) await this.#answer(name, profile, entry);
      await this.#bringPhotographs(name, profile);
      if (code === 0 || (held.length === 0 && code !== DAMAGED)) break;
    }
    if (isOpen()) await this.#run(name, profile, ['reconcile']);
  }

  /** Those whose copies went with a home, and those that one copy of an outbox took back. */
  async #bringPhotographs(name: MachineName, profile: Profile): Promise<void> {
    const missing = this.#entries(name).filter(
      ({ kind, state, held, profile: its }) =>
        its === profile && kind === 'photo' && (state === 'refused' || held === 'edited-twice'),
    );
    for (const { digest, find, ident, service } of missing) {
      const photograph = this.#photographs.get(digest ?? '');
      const record = this.#records(service).find((each) => each.ident === ident);
      if (photograph === undefined || record?.isDeleted === true) continue;
      const file = this.#machine(name).file(photograph.name, tinyPng(photograph.shade));
      await this.#run(name, profile, ['photo', 'add', find, file]);
    }
  }

  async #sendAgain(name: MachineName, profile: Profile): Promise<void> {
    const refused = this.#entries(name).filter(
      (entry) => entry.profile === profile && entry.kind === 'import' && entry.state === 'refused',
    );
    if (this.#wereBeside)
      for (const { find } of refused) await this.#run(name, profile, ['resolve', find, '--resend']);
  }

  #answer(name: MachineName, profile: Profile, before: Entry): Promise<void> {
    return this.#command(name, profile, () => this.#answerOne(name, profile, before));
  }

  async #answerOne(name: MachineName, profile: Profile, before: Entry): Promise<void> {
    // The answer to another one may have answered this.
    const entry = this.#entries(name).find(
      ({ id, outbox }) => id === before.id && outbox === before.outbox,
    );
    if (entry === undefined || !isForPerson(entry)) return;
    const records = this.#records(entry.service);
    const knowledge: Known = {
      records,
      asked: this.#asked,
      entries: this.#inUse().flat(),
      isQuiet: this.#network.onItsWay === 0,
    };
    const answer = answerTo(entry, knowledge);
    const isNear = entry.matched === 'near' && entry.held !== 'local-id-in-use';
    if (entry.held !== null && entry.kind !== 'number' && !isNear) this.#questions.push(entry);
    if (answer === undefined) return;
    await this.#stage.time.until(
      this.#pas(name, profile, ['resolve', entry.find, '--entry', String(entry.id), ...answer]),
    );
    this.#acts.push({ note: findAsked(entry, knowledge)?.note, atMs: this.#stage.time.nowMs });
    const asked = findAsked(entry, knowledge);
    if (entry.kind === 'import' && answer[0] === '--drop' && asked !== undefined)
      asked.wasGivenUp = true;
  }

  #states(): string {
    return JSON.stringify(this.#homes().map((name) => this.#entries(name)));
  }

  /** Only accepted entries of outboxes that are no longer pushed or named. */
  #inUse(): (readonly Entry[])[] {
    return this.#homes().map((name) =>
      this.#entries(name).filter(
        ({ outbox, profile, state }) =>
          profile !== undefined && (state === 'accepted' || this.#isPushedFrom(name, outbox)),
      ),
    );
  }

  /** No question is asked about a record only because something was put back here. */
  #askedForNothing(): string[] {
    if (!this.#isOrdinary) return [];
    const notes = [...this.#asked.values()].map(({ note }) => note);
    if (new Set(notes).size < notes.length) return [];
    return this.#questions.map(
      ({ find, held }) => `${find} is asked about (${held}), and nothing but copies could cause it`,
    );
  }

  /** First as it came to rest by itself, then when a person has told what became of the rest. */
  async judge(): Promise<Outcome> {
    const first = this.#violationsNow();
    const left = this.#inUse()
      .flat()
      .filter(({ state }) => state === 'uncertain').length;
    if (first.length === 0 && left > 0) {
      for (const name of this.#homes()) {
        const uncertain = this.#entries(name).filter(
          ({ profile, outbox, state }) =>
            profile !== undefined && state === 'uncertain' && this.#isPushedFrom(name, outbox),
        );
        for (const entry of uncertain) {
          await this.#answer(name, entry.profile as Profile, entry);
        }
      }
      await this.#comeToRest();
    }
    const violations = first.length > 0 || left === 0 ? first : this.#violationsNow();
    return {
      trace: this.trace,
      violations: [
        ...this.#violations,
        ...this.#gaps(),
        ...this.#network.betrayed,
        ...this.#overwritten(),
        ...this.#askedForNothing(),
        ...violations,
      ],
      left,
      sent: this.#inUse()
        .flat()
        .filter(({ state }) => state === 'accepted').length,
    };
  }

  #violationsNow(): string[] {
    const { service, other } = this.#stage;
    const used = other?.wasUsed() === true ? [service, other] : [service];
    return used.flatMap((each) =>
      judge({
        service: each.origin,
        records: listRecords(each, PROJECT),
        homes: this.#inUse(),
        asked: [...this.#asked.values()],
        curated: this.#curated,
        freed: this.#freed,
        wasCopied: this.#wasCopied,
        wereClocksSet: this.#wereClocksSet,
        wasPutBack: this.#wasPutBack,
        isAnonymous: this.#isAnonymous,
        isLate: this.#network.wasLate,
      }),
    );
  }

  /** Numbers of curators that were replaced although no home had seen them, or had decided. */
  #overwritten(): string[] {
    if (this.#wasPutBack) return [];
    const records = this.#records(ORIGIN);
    const numbers = this.#network.departures.flatMap(({ atMs, method, url, fate }) => {
      const [ident] = /[^/]+-N\d+/.exec(url) ?? [];
      // A closed service has not carried it out.
      return method === 'PATCH' && ident !== undefined && fate !== 'closed'
        ? [{ atMs, ident, value: new URL(url).searchParams.get('evidencni_cislo') ?? '' }]
        : [];
    });
    // One that was sent from here as well is not another outbox's.
    const wasReplacedLate = ({ ident, atMs }: { ident: string; atMs: number }): boolean =>
      this.#network.lateArrivals.some(
        (late) => late.atMs > atMs && new URL(late.url).pathname.includes(`/${ident}/`),
      );
    const strange = this.#curatedNumbers.filter(
      ({ ident, value, atMs }) =>
        !wasReplacedLate({ ident, atMs }) &&
        !numbers.some((ownNumber) => ownNumber.ident === ident && ownNumber.value === value),
    );
    return strange.flatMap((curated) => {
      const note = records.find(({ ident }) => ident === curated.ident)?.note;
      const isOfRecord = ({ ident, value }: { ident: string; value: string }): boolean =>
        ident === curated.ident && value !== curated.value;
      const sentBefore = numbers.filter(
        (number) => isOfRecord(number) && number.atMs <= curated.atMs,
      );
      const isKnownBy = (atMs: number): boolean =>
        this.#acts.some(
          (act) => (act.note ?? note) === note && act.atMs > curated.atMs && act.atMs <= atMs,
        );
      const wrong = numbers.find(
        (number) =>
          isOfRecord(number) &&
          number.atMs > curated.atMs + LOOK_MS &&
          !isKnownBy(number.atMs) &&
          (sentBefore.some(({ value }) => value === number.value) ||
            (!this.#isAnonymous && curated.isSeen)),
      );
      return wrong === undefined
        ? []
        : [
            `a curator gave ${curated.ident} the number ${curated.value}, and nobody was asked before ${wrong.value} replaced it`,
          ];
    });
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
      return gapMs < LIMIT_MS - 0.001
        ? [`two requests of ${machine} left ${gapMs.toFixed(2)} ms apart`]
        : [];
    });
  }

  close(): void {
    for (const machine of this.#machines.values()) machine.bury();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const PUSH = ['push', '--yes'];
/** As a push advises that ends with this code. */
const REPAIR = ['doctor', '--offline', '--repair'];
const DAMAGED = 12;
/** A person must answer a question first. */
const HELD = 6;
/** Prints the output of all commands as well. */
const IS_SAID = process.env['SIMULATION_SAYS'] !== undefined;
/** After these an outbox may not know what was asked for last. */
const COPYING: readonly string[] = [
  'put-copy-back',
  'copy-home',
  'lose-home',
  'roll-back',
  'new-home',
];

function isCopying(step: Step): boolean {
  return (
    COPYING.includes(step.kind) ||
    'elsewhere' in step ||
    ('does' in step && step.does === 'restore') ||
    (step.kind === 'watch' && step.meanwhile.some(({ does }) => does === 'restore'))
  );
}

/**
 * The disk of a machine is copied when a process is killed, so none is killed beside another one.
 */
function withoutKill({ killedAfter: _killedAfter, ...done }: Done): Done {
  return done;
}

function getMachine(name: MachineName): (typeof MACHINES)[number] {
  return name === 'second' ? 'laptop' : name;
}

function listHomes(step: Step): readonly (MachineName | 'service')[] {
  if (step.kind === 'both-push') return step.pushers.map(([machine]) => machine);
  return 'machine' in step ? [step.machine] : [];
}

function getUuid(command: string): string {
  return command.split(' ').at(-1) ?? '';
}

function pickWish({ photos, numbers, wasGivenUp, unwantedWith, edited }: Wish): Wish {
  return { photos, numbers, wasGivenUp, unwantedWith, edited };
}

/** The wish of now, without the changes of one command. */
function undoWish(now: Wish, before: Wish, after: Wish): Wish {
  const undoOne = <K extends 'wasGivenUp' | 'unwantedWith' | 'edited'>(key: K): Wish[K] =>
    before[key] === after[key] ? now[key] : before[key];
  return {
    photos: undoList(now.photos, before.photos, after.photos),
    numbers: undoList(now.numbers, before.numbers, after.numbers),
    wasGivenUp: undoOne('wasGivenUp'),
    unwantedWith: undoOne('unwantedWith'),
    edited: undoOne('edited'),
  };
}

function undoList<T>(now: readonly T[], before: readonly T[], after: readonly T[]): T[] {
  const added = after.filter((each) => !before.includes(each));
  const removed = before.filter((each) => !after.includes(each));
  return [...now.filter((each) => !added.includes(each)), ...removed];
}

function isSameWish(one: Wish, other: Wish): boolean {
  return JSON.stringify(pickWish(one)) === JSON.stringify(pickWish(other));
}

function isForPerson({ state, held }: Entry): boolean {
  return state === 'uncertain' || (state === 'queued' && held !== null);
}

/**
 * Tells if a table is imported again after a find was removed: saved over a later table, it asks if
 * that row is one of the later finds.
 */
function bringsRemovedBack(steps: readonly Step[]): boolean {
  const does = (step: Step): string | undefined => ('does' in step ? step.does : undefined);
  const removed = steps.findIndex((step) => does(step) === 'remove');
  return removed >= 0 && steps.slice(removed).some((step) => does(step) === 'import-again');
}

/** Tells if all that happens is known to one ledger, so that nothing is to be asked. */
function isOrdinary(step: Step): boolean {
  if ('machine' in step && step.machine === 'office') return false;
  switch (step.kind) {
    case 'import-again':
      return step.renamed !== true && step.account === undefined;
    case 'copy-home':
      return step.to === 'second';
    case 'both-push':
      return step.pushers.every(([machine]) => machine === 'laptop');
    case 'does':
    case 'beside':
      return !['curate', 'edit', 'train', 'rehearse'].includes(step.does);
    case 'import':
    case 'photo':
    case 'number':
    case 'push':
    case 'reconcile':
    case 'pull':
    case 'wait':
    case 'keep-copy':
    case 'put-copy-back':
    case 'backup':
    case 'new-home':
    case 'lose-home':
      return true;
    default:
      return false;
  }
}

/** Tells if the caller may expect success. */
function isFair(step: Step): boolean {
  switch (step.kind) {
    case 'import':
    case 'photo':
    case 'number':
    case 'wait':
    case 'steady-way':
      return !('machine' in step) || step.machine === 'laptop';
    case 'push':
    case 'reconcile':
    case 'pull': {
      const { fates, writes = [], killedAfter, disk } = step;
      return (
        step.machine === 'laptop' &&
        fates.length + writes.length === 0 &&
        killedAfter === undefined &&
        disk === undefined
      );
    }
    default:
      return false;
  }
}
