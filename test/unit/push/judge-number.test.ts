import { describe, expect, test } from 'vitest';

import { findImportOfFind } from '../../../src/outbox/entry-queries.ts';
import { recordNewFind } from '../../../src/outbox/wishes.ts';
import { judgeNumber, listNumbersFromHere } from '../../../src/push/judge-change.ts';
import { CLOCK_MARGIN_MS } from '../../../src/push/judge-import.ts';
import { inWords } from '../../support/in-words.ts';
import { queueImport } from '../../support/temp-outbox.ts';
import { MINUTE, record, START, view, window } from './doubt-scene.ts';
import { lookScene } from './look-scene.ts';

const IDENT = 'C-1-N00001';
const SETTLED = START + 10 * MINUTE;

type Case = {
  readonly current?: string;
  readonly known?: readonly string[];
  readonly changedMs?: number;
  readonly nowMs?: number;
};

/** Verdict on `INV 1`, which was sent from START on, while the record has `current`. */
function judged({
  current = '',
  known = [],
  changedMs = START - MINUTE,
  nowMs = START + 60 * MINUTE,
}: Case) {
  const find = record(IDENT);
  const elements = current === '' ? find.elements : { ...find.elements, evidencni_cislo: current };
  const doubt = {
    identCely: IDENT,
    value: 'INV 1',
    knownNumbers: new Set(known),
    window: window(START),
  };
  return inWords(
    judgeNumber(
      doubt,
      { kind: 'shown', record: { ...find, elements }, datestampMs: changedMs },
      view([], { nowMs }),
    ),
  );
}

describe('a number that may have been sent', () => {
  test('has not arrived if the record has one that this outbox knows', () => {
    const absent = {
      kind: 'absent',
      basis: 'number-as-before',
      reason: `${IDENT} still has its previous number`,
      candidates: [],
    };
    expect(judged({ current: 'OLD', known: ['OLD', 'OPEN'] })).toEqual(absent);
    expect(judged({ current: 'OPEN', known: ['OLD', 'OPEN'], changedMs: START })).toEqual(absent);
    expect(judged({ current: '', known: [''], changedMs: START })).toEqual(absent);
  });

  test('is left to a person if another account set another one, or removed it', () => {
    expect(judged({ current: 'CUR 7', known: ['OLD'] })).toEqual({
      kind: 'undecided',
      basis: 'other-number',
      reason: `${IDENT} now has the number CUR 7; INV 1 was to be set`,
      candidates: ['CUR 7'],
    });
    expect(judged({ current: '', known: ['OLD'] })).toEqual({
      kind: 'undecided',
      basis: 'other-number',
      reason: `${IDENT} has no number now; INV 1 was to be set`,
      candidates: [''],
    });
  });

  test('of an unknown record has not arrived if the record has none, or was not changed since', () => {
    expect(judged({ changedMs: START }).basis).toBe('number-as-before');
    expect(judged({ current: 'OLD', changedMs: START - CLOCK_MARGIN_MS - 1 }).basis).toBe(
      'number-as-before',
    );
    expect(judged({ current: 'OLD', changedMs: START - CLOCK_MARGIN_MS }).basis).toBe(
      'other-number',
    );
  });

  test('may still arrive while the service may work on it, and may still be hidden until a later change shows', () => {
    expect(judged({ nowMs: SETTLED }).basis).toBe('maybe-under-way');
    expect(judged({ nowMs: SETTLED + 1, changedMs: SETTLED - 1, known: [''] }).basis).toBe(
      'index-may-lag',
    );
    expect(judged({ nowMs: SETTLED + 1, changedMs: SETTLED, known: [''] }).basis).toBe(
      'number-as-before',
    );
  });
});

describe('the numbers that a record can have without a foreign change', () => {
  const story = () => {
    const scene = lookScene();
    const known = (id = scene.queueNumber('NEW', IDENT)) => {
      const entry = scene.entry(id);
      if (entry.kind !== 'number') throw new Error('it is no number');
      return [...listNumbersFromHere(scene.outbox, entry)];
    };
    /** An accepted import that gave it this number. */
    const createRecord = async (number: string) => {
      const inner = `<samostatny_nalez><ident_cely>:tba</ident_cely>${number}</samostatny_nalez>`;
      const document = Buffer.from(`<svc xmlns="urn:svc/2.2/">${inner}</svc>`);
      const findId = recordNewFind(
        scene.outbox,
        {
          localId: 'K-1',
          elements: { projekt: { id: 'C-1', text: '' } },
          rows: [],
        },
        { document, issues: [] },
      );
      await scene.end(findImportOfFind(scene.outbox, findId)?.id ?? 0, 'accepted', IDENT);
    };
    return { ...scene, known, made: createRecord };
  };

  test('are that of its import, or none', async () => {
    using one = story();
    await one.end(one.queuePhoto('a.jpg', 1, IDENT), 'accepted', IDENT);
    await one.made('<evidencni_cislo>IMP</evidencni_cislo>');
    expect(one.known()).toEqual(['IMP']);
    using none = story();
    await none.made('');
    expect(none.known()).toEqual(['']);
    using unreadable = story();
    await unreadable.end(queueImport(unreadable.outbox, 'K-1').entryId, 'accepted', IDENT);
    expect(unreadable.known()).toEqual(['']);
  });

  test('are the last accepted one instead', async () => {
    using scene = story();
    await scene.made('<evidencni_cislo>IMP</evidencni_cislo>');
    for (const value of ['ONE', 'TWO'])
      await scene.end(scene.queueNumber(value, IDENT), 'accepted', IDENT);
    await scene.end(scene.queueNumber('NO', IDENT), 'refused');
    expect(scene.known()).toEqual(['TWO']);
  });

  test('include any that may have arrived, except the judged one', async () => {
    using scene = story();
    await scene.made('');
    await scene.end(scene.queuePhoto('a.jpg', 1, IDENT), 'uncertain');
    await scene.end(scene.queueNumber('OPEN', IDENT), 'uncertain');
    const entryId = await scene.end(scene.queueNumber('OWN', IDENT), 'uncertain');
    scene.queueNumber('WAITS', IDENT);
    expect(scene.known(entryId)).toEqual(['', 'OPEN']);
  });
});
