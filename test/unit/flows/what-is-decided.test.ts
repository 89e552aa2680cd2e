import { describe, expect, test } from 'vitest';
import { msg } from '../../../src/base/message.ts';
import { type Decision, openDecision, resolveDoubts, undoDecision } from '../../../src/flows/reconcile/resolve-doubt.ts';
import { claim } from '../../../src/outbox/claims.ts';
import { addImport, addNumber, addPhoto, allEntries, entryById } from '../../../src/outbox/entries.ts';
import type { EntryState } from '../../../src/outbox/entry.ts';
import { evidenceOf, recordEvidence } from '../../../src/outbox/evidence.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { ACCOUNT_ID, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const OTHER = 'C-202400101-N00002';
const CREATED: Decision = { kind: 'created', identCely: IDENT };
const DROP: Decision = { kind: 'drop' };
const RESEND: Decision = { kind: 'resend' };

type Given = readonly [kind: 'import' | 'photo' | 'number', state: EntryState, identCely?: string];

/** The find K-1 with these entries, in this order. */
function findWith(...given: readonly Given[]) {
  const outbox = tempOutbox();
  const { findId, entryId } = queueImport(outbox, 'K-1');
  outbox.sql('delete from entries where id = ?').run(entryId);
  const ids = given.map(([kind], nth) => add(outbox, findId, kind, nth));
  for (const [nth, [, state, identCely = null]] of given.entries())
    outbox
      .sql('update entries set state = ?, ident_cely = ?, not_before_at = 7, reason = ? where id = ?')
      .run(state, identCely, '"before"', ids[nth] ?? 0);
  const states = () => ids.map((id) => entryById(outbox, id)?.state);
  return { outbox, findId, ids, states };
}

function add(outbox: ServiceOutbox, findId: number, kind: Given[0], nth: number): number {
  const target = { findId, identCely: null };
  if (kind === 'number') return addNumber(outbox, target, `A ${nth}`);
  if (kind === 'photo')
    return addPhoto(outbox, target, {
      ...{ name: `${nth}.jpg`, mediaType: 'image/jpeg', sha512: Buffer.alloc(64, nth), sizeBytes: 3 },
    });
  const id = addImport(outbox, findId, {
    ...{ document: Buffer.from(`<x>${nth}</x>`), documentSha512: Buffer.alloc(64, nth), project: null, issues: [] },
  });
  // A find has one import that stands; an earlier one was given up.
  outbox.sql(`update entries set state = 'dropped' where id = ?`).run(id);
  return id;
}

