import { accessListsOf } from './access.ts';
import { Accounts } from './accounts.ts';
import type { Addresses } from './addresses.ts';
import { Areas } from './areas.ts';
import { MockClock, type MockTime } from './clock.ts';
import { Counters } from './counters.ts';
import { openState } from './database.ts';
import { Faults } from './faults.ts';
import { Journal } from './journal.ts';
import { Latency } from './latency.ts';
import { Locks } from './lock.ts';
import type { Mock } from './mock.ts';
import type { MockServerOptions } from './options.ts';
import { Photographs } from './photographs.ts';
import { seededRandom } from './random.ts';
import { Archive } from './records/archive.ts';
import { HarvestIndex } from './records/harvest-index.ts';
import { Schemas } from './schema.ts';
import { loadSeed, syntheticFinds } from './seed.ts';
import type { SeedContent } from './seed-content.ts';
import { DEFAULT_SETTINGS, type Settings } from './settings.ts';
import { Snapshots } from './snapshots.ts';
import { Throttle } from './throttle.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Headers and bodies that a journal keeps; a tenant is one of many. */
const MOST_EXCHANGE_BYTES = { server: 32 * 1024 * 1024, tenant: 2 * 1024 * 1024 };

/**
 * Puts one service's parts together and fills them from the seed, unless the data file already holds something.
 * @param about how it differs from one that stands alone: its time, and of a tenant what it shares
 */
export async function createMock(
  options: MockServerOptions,
  addresses: Addresses,
  about: {
    readonly time?: MockTime;
    readonly tenants?: Mock['tenants'];
    readonly schemas?: Schemas;
    readonly seed?: SeedContent;
    readonly recording?: Mock['recording'];
  } = {},
): Promise<Mock & { dispose(): void }> {
  const seed = about.seed ?? (await loadSeed(options.seed ?? 'demo'));
  const database = openState(options.data);
  const clock = new MockClock(about.time);
  const now = () => clock.now();
  const deployed = options.deployed === true;
  const harvestIndex = new HarvestIndex(now);
  const snapshots = new Snapshots();
  const archive: Archive = new Archive(database, now, (ident, before) => {
    harvestIndex.noteWrite(ident, before, mock.settings.index_delay_ms);
    snapshots.noteWrite(ident, before);
  });
  const parts = {
    addresses,
    clock,
    database,
    archive,
    harvestIndex,
    deployed,
    accounts: new Accounts(database, archive, now),
    counters: new Counters(database),
    areas: new Areas(archive),
    photographs: new Photographs(database, options.data === undefined ? undefined : `${options.data}.photographs`),
    journal: new Journal(about.schemas === undefined ? MOST_EXCHANGE_BYTES.server : MOST_EXCHANGE_BYTES.tenant),
    faults: new Faults(),
    throttle: new Throttle({ ignoreMillisecondWindows: deployed }),
    locks: new Locks(clock),
    latency: new Latency(options.seedNumber ?? 0),
    snapshots,
    tenants: about.tenants,
    recording: about.recording,
    controlToken: options.controlToken,
    cors: options.cors,
    schemas: about.schemas ?? new Schemas(addresses),
    training: options.training === true,
    seedNumber: options.seedNumber ?? 0,
  };
  const startSettings = startSettingsOf(options, seed);
  const mock: Writable<Mock> & { dispose(): void } = {
    ...parts,
    settings: startSettings,
    access: accessListsOf(startSettings),
    applySettings(patch: Partial<Settings>): void {
      mock.settings = { ...mock.settings, ...patch };
      mock.access = accessListsOf(mock.settings);
    },
    reset(): void {
      clock.reset();
      for (const part of [parts.journal, parts.throttle, parts.locks, parts.harvestIndex, snapshots]) part.clear();
      parts.faults.set(options.faults ?? []);
      mock.applySettings(startSettings);
      if (!snapshots.backToSeed(mock)) fill(mock, seed, options.records ?? 0);
      fillPhotographs(mock, seed);
    },
    dispose(): void {
      about.tenants?.dispose();
      if (about.schemas === undefined) parts.schemas.dispose();
      parts.photographs.close();
      database.close();
    },
  };
  parts.faults.set(options.faults ?? []);
  try {
    if (parts.accounts.all().length === 0) mock.reset();
  } catch (thrown) {
    parts.photographs.close();
    database.close();
    throw thrown;
  }
  // A clock that was set ahead before a restart must not run behind its own datestamps: harvesters would miss changes.
  const latest = archive.latestDatestampMs() ?? 0;
  if (latest > clock.now()) clock.set(latest + 1);
  return mock;
}

function startSettingsOf(options: MockServerOptions, seed: SeedContent): Settings {
  const seedNumber = options.seedNumber ?? 0;
  const interval = options.minIntervalMs;
  return {
    ...DEFAULT_SETTINGS,
    // The deployed service's proxy counts the boundaries too, so that the largest allowed photograph never arrives.
    ...(options.deployed === true ? { body_max_bytes: DEFAULT_SETTINGS.photo_max_bytes } : {}),
    ...(seedNumber === 0 ? {} : { page_size: 20 + Math.floor(seededRandom(seedNumber)() * 180) }),
    ...seed.settings,
    ...(interval === undefined ? {} : { min_request_intervals: { user_ms: interval, ip_ms: interval } }),
    ...(options.latencyMs === undefined ? {} : { latency_ms: options.latencyMs }),
    ...(options.pageSize === undefined ? {} : { page_size: options.pageSize }),
    ...(options.schemaVersions === undefined ? {} : { allowed_schema_versions: options.schemaVersions }),
  };
}

/** Replaces everything stored but photographs by the seed, in one transaction. */
function fill(mock: Mock, seed: SeedContent, syntheticCount: number): void {
  mock.database.transaction(() => {
    mock.accounts.clear();
    mock.counters.clear();
    mock.archive.clear();
    for (const record of seed.records) mock.archive.seed(record);
    if (syntheticCount > 0) mock.archive.insertRows(syntheticFinds(syntheticCount, mock.seedNumber, seed));
    for (const account of seed.accounts) mock.accounts.add(account);
  })();
  // The seed is indexed.
  mock.harvestIndex.clear();
  mock.snapshots.keepAsSeed(mock);
}

function fillPhotographs({ photographs }: Mock, seed: SeedContent): void {
  photographs.clear();
  for (const photograph of seed.photographs) photographs.add(photograph, photograph.bytes);
}
