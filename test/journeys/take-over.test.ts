import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { OutboxLeasedError } from '../../src/base/errors.ts';
import { openFindOutbox } from '../../src/exports/outbox.ts';
import { leaseHolder, takeLease } from '../../src/outbox/lease.ts';
import { type Outbox, openOutbox } from '../../src/outbox/open-outbox.ts';
import { type ProcessTable, processTable } from '../../src/outbox/process-table.ts';
import { writeSeason } from '../support/a-season.ts';
import { hostRuns } from '../support/hosted-runs.ts';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { playMachine } from '../support/played-machine.ts';
import { expectDone, type Home, jsonLines, type Run, signedIn } from '../support/run-pas.ts';
import { tempFolder } from '../support/temp-outbox.ts';

hostRuns();

let mock: RunningMock;
beforeAll(async () => {
  mock = await serveMock('--min-interval', '10');
});
afterAll(() => mock.stop());

let home: Home;
beforeEach(async () => {
  await mock.control('POST', '/reset');
  home = await signedIn(mock, 'archaeologist', ['--min-interval-ms', '10']);
  await expectDone(home.pas('status'));
});

/** A process of a machine of which nothing can be known from here. */
function elsewhere(): ProcessTable {
  const office = playMachine('win32', { host: 'office', id: '9' });
  return processTable(office.seenBy(office.start()));
}

const openHere = (): Outbox => openOutbox(join(home.folder, 'pas', 'outbox.sqlite'), systemClock);
const sent = ({ stdout }: Pick<Run, 'stdout'>) => jsonLines(stdout).filter(({ state }) => state === 'accepted');

test('an outbox that another machine seems to hold is taken over by whoever says that it is gone', async () => {
  const outbox = openHere();
  takeLease(outbox, { processes: elsewhere() });
  const refused = await home.pas('push');
  expect(refused.code).toBe(11);
  expect(refused.stderr).toMatch(/process \d+ on office.*\n.*Look on office whether process \d+ is .*--take-over/s);
  expect((await home.pas('doctor', '--offline')).stdout).toMatch(/on office.*\n.*pas push --take-over/);
  await expectDone(home.pas('push', '--take-over'));
  outbox.close();
});

test.each([
  ['sent what there was', 'entries'],
  ['found nobody to ask for a token', 'service'],
])('a watch that took the outbox over and %s leaves it afterwards to whoever takes it', async (_what, rest) => {
  const outbox = openHere();
  takeLease(outbox, { processes: elsewhere() });
  if (rest === 'service') {
    await mock.faults({ endpoint: 'token', fault: '503' });
    forgetToken();
    await expectDone(home.pas('import', writeSeason(home, 1)));
  }
  const watching = home.start('push', '--watch', '--take-over', '--json');
  await watching.until(({ stdout }) => stdout.includes(`"for":"${rest}"`));

  const other = takeLease(outbox, { processes: elsewhere() });
  if (rest === 'service') await mock.faults();
  else await expectDone(home.pas('import', writeSeason(home, 1)));
  await watching.until((written) => {
    expect(sent(written)).toEqual([]);
    return written.stdout.includes('"for":"outbox"');
  });
  expect(leaseHolder(outbox)).toMatchObject({ host: 'office' });

  other.release();
  await watching.until((written) => sent(written).length > 0);
  watching.child.kill('SIGINT');
  expect((await watching.ended).code).toBe(0);
  outbox.close();
});

test('a program takes the outbox over once, where it is told that nobody has it', async () => {
  const other = elsewhere();
  const file = join(tempFolder(), 'outbox.sqlite');
  const service = { baseUrl: mock.base_url, schemaBase: mock.schema_base, username: 'archaeologist', password: 'archaeologist' };
  await using mine = await openFindOutbox({ file, service, takeOver: true });
  const theirs = openOutbox(file, systemClock);
  takeLease(theirs, { processes: other });
  await mine.push();
  const lease = takeLease(theirs, { processes: other });
  await expect(mine.push()).rejects.toThrow(OutboxLeasedError);
  expect(() => mine.resolve('C-202400101-N00001', { kind: 'drop' })).toThrow(OutboxLeasedError);
  lease.release();
  await mine.push();
  theirs.close();
});

/** The next request must ask for one. */
function forgetToken(): void {
  const path = join(home.folder, 'pas', 'secrets.json');
  const { mock: secrets } = JSON.parse(readFileSync(path, 'utf8')) as { mock: Record<string, string> };
  writeFileSync(path, JSON.stringify({ mock: { ...secrets, token: undefined } }));
}
