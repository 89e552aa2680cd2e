import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cutAfter, labels } from './harvest-output.ts';
import { harvestPlace } from './record-harvest.ts';
import { aRepository, ident } from './term-repository.ts';

describe('a verifying harvest', () => {
  test.each([
    ['jsonl', 'out.jsonl'],
    ['xml', 'out.xml'],
  ] as const)('finds changes without a new datestamp, and counts them: %s', async (form, name) => {
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
    expect(verified).toMatchObject({ pass: 'full', records: 8, written: 1, mended: 1, held: 8 });
    if (form === 'jsonl') expect(labels(place)).toEqual(repository.alive());
    if (form === 'xml') expect(readFileSync(place.path, 'utf8')).toContain('tiše změněno');
    expect(await place.run(repository.exchange, { form, verify: true })).toMatchObject({
      written: 0,
      mended: 0,
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
