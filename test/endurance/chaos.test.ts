import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseHarvestedFind } from '../../src/find/harvested-find.ts';
import { findCreation } from '../../src/push/judge-import.ts';
import { walkDescendants } from '../../src/xml/element.ts';
import { parseXml } from '../../src/xml/parse.ts';
import { freePort } from '../support/free-port.ts';
import { type MockProcess, type RunningMock, startMockProcess } from '../support/mock-process.ts';
import { type Random, seededRandom } from '../support/random.ts';
import { expectDone, type Home, type Run, signedIn } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';

const ROUNDS = Number(process.env['CHAOS_ROUNDS'] ?? 2);
const SEED = Number(process.env['CHAOS_SEED'] ?? 5);
const FROM = Number(process.env['CHAOS_FROM'] ?? 0);
const FINDS = 5;
/** Short, so that many rounds fit into an hour. */
const SETTLE_MS = 800;
const PROFILE_FLAGS = [
  '--set',
  'min_interval_ms=8',
  '--set',
  `settle_ms=${SETTLE_MS}`,
  '--set',
  'index_allowance_ms=500',
  '--set',
  'answer_timeout_ms=600',
];
const FAULTS = [
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
];
const PUSH_CODES = [0, 3, 4, 5, 6, 15];
const MAX_TURNS = 20;

type Planned = { readonly localId: string; readonly note: string; readonly number: string };
type Open = { readonly entry: number; readonly find: string; readonly kind: string };
type Status = {
  readonly entries: Record<string, Record<string, number>>;
  readonly needs_person: readonly Open[];
};

test(`${ROUNDS} rounds of faults and kills end with everything at the service exactly once`, async () => {
  const data = join(mkdtempSync(join(tmpdir(), 'pas-chaos-')), 'mock.sqlite');
  const port = String(await freePort());
  const start = (): Promise<MockProcess> =>
    startMockProcess('--data', data, '--port', port, '--min-interval', '8');
  let service = await start();
  const home = await signedIn(service, 'archaeologist', PROFILE_FLAGS);
  for (let round = FROM; round < FROM + ROUNDS; round += 1) {
    const random = seededRandom(SEED * 100_003 + round);
    const planned = await queueFinds(home, round);
    await service.faults(...drawFaults(random));
    for (let push = 0; push < 3; push += 1) {
      await disturbedPush(home, random, async () => {
        await killed(service);
        service = await start();
      });
    }
    await service.faults();
    await comeToRest(home, service, planned);
    await expectEachOnce(home, service, planned, round);
  }
  await service.stop();
});

async function queueFinds(home: Home, round: number): Promise<Planned[]> {
  const planned = Array.from({ length: FINDS }, (_, index): Planned => {
    const localId = `R${round}-${index}`;
    return { localId, note: `chaos ${localId}`, number: `N ${localId}` };
  });
  const rows = planned.map(({ localId, note }, index) => {
    home.file(`${localId}.png`, tinyPng(round * 100 + index));
    return `${localId};C-202400101;1;4326;HES-000867;14.4${index};50.08;${note};${localId}.png`;
  });
  const header = 'local_id;projekt;stav;geom_system;pristupnost;lon;lat;poznamka;photos';
  await expectDone(
    home.pas('import', home.file(`round-${round}.csv`, [header, ...rows].join('\n'))),
  );
  for (const { localId, number } of planned)
    await expectDone(home.pas('number', 'set', localId, number));
  return planned;
}

function drawFaults(random: Random): Record<string, unknown>[] {
  return Array.from({ length: random.between(1, 4) }, () => ({
    endpoint: random.pick(['import', 'import', 'photo', 'number']),
    fault: random.pick(FAULTS),
    when: random.chance(0.5)
      ? { nth: random.between(1, 4) }
      : { probability: 0.5, seed: random.between(1, 1e6) },
    times: random.between(1, 2),
  }));
}

/** A push that may be killed at any moment, against a service that may be killed, too. */
async function disturbedPush(
  home: Home,
  random: Random,
  restartService: () => Promise<void>,
): Promise<void> {
  const { child, ended } = home.start('push', '--json');
  await Promise.race([ended, pause(random.between(200, 1200))]);
  if (random.chance(0.2)) await restartService();
  if (random.chance(0.7) && child.exitCode === null) child.kill('SIGKILL');
  const run = await ended;
  if (run.signal === null) assertCode(run, PUSH_CODES);
}

