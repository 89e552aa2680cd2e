import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken, importXml } from '../support/contract-requests.ts';
import { eventually } from '../support/eventually.ts';
import type { JournalEntry, RunningMock } from '../support/mock-process.ts';
import { type Home, jsonLines } from '../support/run-pas.ts';
import { tempFolder } from '../support/temp-folder.ts';

export type Measured = {
  readonly accepted: number;
  readonly requests: number;
  readonly throttled: number;
  /** Between any two write requests as they left, of whatever process. */
  readonly smallestDepartureGapMs: number;
  /** The same as they arrived. */
  readonly smallestGapMs: number;
  /** Accepted requests a second, from the first arrival to the last. */
  readonly perSecond: number;
  /** Messages of the pushes. */
  readonly notes: string;
};

/**
 * Finds of each push: with four of them ten seconds at the permitted rate. The endurance run sends
 * more.
 */
export const FINDS_EACH = Number(process.env['PACE_FINDS_EACH'] ?? 25);

/**
 * A service that meets its first import has a schema to load, and everything that arrives meanwhile
 * waits in line.
 */
export async function warmUp(service: RunningMock): Promise<void> {
  const served = { url: service.base_url, server: service };
  const token = await fetchToken(served, 'archaeologist');
  const answer = await importXml(served, makeDocument(served, smallestFind()), { token });
  if (answer.status !== 201)
    throw new Error(`the first import was answered with ${answer.status}: ${answer.text}`);
}

/** Waits until so many writes have arrived at the service. */
export function arrived(service: RunningMock, count: number): Promise<void> {
  return eventually(async () => (await listWrites(service)).length).toBeGreaterThanOrEqual(count);
}

export async function listWrites(service: RunningMock): Promise<JournalEntry[]> {
  return (await service.journal()).filter(({ path }) => path.startsWith('/api/pas/'));
}

/** Pushes from all homes at once, and counts what left and what the service saw of it. */
export async function measurePushes(
  service: RunningMock,
  homes: readonly Home[],
  meanwhile: () => Promise<void> = async () => {},
): Promise<Measured> {
  await service.control('DELETE', '/journal');
  const departures = watchDepartures();
  const pushing = homes.map((home) => home.with(departures.env).do('push', '--json'));
  const [runs] = await Promise.all([Promise.all(pushing), meanwhile()]);
  const writes = await listWrites(service);
  const arrivals = writes.map(({ at_ms }) => at_ms).sort((a, b) => a - b);
  const total = (key: string): number =>
    runs.reduce(
      (sum, run) =>
        sum + Number(jsonLines(run.stdout).find(({ type }) => type === 'summary')?.[key]),
      0,
    );
  const measured = {
    accepted: total('accepted'),
    requests: writes.length,
    throttled: writes.filter(({ status }) => status === 429).length,
    smallestDepartureGapMs: Math.min(...gaps(departures.times())),
    smallestGapMs: Math.min(...gaps(arrivals)),
    perSecond: (1000 * (total('accepted') - 1)) / ((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)),
    notes: runs.map(({ stderr }) => stderr).join(''),
  };
  process.stderr.write(`measured ${JSON.stringify(measured)}\n`);
  return measured;
}

/**
 * Has every `pas` note when the head of a request to the write interface goes out, on the clock
 * that all processes share.
 */
function watchDepartures(): { readonly env: NodeJS.ProcessEnv; times(): number[] } {
  const log = join(tempFolder(), 'departures');
  writeFileSync(log, '');
  const watch = `
    import { appendFileSync } from 'node:fs';
    import { Socket } from 'node:net';
    const write = Socket.prototype._writeGeneric;
    Socket.prototype._writeGeneric = function (many, data, ...rest) {
      const at = process.hrtime.bigint();
      const head = Buffer.from(many ? data[0].chunk : data).subarray(0, 40).toString('latin1');
      if (/^[A-Z]+ \\/api\\/pas\\//.test(head)) setImmediate(() => appendFileSync(${JSON.stringify(log)}, at + '\\n'));
      return write.call(this, many, data, ...rest);
    };`;
  return {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(watch)}` },
    times: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => Number(line) / 1e6)
        .sort((a, b) => a - b),
  };
}

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}
