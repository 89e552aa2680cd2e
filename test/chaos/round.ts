import { readHarvestedFind } from '../../src/find/harvested-find.ts';
import { descendantsOf } from '../../src/xml/element.ts';
import { parseXml } from '../../src/xml/parse.ts';
import { tinyPng } from '../support/a-season.ts';
import type { MockProcess } from '../support/mock-process.ts';
import { type Home, jsonLines, type Run } from '../support/run-pas.ts';
import { type Random, seededRandom } from './random.ts';

/** How often what happened, over all rounds of a run. */
export type Tally = {
  rounds: number;
  pushes: number;
  kills: number;
  serverKills: number;
  clockJumps: number;
  lateIndexes: number;
  persons: number;
  finds: number;
  photos: number;
  numbers: number;
  faults: Record<string, number>;
};

export function emptyTally(): Tally {
  return {
    rounds: 0,
    pushes: 0,
    kills: 0,
    serverKills: 0,
    clockJumps: 0,
    lateIndexes: 0,
    persons: 0,
    finds: 0,
    photos: 0,
    numbers: 0,
    faults: {},
  };
}

export type Stage = {
  readonly home: Home;
  service(): MockProcess;
  /** Kills the server with SIGKILL and starts it again on the same data and port. */
  restartService(): Promise<void>;
};

/** What the profile says: short, so that many rounds fit into an hour. */
export const PROFILE_FLAGS = [
  '--min-interval-ms',
  '8',
  '--settle-ms',
  '1500',
  '--index-allowance-ms',
  '1000',
  '--answer-timeout-ms',
  '700',
] as const;

const WRITE_FAULTS = [
  '500-before-save',
  '500-after-save',
  'hang-before-save',
  'hang-after-save',
  'reset-before-save',
  'reset-after-save',
  'truncate',
  'malformed',
  '502',
  '504',
  '503',
  'throttle',
  'token-expired',
] as const;

type Planned = { readonly localId: string; readonly note: string; readonly photos: number; readonly number: string | undefined };

/** One story: finds are queued, pushed among faults and kills, and finished in peace; then the server is asked what it has. */
export async function playRound(stage: Stage, round: number, seed: number, tally: Tally): Promise<void> {
  const random = seededRandom(seed);
  const planned = await queueFinds(stage, round, random);
  await setFaults(stage, random, tally);
  await setIndexDelay(stage, random, tally);
  const pushes = random.between(1, 3);
  for (let index = 0; index < pushes; index += 1) await disturbedPush(stage, random, tally);
  await stage.service().faults();
  await stage.service().control('PUT', '/settings', { access_mode: 'open' });
  await finish(stage, planned, tally);
  await expectEachOnce(stage, planned);
  tally.rounds += 1;
  tally.finds += planned.length;
  tally.photos += planned.reduce((sum, { photos }) => sum + photos, 0);
  tally.numbers += planned.filter(({ number }) => number !== undefined).length;
}

async function queueFinds({ home }: Stage, round: number, random: Random): Promise<Planned[]> {
  const planned = Array.from({ length: random.between(2, 6) }, (_, index): Planned => {
    const localId = `R${round}-${index}`;
    return {
      localId,
      note: `chaos ${localId}`,
      photos: random.between(0, 2),
      number: random.chance(0.5) ? `N ${localId}` : undefined,
    };
  });
  const rows = planned.map(({ localId, note, photos }, index) => {
    const names = Array.from({ length: photos }, (_, photo) => `${localId}-${photo}.png`);
    for (const [photo, name] of names.entries()) home.file(name, tinyPng(round * 100 + index * 10 + photo));
    const longitude = (14.4 + random.next() * 0.05).toFixed(6);
    return `${localId};C-202400101;1;4326;HES-000867;${longitude};50.08;${note};"${names.join(';')}"`;
  });
  const header = 'local_id;projekt;stav;geom_system;pristupnost;lon;lat;poznamka;photos';
  must(await home.pas('import', home.file(`round-${round}.csv`, [header, ...rows].join('\n'))), [0]);
  for (const { localId, number } of planned) {
    if (number !== undefined) must(await home.pas('number', 'set', localId, number), [0]);
  }
  return planned;
}

