import { describe, expect, test } from 'vitest';
import { addImport, addNumber, addPhoto, allEntries, entryById } from '../../../src/outbox/entries.ts';
import type { EntryState } from '../../../src/outbox/entry.ts';
import { attemptsOf, openAttempt } from '../../../src/outbox/journal.ts';
import { mergeServices } from '../../../src/outbox/merge-services.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { sealOf } from '../../../src/outbox/seal.ts';
import { ACCOUNT_ID, asSeenBy, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const PHOTOGRAPH = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 };

type Given = { readonly state: EntryState; readonly identCely?: string; readonly doubt?: readonly [number, number] };

function become(outbox: ServiceOutbox, id: number, { state, identCely, doubt: [from, until] = [null, null] as never }: Given) {
  outbox
    .sql('update entries set state = ?, ident_cely = coalesce(?, ident_cely), doubt_from_at = ?, doubt_until_at = ? where id = ?')
    .run(state, identCely ?? null, from, until, id);
}

/** One find, queued under two addresses that turn out to be one service. Each import was tried once. */
function underBoth(old: Given, kept: Given) {
  const outbox = tempOutbox();
  const other = asSeenBy(outbox, { address: 'https://old.example.org' });
  const { findId, entryId: there } = queueImport(outbox, 'K-1');
  const here = addImport(other, findId, {
    document: Buffer.from('<x/>'),
    documentSha512: Buffer.alloc(64),
    project: 'C-1',
    issues: [],
  });
  for (const [id, given] of [
    [here, old],
    [there, kept],
  ] as const) {
    openAttempt(outbox, id, { method: 'POST', path: `/${id}`, accountId: ACCOUNT_ID });
    become(outbox, id, given);
  }
  const merge = () => outbox.change(() => mergeServices(outbox, other.serviceId, outbox.serviceId));
  const tried = (id: number) => attemptsOf(outbox, id).map(({ path }) => path);
  return { outbox, other, findId, here, there, merge, tried };
}

describe('of two imports of one find', () => {
  test('the attempts of the one that is given up count for the one that stands', () => {
    const { outbox, here, there, merge, tried } = underBoth({ state: 'uncertain' }, { state: 'uncertain' });
    merge();
    expect([entryById(outbox, here)?.state, entryById(outbox, there)?.state].toSorted()).toEqual(['dropped', 'uncertain']);
    expect(entryById(outbox, there)?.doubt).toBeNull();
    expect([tried(here), tried(there)]).toEqual([[], [`/${here}`, `/${there}`]]);
  });

  test.each<[Given['doubt'], Given['doubt'], { fromMs: number; untilMs: number } | null]>([
    [[10, 20], undefined, { fromMs: 10, untilMs: 20 }],
    [undefined, [10, 20], { fromMs: 10, untilMs: 20 }],
    [[10, 20], [15, 30], { fromMs: 10, untilMs: 30 }],
    [[15, 30], [10, 20], { fromMs: 10, untilMs: 30 }],
    [undefined, undefined, null],
  ])('with the doubts %j and %j, all of that time is in doubt', (old, kept, doubt) => {
    const given = (of: Given['doubt']): Given => ({ state: 'uncertain', ...(of === undefined ? {} : { doubt: of }) });
    const { outbox, there, merge } = underBoth(given(old), given(kept));
    merge();
    expect(entryById(outbox, there)?.doubt).toEqual(doubt);
  });

  test.each<EntryState>(['draft', 'queued', 'refused'])('what is %s was not sent, and its attempts tell nothing', (state) => {
    const { outbox, here, there, merge, tried } = underBoth({ state, doubt: [10, 20] }, { state: 'uncertain' });
    merge();
    expect([entryById(outbox, here)?.state, entryById(outbox, there)?.doubt]).toEqual(['dropped', null]);
    expect([tried(here), tried(there)]).toEqual([[`/${here}`], [`/${there}`]]);
  });

  test('what may have been made beside a record that stands is in doubt no more', () => {
    const { outbox, here, there, merge, tried } = underBoth(
      { state: 'uncertain', doubt: [10, 20] },
      { state: 'accepted', identCely: 'C-1-N1' },
    );
    merge();
    expect([entryById(outbox, here)?.state, entryById(outbox, there)?.state]).toEqual(['dropped', 'accepted']);
    expect(entryById(outbox, there)?.doubt).toBeNull();
    expect(tried(here)).toEqual([`/${here}`]);
  });

  test('what is under way stands before what is in doubt', () => {
    const { outbox, here, there, merge } = underBoth({ state: 'sending' }, { state: 'uncertain' });
    merge();
    expect([entryById(outbox, here)?.state, entryById(outbox, there)?.state]).toEqual(['sending', 'dropped']);
  });
});

test('where both have a record, what follows goes under the seal of the find that it belongs to now', () => {
  const { outbox, other, findId, here, merge } = underBoth(
    { state: 'accepted', identCely: 'C-1-N1' },
    { state: 'accepted', identCely: 'C-1-N2' },
  );
  const target = { findId, identCely: 'C-1-N1' };
  const [photo, number] = [addPhoto(other, target, PHOTOGRAPH), addNumber(other, target, 'A 2')];
  const broken = addNumber(other, target, 'A 3');
  outbox.sql(`update entries set value = 'A 4' where id = ?`).run(broken);
  merge();
  const copy = entryById(outbox, here)?.findId;
  expect(copy).not.toBe(findId);
  for (const id of [photo, number]) {
    const entry = entryById(outbox, id);
    if (entry === undefined || entry.kind === 'import') throw new Error('it is gone');
    expect(entry).toMatchObject({ findId: copy, recordKey: `find:${copy}`, seal: sealOf(entry) });
  }
  // What the disk has changed meanwhile is not sealed anew.
  const changed = entryById(outbox, broken);
  if (changed === undefined || changed.kind === 'import') throw new Error('it is gone');
  expect(changed.seal).not.toEqual(sealOf(changed));
});

test('of what was pulled and looked at under the one that is gone nothing stays', () => {
  const { outbox, other, merge } = underBoth({ state: 'queued' }, { state: 'queued' });
  merge();
  const rows = (table: string) => outbox.sql(`select count(*) from ${table} where service_id = ?`).pluck().get(other.serviceId);
  for (const table of ['pulls', 'looks', 'pulled', 'gaps', 'entries', 'profile_services', 'accounts'])
    expect(rows(table)).toBe(0);
  expect(allEntries(outbox)).toHaveLength(2);
});