describe('a decision is about', () => {
  test.each<[string, readonly Given[], Decision, readonly EntryState[]]>([
    [
      'the find, and not about what waits for it',
      [
        ['import', 'uncertain'],
        ['photo', 'uncertain'],
        ['number', 'queued'],
      ],
      CREATED,
      ['accepted', 'uncertain', 'queued'],
    ],
    [
      'what has a record, where some of it has none',
      [
        ['photo', 'uncertain'],
        ['number', 'uncertain', IDENT],
      ],
      CREATED,
      ['uncertain', 'accepted'],
    ],
    ['what has no record, where nothing has', [['photo', 'uncertain']], RESEND, ['queued']],
    [
      'what was refused, with a record or without',
      [
        ['import', 'refused'],
        ['photo', 'refused'],
        ['number', 'refused', IDENT],
      ],
      RESEND,
      ['queued', 'queued', 'queued'],
    ],
    [
      'all that was refused, where it is given up',
      [
        ['import', 'refused'],
        ['photo', 'refused'],
      ],
      DROP,
      ['dropped', 'dropped'],
    ],
    [
      'the find alone, where it is queued and what follows waits for it',
      [
        ['photo', 'queued'],
        ['import', 'queued'],
        ['number', 'queued'],
      ],
      DROP,
      ['queued', 'dropped', 'queued'],
    ],
    [
      'all that is queued, where the find is there',
      [
        ['import', 'accepted', IDENT],
        ['photo', 'queued', IDENT],
        ['number', 'queued', IDENT],
      ],
      DROP,
      ['accepted', 'dropped', 'dropped'],
    ],
    ['the draft of a find', [['import', 'draft']], DROP, ['dropped']],
    [
      'what is in doubt before what was refused',
      [
        ['import', 'uncertain'],
        ['photo', 'refused'],
      ],
      DROP,
      ['dropped', 'refused'],
    ],
    [
      'the last import that was given up, and no photograph',
      [
        ['import', 'dropped'],
        ['import', 'dropped'],
        ['photo', 'dropped'],
      ],
      RESEND,
      ['dropped', 'queued', 'dropped'],
    ],
  ])('%s', (_, given, decision, expected) => {
    const { outbox, states } = findWith(...given);
    resolveDoubts(outbox, 'K-1', decision);
    expect(states()).toEqual(expected);
  });

  test('nothing that was given up, where another import stands', () => {
    const { outbox, states } = findWith(['import', 'dropped'], ['import', 'accepted', IDENT]);
    expect(() => resolveDoubts(outbox, 'K-1', RESEND)).toThrow('Nothing here');
    expect(states()).toEqual(['dropped', 'accepted']);
    const later = findWith(['import', 'accepted', IDENT], ['import', 'dropped']);
    expect(() => resolveDoubts(later.outbox, 'K-1', RESEND)).toThrow('Nothing here');
  });

  test('one entry, where it is named', () => {
    const { outbox, ids, states } = findWith(['photo', 'refused', IDENT], ['photo', 'refused', IDENT]);
    expect(resolveDoubts(outbox, 'K-1', DROP, { entryId: ids[1] }).settled.map(({ id }) => id)).toEqual([ids[1]]);
    expect(states()).toEqual(['refused', 'dropped']);
    expect(entryById(outbox, ids[1] ?? 0)).toMatchObject({ reason: msg`given up by a person` });
    expect(evidenceOf(outbox, ids[1] ?? 0)).toMatchObject([{ candidates: [], serverAt: null }]);
  });
});

describe('what waits for a find', () => {
  test('that is sent again is sent as well, and what has a record of its own is not', () => {
    const { outbox, ids, states } = findWith(
      ['import', 'refused'],
      ['photo', 'uncertain'],
      ['number', 'uncertain', OTHER],
      ['number', 'refused'],
      ['photo', 'dropped'],
    );
    resolveDoubts(outbox, 'K-1', RESEND, { entryId: ids[0] });
    expect(states()).toEqual(['queued', 'queued', 'uncertain', 'refused', 'dropped']);
    expect(entryById(outbox, ids[1] ?? 0)).toMatchObject({ notBeforeAt: 0, reason: null });
  });

  test('is not freed by a photograph that is sent again', () => {
    const { outbox, ids, states } = findWith(['photo', 'uncertain', IDENT], ['photo', 'uncertain']);
    resolveDoubts(outbox, 'K-1', RESEND, { entryId: ids[0] });
    expect(states()).toEqual(['queued', 'uncertain']);
  });

  test('is counted where the find is given up, and nowhere else', () => {
    const { outbox, ids } = findWith(['import', 'refused'], ['photo', 'queued'], ['number', 'refused'], ['photo', 'queued']);
    expect(resolveDoubts(outbox, 'K-1', DROP, { entryId: ids[2] }).waiting).toBeUndefined();
    expect(resolveDoubts(outbox, 'K-1', DROP, { entryId: ids[0] }).waiting).toBe(2);
    const record = tempOutbox();
    const target = { findId: null, identCely: IDENT };
    record.sql(`update entries set state = 'refused' where id = ?`).run(addNumber(record, target, 'A 1'));
    expect(resolveDoubts(record, IDENT, DROP).waiting).toBeUndefined();
  });
});