async function setFaults(stage: Stage, random: Random, tally: Tally): Promise<void> {
  const rules = Array.from({ length: random.between(1, 4) }, () => {
    const endpoint = random.pick(['import', 'import', 'photo', 'number'] as const);
    const fault = endpoint !== 'import' && random.chance(0.15) ? 'lock' : random.pick(WRITE_FAULTS);
    tally.faults[fault] = (tally.faults[fault] ?? 0) + 1;
    const when = random.chance(0.5) ? { nth: random.between(1, 4) } : { probability: 0.5, seed: random.between(1, 1e6) };
    const more = fault === 'throttle' && random.chance(0.3) ? { retry_after: 1 } : {};
    return { endpoint, fault, when, times: random.between(1, 2), ...more };
  });
  await stage.service().faults(...rules);
}

/** New records are listed late, but sooner than the profile allows for. */
async function setIndexDelay(stage: Stage, random: Random, tally: Tally): Promise<void> {
  if (!random.chance(0.3)) return;
  await stage.service().control('PUT', '/settings', { index_delay_ms: random.between(200, 1000) });
  tally.lateIndexes += 1;
}

/** Whoever looks at the server to decide or to judge sees all that it has. */
async function untilListed({ service }: Stage): Promise<void> {
  const { index_delay_ms: delayMs } = await service().control<{ index_delay_ms: number }>('GET', '/settings');
  if (delayMs === 0) return;
  await service().control('PUT', '/settings', { index_delay_ms: 0 });
  await pause(delayMs + 200);
}

/** A push that may be killed at any moment, with a server that may be killed, too. */
async function disturbedPush(stage: Stage, random: Random, tally: Tally): Promise<void> {
  if (random.chance(0.1)) {
    await stage.service().control('POST', '/clock', { advance_ms: random.pick([1000, 3_600_000, 25 * 3_600_000]) });
    tally.clockJumps += 1;
  }
  const running = stage.home.start('push', '--json');
  tally.pushes += 1;
  const ended = running.ended;
  if (random.chance(0.15)) {
    await pause(random.between(150, 900));
    await stage.restartService();
    tally.serverKills += 1;
  }
  if (random.chance(0.7)) {
    await Promise.race([ended, pause(random.between(120, 700))]);
    if (running.child.exitCode === null && running.child.kill('SIGKILL')) tally.kills += 1;
  }
  const run = await ended;
  if (run.signal === null) must(run, [0, 3, 5, 6, 15]);
}

type Status = {
  entries: Record<string, Record<string, number>>;
  needs_person: { entry: number; find: string; kind: string; state: string }[];
};

/** Pushes and reconciles until nothing is open. What only a person can settle is settled by looking at the server. */
async function finish(stage: Stage, planned: readonly Planned[], tally: Tally): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) {
    must(await stage.home.pas('push', '--json'), [0, 5, 6]);
    const { entries, needs_person } = await stage.home.json<Status>('status');
    const open = Object.values(entries).reduce((sum, states) => sum + (states['queued'] ?? 0) + (states['sending'] ?? 0), 0);
    if (open === 0 && needs_person.length === 0) return;
    if (needs_person.length === 0) continue;
    await pause(2600);
    must(await stage.home.pas('reconcile'), [0, 6]);
    if (turn >= 3) await settleByHand(stage, planned, tally);
  }
  throw new Error(`the outbox did not come to rest: ${JSON.stringify(await stage.home.json<Status>('status'))}`);
}

