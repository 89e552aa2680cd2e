import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { Addresses } from '../base/addresses.ts';
import { MockClock, type MockTime } from '../base/clock.ts';
import { getErrorMessage, isStorageFailure } from '../base/error-message.ts';
import { makeSeededRandom } from '../base/random.ts';
import { makeAccessLists } from './access.ts';
import { Accounts } from './accounts.ts';
import { Faults } from './active-faults.ts';
import { Areas } from './areas.ts';
import { Counters } from './counters.ts';
import { openState, readOrigin, setOrigin } from './database.ts';
import { Journal } from './journal.ts';
import { Locks } from './lock.ts';
import type { Mock } from './mock.ts';
import type { MockServerOptions } from './options.ts';
import { Photographs } from './photographs.ts';
import { Archive } from './records/archive.ts';
import { HarvestIndex } from './records/harvest-index.ts';
import { SavedSeed } from './saved-seed.ts';
import { Schemas } from './schema.ts';
import { isSeed, loadSeed, seedName, syntheticFinds } from './seed/load-seed.ts';
import type { SeedContent } from './seed-content.ts';
import { DEFAULT_SETTINGS, type Settings } from './settings.ts';
import { Throttle } from './throttle.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Limits of a journal; a server has many tenants. */
const MAX_JOURNAL_BYTES = { server: 32 * 1024 * 1024, tenant: 2 * 1024 * 1024 };

/** Clock and, for a tenant, the shared parts. */
type About = {
  readonly time?: MockTime;
  readonly tenants?: Mock['tenants'];
  readonly schemas?: Schemas;
  readonly seed?: SeedContent;
};

/** Parts of a service. */
type Made = {
  readonly options: MockServerOptions;
  readonly addresses: Addresses;
  readonly about: About;
  readonly database: Database;
  readonly seed: SeedContent;
};

/**
 * Creates a service and fills it from the seed, unless the data file has content.
 * @throws Error with a readable reason where the data file cannot be used, or has another seed
 */
export async function createMock(
  options: MockServerOptions,
  addresses: Addresses,
  about: About = {},
): Promise<Mock & { dispose(): void }> {
  let database: Database | undefined;
  try {
    database = openState(options.data);
    return await fillMock(options, addresses, about, database);
  } catch (thrown) {
    database?.close();
    if (options.data === undefined || !isStorageFailure(thrown)) throw thrown;
    throw new Error(`${options.data} cannot be written: ${getErrorMessage(thrown)}`, {
      cause: thrown,
    });
  }
}

async function fillMock(
  options: MockServerOptions,
  addresses: Addresses,
  about: About,
  database: Database,
): Promise<Mock & { dispose(): void }> {
  const { source, isFilled } = chooseSeed(options, database);
  const seed = about.seed ?? (await loadSeed(source));
  const parts = makeParts(
    { options, addresses, about, database, seed },
    () => mock.settings.index_delay_ms,
  );
  const { clock, savedSeed } = parts;
  const startSettings = makeStartSettings(options, seed);
  const mock: Writable<Mock> & { dispose(): void } = {
    ...parts,
    settings: startSettings,
    access: makeAccessLists(startSettings),
    applySettings(patch: Partial<Settings>): void {
      mock.settings = { ...mock.settings, ...patch };
      mock.access = makeAccessLists(mock.settings);
    },
    resetting: undefined,
    reset(): Promise<void> {
      mock.resetting ??= fillInSteps().finally(() => {
        mock.resetting = undefined;
      });
      return mock.resetting;
    },
    dispose(): void {
      about.tenants?.dispose();
      if (about.schemas === undefined) parts.schemas.dispose();
      parts.photographs.close();
      database.close();
    },
  };
  function* startAnew(): Generator<void> {
    clock.reset();
    for (const part of [parts.journal, parts.throttle, parts.locks]) part.clear();
    parts.faults.set(options.faults ?? []);
    mock.applySettings(startSettings);
    setOrigin(database, undefined);
    if (!savedSeed.restore(mock.archive)) {
      yield* fill(mock, seed, options.records ?? 0);
      savedSeed.save();
    }
    // The seed is indexed.
    mock.harvestIndex.clear();
    fillPhotographs(mock, seed);
    setOrigin(database, source);
  }
  // Yields to other requests and to signals.
  const fillInSteps = async (): Promise<void> => {
    for (const _step of startAnew()) await nextTurn();
  };
  parts.faults.set(options.faults ?? []);
  try {
    if (isFilled) parts.photographs.sweep();
    else await fillInSteps();
  } catch (thrown) {
    parts.photographs.close();
    throw thrown;
  }
  return mock;
}

