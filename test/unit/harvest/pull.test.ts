import { expect, test } from 'vitest';
import { pullFinds } from '../../../src/harvest/pull-finds.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { type TempOutbox, tempOutbox } from '../../support/temp-outbox.ts';
import { JAN_SAID } from '../push/account-service.ts';
import { findService, queueFind } from '../push/find-service.ts';

/** Records shown to this account by a harvest that could be of another service. */
async function pulled(
  outbox: TempOutbox,
  service: ReturnType<typeof findService>,
  clock: ManualClock,
) {
  const { client } = service;
  const { finds } = await pullFinds({
    outbox,
    client,
    format: 'oai_svc',
    clock,
    training: true,
    full: true,
    indexAllowanceMs: 0,
  });
  return finds.map(({ sent, pulled: { standing } }) => [sent.find, standing]);
}

async function sent(clock: ManualClock, outbox: TempOutbox) {
  const service = findService(clock);
  queueFind(outbox, 'K-1');
  await service.push(outbox);
  return service;
}

test('a record with the same identifier that another account created meanwhile is not taken for the sent one', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  const service = await sent(clock, outbox);
  for (const record of service.records.values()) record.user = JAN_SAID.identCely;
  await expect(pulled(outbox, service, clock)).rejects.toThrow(/shows none of the 1 finds/);
});

test('a change that an empty list hid is found', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  const { client, records, change } = await sent(clock, outbox);
  const pullStates = async (listHeaders = client.listHeaders) => {
    const context = {
      outbox,
      client: { ...client, listHeaders },
      format: 'oai_svc',
      clock,
      training: false,
      full: false,
    };
    return (await pullFinds({ ...context, indexAllowanceMs: 0 })).finds.map(
      ({ pulled: { stav } }) => stav,
    );
  };
  expect(await pullStates()).toEqual([1]);
  await clock.advance(3_600_000);
  const [ident = ''] = records.keys();
  change(ident, (record) => {
    record.inner = record.inner.replace('<stav>1', '<stav>4');
  });
  await clock.advance(3_600_000);
  expect(await pullStates((args) => client.listHeaders({ ...args, from: '2999-01-01' }))).toEqual([
    4,
  ]);
});
