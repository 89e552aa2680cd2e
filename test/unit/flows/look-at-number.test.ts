import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../../src/base/errors.ts';
import { resolveDoubts } from '../../../src/flows/reconcile/resolve-doubt.ts';
import { addNumber, allEntries } from '../../../src/outbox/entries.ts';
import { findService, innerOf } from '../../support/find-service.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tempOutbox } from '../../support/temp-outbox.ts';

/** A record of the service, and a number for it that gets no clear answer at its first attempt. */
async function story(fate: '500' | 'done-but-500', meanwhile: (service: ReturnType<typeof findService>, ident: string) => void) {
  const clock = manualClock();
  const outbox = tempOutbox(clock);
  const service = findService(clock);
  const ident = service.make(innerOf('K-1'));
  service.setNumber(ident, 'OLD');
  await clock.advance(3_600_000);
  service.habits.fate = () => (service.writes.length === 1 ? fate : 'done');
  addNumber(outbox, { findId: null, identCely: ident }, 'INV 1');
  const push = async () => {
    await service.push(outbox);
    return { number: service.records.get(ident)?.number, sent: service.writes.length, entry: allEntries(outbox)[0] };
  };
  service.habits.beforeHarvest = async () => {
    service.habits.beforeHarvest = async () => {};
    meanwhile(service, ident);
  };
  return { outbox, service, ident, push };
}

describe('a number without a clear answer', () => {
  test('is sent again where the record is as it was', async () => {
    const { outbox, push } = await story('500', () => {});
    expect(await push()).toMatchObject({ number: 'INV 1', sent: 2, entry: { state: 'accepted' } });
    outbox.close();
  });

  test('is not sent again where the record has it', async () => {
    const { outbox, push } = await story('done-but-500', () => {});
    expect(await push()).toMatchObject({ number: 'INV 1', sent: 1, entry: { state: 'accepted' } });
    outbox.close();
  });

  test('never overwrites what a curator has set meanwhile: a person is shown both, and decides', async () => {
    const { outbox, push, ident } = await story('500', (service, record) => service.setNumber(record, 'CUR 7'));
    const left = await push();
    expect(left).toMatchObject({ number: 'CUR 7', sent: 1, entry: { state: 'uncertain' } });
    expect(String(left.entry?.reason)).toMatch(/CUR 7.*INV 1/);
    expect(await push()).toMatchObject({ number: 'CUR 7', sent: 1, entry: { state: 'uncertain' } });
    resolveDoubts(outbox, ident, { kind: 'resend' });
    expect(await push()).toMatchObject({ number: 'INV 1', sent: 2, entry: { state: 'accepted' } });
    outbox.close();
  });

  test('waits where the service cannot be looked at now', async () => {
    const { outbox, service, push } = await story('500', () => {});
    service.habits.beforeHarvest = async () => {
      throw new UnavailableError('closed for the night');
    };
    const left = await push();
    expect(left).toMatchObject({ number: 'OLD', sent: 1, entry: { state: 'uncertain' } });
    expect(String(left.entry?.reason)).toMatch(/closed for the night/);
    service.habits.beforeHarvest = async () => {};
    expect(await push()).toMatchObject({ number: 'INV 1', sent: 2, entry: { state: 'accepted' } });
    outbox.close();
  });
});