describe('a decision that is taken back', () => {
  test('holds what was queued since for the record that the find was taken for', () => {
    const { outbox, findId } = findWith(['import', 'uncertain']);
    resolveDoubts(outbox, 'K-1', CREATED);
    const since = addNumber(outbox, { findId, identCely: IDENT }, 'A 9');
    undoDecision(outbox, 'K-1');
    expect(entryById(outbox, since)).toMatchObject({ state: 'queued', identCely: null });
  });

  test('leaves what belongs to a record that it did not give', () => {
    const { outbox, findId, ids } = findWith(['import', 'accepted', IDENT], ['photo', 'refused', IDENT]);
    resolveDoubts(outbox, 'K-1', DROP, { entryId: ids[1] });
    const since = addNumber(outbox, { findId, identCely: IDENT }, 'A 9');
    const { decision, entries } = undoDecision(outbox, 'K-1');
    expect([decision, entries.map(({ id }) => id)]).toEqual(['drop', [ids[1]]]);
    expect(entryById(outbox, since)).toMatchObject({ state: 'queued', identCely: IDENT });
    expect(entryById(outbox, ids[0] ?? 0)).toMatchObject({ state: 'accepted', identCely: IDENT });
  });

  test('may be one about a photograph beside the import of its find', () => {
    const { outbox, ids, states } = findWith(['import', 'queued'], ['photo', 'refused'], ['photo', 'refused']);
    resolveDoubts(outbox, 'K-1', DROP);
    expect(states()).toEqual(['queued', 'dropped', 'dropped']);
    undoDecision(outbox, 'K-1');
    expect(states()).toEqual(['queued', 'refused', 'refused']);
    expect(evidenceOf(outbox, ids[1] ?? 0).map(({ basis }) => basis)).toEqual(['drop', 'undo']);
  });

  test('is not one of which a part was changed since', () => {
    const { outbox, ids, states } = findWith(['photo', 'refused', IDENT], ['photo', 'refused', IDENT]);
    resolveDoubts(outbox, 'K-1', DROP);
    outbox.sql(`update entries set state = 'queued' where id = ?`).run(ids[1]);
    expect(() => undoDecision(outbox, 'K-1')).toThrow('was changed since the decision');
    expect(states()).toEqual(['dropped', 'queued']);
  });

  test('is not one on whose account something was sent, which is told as it is', () => {
    const hintOf = (outbox: ServiceOutbox, find: string): string => {
      try {
        undoDecision(outbox, find);
      } catch (thrown) {
        return String((thrown as { hint?: unknown }).hint);
      }
      return 'taken back';
    };
    const request = () => ({ method: 'POST', path: '/', accountId: ACCOUNT_ID });
    const { outbox, ids } = findWith(['import', 'accepted', IDENT], ['photo', 'refused', IDENT]);
    resolveDoubts(outbox, 'K-1', RESEND);
    claim(outbox, ids[1] ?? 0, request);
    expect(hintOf(outbox, 'K-1')).toBe('`pas show K-1` says what became of it.');
    const record = findWith(['photo', 'uncertain', IDENT], ['photo', 'queued', IDENT]);
    resolveDoubts(record.outbox, 'K-1', CREATED, { entryId: record.ids[0] });
    claim(record.outbox, record.ids[1] ?? 0, request);
    expect(hintOf(record.outbox, 'K-1')).toBe('`pas show K-1` says what became of it.');
  });

  test('is beside what a killed push was sending', () => {
    const { outbox, ids, states } = findWith(['photo', 'refused', IDENT], ['photo', 'sending', IDENT]);
    resolveDoubts(outbox, 'K-1', DROP, { entryId: ids[0] });
    outbox.sql(`update entries set state = 'sending' where id = ?`).run(ids[1]);
    undoDecision(outbox, 'K-1');
    expect(states()).toEqual(['refused', 'uncertain']);
  });
});

test('what is open is told of the first entry that something can be decided about', () => {
  const { outbox, ids } = findWith(['photo', 'refused', IDENT], ['photo', 'uncertain', IDENT]);
  recordEvidence(outbox, ids[1] ?? 0, {
    ...{ serverAt: null, verdict: 'undecided', basis: null, reason: msg`x`, candidates: ['a.jpg'] },
  });
  expect(openDecision(outbox, 'K-1', undefined)).toMatchObject({ entry: { id: ids[1] }, kinds: ['created', 'resend', 'drop'] });
  outbox.sql(`update entries set state = 'queued' where id = ?`).run(ids[1]);
  expect(openDecision(outbox, 'K-1', undefined)).toMatchObject({ entry: { id: ids[0] }, kinds: ['resend', 'drop'] });
  expect(openDecision(outbox, 'K-1', ids[1])).toMatchObject({ entry: { id: ids[1] }, kinds: ['drop'], candidates: [IDENT] });
  expect(allEntries(outbox)).toHaveLength(2);
});
