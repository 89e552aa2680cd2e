import { expect, test } from 'vitest';
import { entryById, move } from '../../../src/outbox/entries.ts';
import { ENTRY_STATES, type EntryState } from '../../../src/outbox/entry.ts';
import { queueImport, tempOutbox } from '../../support/temp-outbox.ts';

/** Every move that an entry may make, and what makes it. */
const MOVES: readonly (readonly [from: EntryState, to: EntryState, because: string])[] = [
  ['draft', 'queued', 'it was mended'],
  ['draft', 'draft', 'it was changed and is still not right'],
  ['draft', 'uncertain', 'an older copy of the outbox was put back'],
  ['draft', 'dropped', 'a person gave it up'],
  ['queued', 'sending', 'a push claims it'],
  ['queued', 'draft', 'it was changed and is no longer right'],
  ['queued', 'queued', 'it was changed'],
  ['queued', 'refused', 'its photograph is no longer what was queued'],
  ['queued', 'uncertain', 'an older copy of the outbox was put back'],
  ['queued', 'dropped', 'a person gave it up, or a later number is sent'],
  ['sending', 'accepted', 'the service took it'],
  ['sending', 'refused', 'the service refused it'],
  ['sending', 'queued', 'the service did nothing'],
  ['sending', 'uncertain', 'nobody knows'],
  ['refused', 'queued', 'it was mended'],
  ['refused', 'draft', 'it was changed and is not right'],
  ['refused', 'uncertain', 'an older copy of the outbox was put back'],
  ['refused', 'dropped', 'a person gave it up'],
  ['uncertain', 'accepted', 'evidence, or a person'],
  ['uncertain', 'queued', 'evidence, or a person'],
  ['uncertain', 'dropped', 'a person gave it up'],
  ['accepted', 'uncertain', 'the service gave its record to another find'],
  ['dropped', 'queued', 'a person takes it back'],
  ['dropped', 'draft', 'a person takes it back'],
  ['dropped', 'refused', 'a person takes it back'],
  ['dropped', 'uncertain', 'a person takes it back, or an older copy of the outbox was put back'],
];

test.each(ENTRY_STATES)('what is %s goes where something leads it, and nowhere else', (from) => {
  using outbox = tempOutbox();
  const { entryId } = queueImport(outbox, 'K-1');
  const reached = ENTRY_STATES.filter((to) => {
    outbox.sql('update entries set state = ?, ident_cely = ? where id = ?').run(from, 'C-1-N1', entryId);
    const entry = entryById(outbox, entryId);
    if (entry === undefined) throw new Error('the entry is gone');
    try {
      move(outbox, entry, to);
    } catch (thrown) {
      expect(String(thrown)).toContain(`an entry may not go from ${from} to ${to}`);
      expect(entryById(outbox, entryId)).toEqual(entry);
      return false;
    }
    expect(entryById(outbox, entryId)?.state).toBe(to);
    return true;
  });
  expect(reached.toSorted()).toEqual(MOVES.flatMap(([state, to]) => (state === from ? [to] : [])).toSorted());
});