/** @param indexDelay returns the current setting */
function makeParts(
  { options, addresses, about, database, seed }: Made,
  indexDelay: () => Settings['index_delay_ms'],
) {
  const clock = new MockClock(about.time);
  const now = () => clock.now();
  const deployed = options.deployed === true;
  const harvestIndex = new HarvestIndex(now);
  const savedSeed = new SavedSeed(database);
  const archive: Archive = new Archive(database, now, (ident, before) => {
    harvestIndex.recordWrite(ident, before, indexDelay());
    savedSeed.recordWrite(ident, before);
  });
  return {
    addresses,
    clock,
    database,
    archive,
    harvestIndex,
    deployed,
    accounts: new Accounts(database, archive, now),
    counters: new Counters(database),
    areas: new Areas(archive),
    photographs: new Photographs(
      database,
      // Node never returns from making a relative folder where the current one was removed.
      options.data === undefined ? undefined : resolve(`${options.data}.photographs`),
    ),
    journal: new Journal(
      about.schemas === undefined ? MAX_JOURNAL_BYTES.server : MAX_JOURNAL_BYTES.tenant,
    ),
    faults: new Faults(),
    throttle: new Throttle({ ignoreMillisecondWindows: deployed }),
    locks: new Locks(clock),
    savedSeed,
    tenants: about.tenants,
    controlToken: options.controlToken,
    cors: options.cors,
    schemas: about.schemas ?? new Schemas(addresses),
    training: options.training === true,
    seedNumber: options.seedNumber ?? 0,
    seed,
  };
}

/**
 * Returns the requested seed, else that of the data file.
 * @throws Error where the file has another seed
 */
function chooseSeed(
  options: MockServerOptions,
  database: Database,
): { readonly source: string; readonly isFilled: boolean } {
  const origin = readOrigin(database);
  const requestedSeed = options.seed === undefined ? undefined : seedName(options.seed);
  // A folder may have been moved.
  const isOther =
    origin !== undefined &&
    requestedSeed !== undefined &&
    requestedSeed !== origin &&
    isSeed(origin);
  if (isOther)
    throw new Error(
      `${options.data} was filled from the seed ${origin}, not ${requestedSeed}: leave --seed away, or name another data file`,
    );
  return { source: requestedSeed ?? origin ?? 'demo', isFilled: origin !== undefined };
}

function makeStartSettings(options: MockServerOptions, seed: SeedContent): Settings {
  const seedNumber = options.seedNumber ?? 0;
  const settings = {
    ...DEFAULT_SETTINGS,
    // The deployed service's proxy also counts the boundaries, so the largest allowed photograph is
    // refused.
    ...(options.deployed === true ? { body_max_bytes: DEFAULT_SETTINGS.photo_max_bytes } : {}),
    page_size:
      seedNumber === 0
        ? DEFAULT_SETTINGS.page_size
        : 20 + Math.floor(makeSeededRandom(seedNumber)() * 180),
    ...seed.settings,
  };
  const { minIntervalMs: interval } = options;
  return {
    ...settings,
    min_request_intervals:
      interval === undefined
        ? settings.min_request_intervals
        : { user_ms: interval, ip_ms: interval },
    latency_ms: options.latencyMs ?? settings.latency_ms,
    page_size: options.pageSize ?? settings.page_size,
    allowed_schema_versions: options.schemaVersions ?? settings.allowed_schema_versions,
  };
}

/** Replaces everything stored except photographs by the seed, step by step in one transaction. */
function* fill(mock: Mock, seed: SeedContent, syntheticCount: number): Generator<void> {
  mock.database.exec('begin');
  try {
    mock.accounts.clear();
    mock.counters.clear();
    mock.archive.clear();
    for (const record of seed.records) mock.archive.seed(record);
    // First, so that requests in flight find their accounts.
    for (const account of seed.accounts) mock.accounts.add(account);
    if (syntheticCount > 0)
      yield* mock.archive.insertRows(syntheticFinds(syntheticCount, mock.seedNumber, seed));
    mock.database.exec('commit');
  } catch (thrown) {
    // A full disk has ended the transaction already.
    if (mock.database.inTransaction) mock.database.exec('rollback');
    throw thrown;
  }
}

function fillPhotographs({ photographs }: Mock, seed: SeedContent): void {
  photographs.clear();
  for (const photograph of seed.photographs) photographs.add(photograph);
}
