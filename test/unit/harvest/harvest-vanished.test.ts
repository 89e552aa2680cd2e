import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RecordOutput } from '../../../src/harvest/outputs.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { SET } from './fake-repository.ts';
import { cutAfter, labels, repetitions } from './harvest-output.ts';
import { type HarvestPlace, harvestPlace } from './record-harvest.ts';
import { aRepository, HABITS, ident } from './term-repository.ts';

const line = (n: number) => ({
  identifier: `${OAI_BASE}/id/${ident(n)}`,
  sets: [SET],
  deleted: true,
});

/** Each form's record of one that is gone. */
const FORMS = [
  ['jsonl', 'out.jsonl', (place: HarvestPlace) => place.lines().at(-1)],
  ['xml', 'out.xml', (place: HarvestPlace) => fromXml(readFileSync(place.path, 'utf8'))],
] as const;

function fromXml(text: string): object {
  const header = text.slice(text.lastIndexOf('<header'), text.lastIndexOf('</header>'));
  const getText = (name: string): string =>
    new RegExp(`<${name}>(.*)</${name}>`).exec(header)?.[1] ?? '';
  const deleted = header.startsWith('<header status="deleted">');
  return {
    identifier: getText('identifier'),
    datestamp: getText('datestamp'),
    sets: [getText('setSpec')],
    deleted,
  };
}

describe('a record that the service no longer lists', () => {
  test.each(FORMS)('is deleted in the output, once: %s', async (form, name, findRecord) => {
    const place = harvestPlace(name);
    const repository = aRepository(5);
    repository.nowMs += 3_600_000;
    await place.run(repository.exchange, { form });
    repository.forget(ident(2));
    const beganAt = new Date(Math.floor(repository.nowMs / 1000) * 1000).toISOString();
    const marked = await place.run(repository.exchange, { form });
    expect(marked).toMatchObject({ records: 4, vanished: 1, written: 1, deleted: 0, held: 5 });
    const record = findRecord(place) as { datestamp: string };
    expect(record).toMatchObject(line(2));
    expect(Date.parse(record.datestamp)).toBeGreaterThanOrEqual(Date.parse(beganAt));
    expect(await place.run(repository.exchange, { form, full: true })).toMatchObject({
      vanished: 0,
      written: 0,
      held: 5,
    });
    expect(findRecord(place)).toEqual(record);
  });

  test('is restored when it returns unchanged', async () => {
    const place = harvestPlace();
    const repository = aRepository(5);
    const madeMs = repository.nowMs - 3000;
    repository.nowMs += 3_600_000;
    await place.run(repository.exchange);
    repository.forget(ident(2));
    await place.run(repository.exchange, { full: true });
    expect(labels(place).has(ident(2))).toBe(false);
    repository.putBack(ident(2), 'věc 2', madeMs);
    expect(await place.run(repository.exchange, { full: true })).toMatchObject({
      vanished: 0,
      written: 1,
    });
    expect(labels(place)).toEqual(repository.alive());
  });

  test.each(HABITS)(
    'is deleted even if it vanished during the first harvest, of a service %s',
    async (_, habits) => {
      const place = harvestPlace();
      const repository = aRepository(12, habits);
      const met = habits.order === 'newest-first' ? 12 : 1;
      repository.beforeAnswer = ({ url }) =>
        url.includes('resumptionToken') && repository.forget(ident(met));
      await place.run(repository.exchange);
      await place.run(repository.exchange, { full: true });
      expect(labels(place)).toEqual(repository.alive());
      expect(repetitions(place)).toEqual([]);
    },
  );

  test('is kept if the harvest has bounds: it may have left them', async () => {
    const place = harvestPlace();
    const repository = aRepository(5);
    const until = `${new Date(repository.nowMs).toISOString().slice(0, 19)}Z`;
    repository.nowMs += 3_600_000;
    await place.run(repository.exchange, { until });
    repository.put(ident(2), 'změněno');
    expect(await place.run(repository.exchange, { until, full: true })).toMatchObject({
      records: 4,
      vanished: 0,
    });
    expect(labels(place).get(ident(2))).toBe('věc 2');
  });
});

/** Ends the process at its n-th step among those that write of deleted records. */
function dyingAt(step: number): (output: RecordOutput) => RecordOutput {
  let steps = 0;
  let isMarking = false;
  const live = (): void => {
    if (isMarking && ++steps === step) throw new Error('killed');
  };
  return (output) => ({
    ...output,
    write: async (page) => {
      isMarking = page.records.some(({ header }) => header.deleted);
      live();
      await output.write(page);
      live();
    },
    commit: (page) => {
      const faults = output.commit(page);
      live();
      return faults;
    },
  });
}

test('a harvest killed while it marks losses marks each of them once', async () => {
  const place = harvestPlace();
  const repository = aRepository(320, { pageSize: 80 });
  await place.run(repository.exchange);
  for (let n = 1; n <= 250; n++) repository.forget(ident(n));
  let kills = 0;
  for (let isOver = false; !isOver; ) {
    const running = place.run(repository.exchange, {
      full: kills === 0,
      wrap: dyingAt(1 + kills),
    });
    isOver = await running.then(
      () => true,
      (thrown: Error) => thrown.message !== 'killed',
    );
    if (!isOver) kills++;
  }
  expect(kills).toBeGreaterThan(4);
  const marked = place
    .lines()
    .flatMap(({ identifier, deleted }) => (deleted === true ? [identifier] : []));
  expect(marked.toSorted()).toEqual(
    Array.from({ length: 250 }, (_, n) => `${OAI_BASE}/id/${ident(n + 1)}`),
  );
  expect(labels(place)).toEqual(repository.alive());
});

describe('a verifying harvest', () => {
  test.each([
    ['jsonl', 'out.jsonl'],
    ['xml', 'out.xml'],
  ] as const)('finds changes without a new datestamp: %s', async (form, name) => {
    const place = harvestPlace(name);
    const repository = aRepository(8);
    const madeMs = repository.nowMs - 5000;
    repository.nowMs += 3600_000;
    await place.run(repository.exchange, { form });
    repository.nowMs += 3600_000;
    repository.putBack(ident(3), 'tiše změněno', madeMs);
    repository.put(ident(5), 'změněno');
    expect(await place.run(repository.exchange, { form })).toMatchObject({
      pass: 'changes',
      written: 1,
    });
    const verified = await place.run(repository.exchange, { form, verify: true });
    expect(verified).toMatchObject({ pass: 'full', records: 8, written: 1, held: 8 });
    if (form === 'jsonl') expect(labels(place)).toEqual(repository.alive());
    if (form === 'xml') expect(readFileSync(place.path, 'utf8')).toContain('tiše změněno');
    expect(await place.run(repository.exchange, { form, verify: true })).toMatchObject({
      written: 0,
    });
  });

  test('resumes after an interruption, also of a full pass', async () => {
    const place = harvestPlace();
    const repository = aRepository(12);
    repository.nowMs += 3600_000;
    await place.run(repository.exchange);
    const lists = (): string[] =>
      repository.requests.splice(0).filter((query) => query.includes('ListRecords'));
    await place.run(cutAfter(repository, 2), { full: true }).catch(() => {});
    lists();
    await place.run(cutAfter(repository, 2), { verify: true }).catch(() => {});
    expect(lists()[0]).toContain('resumptionToken');
    await place.run(repository.exchange, { verify: true });
    expect(lists()[0]).toContain('resumptionToken');
    expect(labels(place)).toEqual(repository.alive());
  });
});