async function killed({ child }: MockProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

/**
 * Pushes until nothing is open. A person looks at the service, and decides what pas cannot settle.
 */
async function comeToRest(
  home: Home,
  service: MockProcess,
  planned: readonly Planned[],
): Promise<void> {
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    assertCode(await home.pas('push', '--json'), [0, 5, 6]);
    const { entries, needs_person } = await home.json<Status>('status');
    const open = Object.values(entries).reduce(
      (sum, states) => sum + (states['queued'] ?? 0) + (states['sending'] ?? 0),
      0,
    );
    if (open === 0 && needs_person.length === 0) return;
    await pause(SETTLE_MS);
    if (turn < 5) continue;
    const records = await serverFinds(service);
    for (const each of needs_person) await decide(home, planned, records, each);
  }
  throw new Error(
    `the outbox did not come to rest: ${JSON.stringify(await home.json<Status>('status'))}`,
  );
}

async function decide(
  home: Home,
  planned: readonly Planned[],
  records: readonly ServerFind[],
  open: Open,
): Promise<void> {
  const plan = planned.find(({ localId }) => localId === open.find);
  const record = records.find(({ note }) => note === plan?.note);
  const isThere = {
    import: record !== undefined,
    number: record?.number === plan?.number,
    photo: record?.digests.length === 1,
  }[open.kind];
  const decision =
    isThere === true ? ['--created', record?.identCely ?? '', '--yes'] : ['--resend'];
  assertCode(await home.pas('resolve', open.find, '--entry', `${open.entry}`, ...decision), [0]);
}

async function expectEachOnce(
  home: Home,
  service: MockProcess,
  planned: readonly Planned[],
  round: number,
): Promise<void> {
  const listed =
    await home.json<{ local_id: string; ident_cely: string | null; state: string }[]>('list');
  const records = await serverFinds(service);
  for (const { localId, note, number } of planned) {
    const madeRecords = records.filter((record) => record.note === note);
    const here = listed.find(({ local_id }) => local_id === localId);
    const again = `CHAOS_ROUNDS=1 CHAOS_SEED=${SEED} CHAOS_FROM=${round}`;
    expect({ localId, made: madeRecords, here }, again).toMatchObject({
      made: [{ identCely: here?.ident_cely, number, digests: [expect.any(String)] }],
      here: { state: 'accepted' },
    });
  }
}

function assertCode(run: Run, codes: readonly number[]): void {
  if (run.code === null || !codes.includes(run.code))
    throw new Error(`pas ended with ${run.code ?? run.signal}\n${run.stderr}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

type ServerFind = {
  readonly identCely: string;
  readonly note: string;
  readonly number: string;
  /** The service's identifier of the account that made it. */
  readonly maker: string | undefined;
  /** SHA-512 of its photographs: the server keeps the bytes of a PNG as they came. */
  readonly digests: readonly (string | undefined)[];
};

/** All finds as an archivist sees them. */
async function serverFinds({ oai_base }: RunningMock): Promise<ServerFind[]> {
  const found: ServerFind[] = [];
  let query = 'metadataPrefix=oai_svc&set=samostatny_nalez';
  for (;;) {
    const answer = await fetch(`${oai_base}/2.2/oai?verb=ListRecords&${query}`, {
      headers: { authorization: `Basic ${Buffer.from('archivist:archivist').toString('base64')}` },
    });
    const { root } = parseXml(Buffer.from(await answer.arrayBuffer()));
    const metadata = [...walkDescendants(root, 'metadata', root.namespace)];
    for (const { children } of metadata) {
      const find =
        children[0]?.children[0] === undefined
          ? undefined
          : parseHarvestedFind(children[0].children[0]);
      if (find === undefined) continue;
      const text = (value: unknown): string => (typeof value === 'string' ? value : '');
      found.push({
        identCely: find.identCely,
        note: text(find.elements.poznamka),
        number: text(find.elements.evidencni_cislo),
        maker: findCreation(find)?.user,
        digests: find.files.map(({ sha512Hex }) => sha512Hex),
      });
    }
    const token = [...walkDescendants(root, 'resumptionToken', root.namespace)][0]?.text.trim();
    if (token === undefined || token === '') return found;
    query = `resumptionToken=${encodeURIComponent(token)}`;
  }
}