async function settleByHand(stage: Stage, planned: readonly Planned[], tally: Tally): Promise<void> {
  await untilListed(stage);
  const { needs_person } = await stage.home.json<Status>('status');
  const records = await serverFinds(stage.service());
  for (const { find, kind, entry } of needs_person) {
    const plan = planned.find(({ localId }) => localId === find);
    const record = records.find(({ note }) => note === plan?.note);
    if (plan === undefined || kind === 'number') continue;
    const there = kind === 'import' ? record !== undefined : await isAttached(stage, find, entry, record);
    const decision = there && record !== undefined ? ['--created', record.identCely] : ['--resend'];
    tally.persons += 1;
    must(await stage.home.pas('resolve', find, '--entry', String(entry), ...decision), [0]);
  }
}

/** A person looks whether the photograph is among the record's: the server keeps the bytes of a PNG as they came. */
async function isAttached({ home }: Stage, find: string, entry: number, record: ServerFind | undefined): Promise<boolean> {
  const { entries } = await home.json<{ entries: { entry: number; sha512?: string }[] }>('show', find);
  const sha512 = entries.find((each) => each.entry === entry)?.sha512;
  return record?.digests.includes(sha512 ?? '') === true;
}

type ServerFind = {
  readonly identCely: string;
  readonly note: string;
  readonly number: string;
  readonly photos: number;
  readonly digests: readonly (string | undefined)[];
};

/** All finds as an archivist sees them. */
async function serverFinds({ oai_base }: MockProcess): Promise<ServerFind[]> {
  const found: ServerFind[] = [];
  let query = 'metadataPrefix=oai_svc&set=samostatny_nalez';
  for (;;) {
    const answer = await fetch(`${oai_base}/2.2/oai?verb=ListRecords&${query}`, {
      headers: { authorization: `Basic ${Buffer.from('archivist:archivist').toString('base64')}` },
    });
    const { root } = parseXml(Buffer.from(await answer.arrayBuffer()));
    const metadata = [...descendantsOf(root, 'metadata', root.namespace)];
    for (const { children } of metadata) {
      const find = children[0]?.children[0] === undefined ? undefined : readHarvestedFind(children[0].children[0]);
      if (find === undefined) continue;
      const text = (value: unknown): string => (typeof value === 'string' ? value : '');
      found.push({
        identCely: find.identCely,
        note: text(find.elements.poznamka),
        number: text(find.elements.evidencni_cislo),
        photos: find.files.length,
        digests: find.files.map(({ sha512Hex }) => sha512Hex),
      });
    }
    const token = [...descendantsOf(root, 'resumptionToken', root.namespace)][0]?.text.trim();
    if (token === undefined || token === '') return found;
    query = `resumptionToken=${encodeURIComponent(token)}`;
  }
}

/** The server holds each find, photograph and number exactly once, and the outbox says the same. */
async function expectEachOnce(stage: Stage, planned: readonly Planned[]): Promise<void> {
  await untilListed(stage);
  const listed = await stage.home.json<{ local_id: string; ident_cely: string | null; state: string }[]>('list');
  const records = await serverFinds(stage.service());
  for (const { localId, note, photos, number } of planned) {
    const made = records.filter((record) => record.note === note);
    const here = listed.find(({ local_id }) => local_id === localId);
    const [record] = made;
    const problems = [
      made.length === 1 ? '' : `the server has it ${made.length} times`,
      here?.state === 'accepted' ? '' : `the outbox calls it ${here?.state}`,
      record?.identCely === here?.ident_cely ? '' : `the server calls it ${record?.identCely}, the outbox ${here?.ident_cely}`,
      record?.photos === photos ? '' : `${record?.photos} photographs of ${photos}`,
      record?.number === (number ?? '') ? '' : `number ${record?.number} in place of ${number}`,
    ].filter((problem) => problem !== '');
    if (problems.length > 0) throw new Error(`${localId}: ${problems.join('; ')}`);
  }
}

function must(run: Run, codes: readonly number[]): void {
  if (run.code !== null && codes.includes(run.code)) return;
  const lines = jsonLines(run.stdout)
    .slice(-3)
    .map((line) => JSON.stringify(line));
  throw new Error(`pas ended with ${run.code}\n${lines.join('\n')}\n${run.stderr}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
