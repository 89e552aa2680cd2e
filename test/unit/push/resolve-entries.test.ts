import { describe, expect, test } from 'vitest';
import type { UsageError } from '../../../src/base/errors.ts';
import { msg } from '../../../src/base/message.ts';
import { listEvidence } from '../../../src/outbox/attempts.ts';
import { undoCommand } from '../../../src/outbox/changes/undo-command.ts';
import type { Entry, EntryState, ImportEntry } from '../../../src/outbox/entry.ts';
import {
  findEntryById,
  findImportOfFind,
  storeLookup,
  storeQuestion,
} from '../../../src/outbox/entry-queries.ts';
import type { HeldBasis } from '../../../src/outbox/facts.ts';
import { makeCandidates } from '../../../src/outbox/gate.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { recordNewFind } from '../../../src/outbox/wishes.ts';
import {
  fetchRecordComparison,
  findRecordProblem,
  getOpenDecision,
  type PersonDecision,
  resolveEntries,
} from '../../../src/push/resolve-entries.ts';
import {
  acceptEntry,
  attemptEntry,
  claimEntry,
  getEntry,
  listAllEntries,
  NO_PLACE,
  nthPhotograph,
  queueNumber,
  queuePhoto,
  tempOutbox,
} from '../../support/temp-outbox.ts';
import { getInnerText, PROJECT } from './find-service.ts';
import { lookScene } from './look-scene.ts';

const IDENT = `${PROJECT}-N00001`;
const OTHER = `${PROJECT}-N00002`;
const STATUS = '`pas status` lists what needs your attention, with the command for it.';
const CREATED: PersonDecision = { kind: 'created', identCely: IDENT };
const DROP: PersonDecision = { kind: 'drop' };
const RESEND: PersonDecision = { kind: 'resend' };

const resolve = (outbox: Outbox, decision: PersonDecision, entryId?: number, find = 'K-1') => {
  outbox.command.id = undefined;
  outbox.command.words = 'resolve';
  return resolveEntries(outbox, find, decision, entryId, true);
};

function undo(outbox: Outbox) {
  outbox.command.id = undefined;
  return undoCommand(outbox);
}

function saidBy(act: () => unknown): readonly [message: string, hint: string] {
  try {
    act();
  } catch (thrown) {
    const { message, hint } = thrown as UsageError;
    return [message, String(hint)];
  }
  throw new Error('nothing was said');
}

type Given = readonly [kind: Entry['kind'], state: EntryState | 'held', identCely?: string];

/**
 * The find K-1 with these entries, brought into these states in this order; without an import among
 * them it was accepted.
 */
function findWith(...entries: readonly Given[]) {
  return withEntries(tempOutbox(), 'K-1', entries);
}

function withEntries(outbox: Outbox, localId: string, entries: readonly Given[]) {
  const isGiven = entries.some(([kind]) => kind === 'import');
  const findId = addFind(outbox, localId, !entries.some(([, state]) => state === 'draft'));
  const importId = findImportOfFind(outbox, findId)?.id ?? 0;
  if (!isGiven) acceptEntry(outbox, importId, IDENT);
  const ids = entries.map(([kind, state, identCely], nth) => {
    const id = kind === 'import' ? importId : addChange(outbox, findId, kind, nth);
    bring(outbox, id, state, identCely ?? IDENT);
    return id;
  });
  return { outbox, findId, ids, states: () => ids.map((id) => findEntryById(outbox, id)?.state) };
}

function addFind(
  outbox: Outbox,
  localId: string,
  isComplete = true,
  project: string | null = PROJECT,
): string {
  const elements = project === null ? {} : { projekt: { id: project, text: '' } };
  const document = isComplete ? Buffer.from('<x/>') : null;
  return recordNewFind(outbox, { localId, elements, ...NO_PLACE }, { document, issues: [] });
}

function addChange(outbox: Outbox, subject: string, kind: Given[0], nth: number): number {
  return kind === 'number'
    ? queueNumber(outbox, subject, `A ${nth}`)
    : queuePhoto(outbox, subject, nthPhotograph(nth));
}

function bring(outbox: Outbox, id: number, state: Given[1], identCely: string): void {
  switch (state) {
    case 'draft':
    case 'queued':
      return;
    case 'sending':
      claimEntry(outbox, id);
      return;
    case 'accepted':
      acceptEntry(outbox, id, identCely);
      return;
    case 'uncertain':
      attemptEntry(outbox, id, { state, reason: 'no answer' });
      return;
    case 'refused':
      attemptEntry(outbox, id, { state, reason: 'before', issues: [] });
      return;
    case 'dropped':
      resolveEntries(outbox, findEntryById(outbox, id)?.localId ?? '', DROP, id, true);
      return;
    case 'held':
      hold(outbox, id, 'equal-record', [identCely]);
  }
}

function hold(outbox: Outbox, id: number, basis: HeldBasis, candidates: readonly string[]): void {
  storeQuestion(outbox, id, {
    basis,
    candidates: makeCandidates(candidates),
    question: msg`is it this one?`,
  });
}

describe('a record given for an entry', () => {
  const found = (project: string | null) => {
    const outbox = tempOutbox();
    addFind(outbox, 'K-1', true, project);
    const [entry] = listAllEntries(outbox);
    if (entry?.kind !== 'import') throw new Error('no import');
    return { outbox, entry };
  };
  const shown = (form: string) => `The service shows it with the record, in the form ${form}.`;

  test.each<[string | null, string, readonly [string, string] | undefined]>([
    [PROJECT, IDENT, undefined],
    [PROJECT, `${PROJECT}-N1234567`, undefined],
    [null, 'C-7-N00001', undefined],
    // A temporary project gets another name later.
    ['X-C-123456789A', 'C-7-N00001', undefined],
    [
      PROJECT,
      'C-7-N00001',
      [
        'C-7-N00001 is a find of another project: this one was sent to C-202400101.',
        shown('C-202400101-N00042'),
      ],
    ],
    [
      'C-X-7',
      'C-7-N00001',
      [
        'C-7-N00001 is a find of another project: this one was sent to C-X-7.',
        shown('C-X-7-N00042'),
      ],
    ],
    ...[`${PROJECT}-N0001`, `${IDENT}b`, '-N00001', `a\n${IDENT}`].map(
      (ident): [string, string, readonly [string, string]] => [
        PROJECT,
        ident,
        [
          `${ident.replace('\n', '\\n')} is not an identifier of a find.`,
          shown('C-202400101-N00042'),
        ],
      ],
    ),
    ['C-7', 'K-1', ['K-1 is not an identifier of a find.', shown('C-7-N00042')]],
  ])('of a find of %j: %j', (project, ident, said) => {
    const { outbox, entry } = found(project);
    const problem = findRecordProblem(outbox, entry, ident);
    expect(problem === undefined ? undefined : [problem.message, String(problem.hint)]).toEqual(
      said,
    );
  });

  test('must be that of the number or the photograph', () => {
    const { outbox } = found(PROJECT);
    queuePhoto(outbox, makeRecordSubject(IDENT), nthPhotograph(1));
    const photo = listAllEntries(outbox)[1];
    if (photo === undefined) throw new Error('no photograph');
    expect(findRecordProblem(outbox, photo, IDENT)).toBeUndefined();
    const problem = findRecordProblem(outbox, photo, OTHER);
    expect(problem?.message).toBe(`The photo was sent to ${IDENT}, not to ${OTHER}.`);
    expect(String(problem?.hint)).toBe(`If ${IDENT} has it, specify that identifier.`);
  });

  test.each(['uncertain', 'held'] as const)(
    'cannot be that of another find, for one that is %s',
    (state) => {
      const { outbox } = findWith(['import', 'accepted', IDENT]);
      const { ids } = withEntries(outbox, 'K-2', [['import', state]]);
      const [message, hint] = saidBy(() => resolve(outbox, CREATED, undefined, 'K-2'));
      expect(message).toMatch(/already the record of K-1/);
      expect(hint).toMatch(/pas show K-1.*pas resolve K-2 --drop$/);
      expect(findEntryById(outbox, ids[0] ?? 0)?.identCely).toBeNull();
      resolve(outbox, { kind: 'created', identCely: OTHER }, undefined, 'K-2');
      expect(findEntryById(outbox, ids[0] ?? 0)).toMatchObject({
        state: 'accepted',
        identCely: OTHER,
        held: null,
      });
    },
  );
});

describe('a lookup of a record', () => {
  async function looked(
    more: { note?: string; user?: string; hidden?: 'withheld' | 'deleted'; isThere?: boolean } = {},
  ) {
    using scene = lookScene();
    const { note = 'fibula', user, hidden, isThere = true } = more;
    const { entryId } = await scene.find('K-1', 'uncertain', false, 'fibula');
    if (isThere) scene.service.make(getInnerText(note), user);
    if (hidden !== undefined)
      scene.service.change(IDENT, (record) => {
        record.hidden = hidden;
      });
    const source = { client: scene.service.client, format: 'oai_svc' };
    const seen = await fetchRecordComparison(
      scene.outbox,
      source,
      scene.entry(entryId) as ImportEntry,
      IDENT,
    );
    return seen === undefined ? undefined : { ...seen, doubts: seen.doubts.map(String) };
  }

  test('reports only that the service does not show it', async () => {
    expect(await looked({ hidden: 'withheld' })).toEqual({
      compared: [],
      doubts: [`The service has ${IDENT}, but does not show it to this account.`],
    });
    expect(await looked({ hidden: 'deleted' })).toBeUndefined();
    expect(await looked({ isThere: false })).toBeUndefined();
  });
});

describe('the possible decisions', () => {
  test.each<[Given[1], readonly string[]]>([
    ['uncertain', ['created', 'resend', 'drop']],
    ['held', ['created', 'resend', 'drop']],
    ['refused', ['resend', 'drop']],
    ['queued', ['drop']],
    ['draft', ['drop']],
    ['dropped', ['resend']],
  ])('about a find that is %s', (state, kinds) => {
    const { outbox, ids } = findWith(['import', state]);
    expect(getOpenDecision(outbox, 'K-1', undefined)).toMatchObject({
      entry: { id: ids[0] },
      kinds,
    });
  });

  test('are none for an accepted entry', () => {
    const { outbox, ids } = findWith(['import', 'accepted', IDENT]);
    expect(saidBy(() => getOpenDecision(outbox, 'K-1', undefined))).toEqual([
      'Nothing of K-1 waits for a decision.',
      STATUS,
    ]);
    const only = ` Only the entry ${ids[0]} was requested.`;
    expect(saidBy(() => getOpenDecision(outbox, 'K-1', ids[0]))[0]).toBe(
      `Nothing of K-1 waits for a decision.${only}`,
    );
    const nothing = 'Nothing of K-1 waits for a decision.';
    for (const decision of [{ kind: 'created', identCely: OTHER }, RESEND, DROP] as const) {
      expect(saidBy(() => resolve(outbox, decision))).toEqual([nothing, STATUS]);
      expect(saidBy(() => resolve(outbox, decision, ids[0]))[0]).toBe(`${nothing}${only}`);
    }
  });

  test('rest on the records of the last lookup or the question, unless another find has them', () => {
    const { outbox } = findWith(['import', 'accepted', OTHER]);
    const { ids } = withEntries(outbox, 'K-2', [['import', 'uncertain']]);
    const look = { at: 1, serverAt: null, basis: 'several-same', reason: msg`two` };
    storeLookup(outbox, ids[0] ?? 0, { ...look, candidates: [`${PROJECT}-N00009`] });
    storeLookup(outbox, ids[0] ?? 0, { ...look, candidates: [OTHER, IDENT] });
    expect(getOpenDecision(outbox, 'K-2', undefined).candidates).toEqual([IDENT]);
    const held = withEntries(outbox, 'K-3', [['import', 'queued']]);
    hold(outbox, held.ids[0] ?? 0, 'equal-record', [OTHER, IDENT]);
    expect(getOpenDecision(outbox, 'K-3', undefined).candidates).toEqual([IDENT]);
  });

  test('rest on the record of a photograph', () => {
    const { outbox, ids } = findWith(['photo', 'refused', IDENT], ['photo', 'uncertain', IDENT]);
    storeLookup(outbox, ids[1] ?? 0, {
      at: 1,
      serverAt: null,
      basis: 'several-files',
      reason: msg`x`,
      candidates: ['a.jpg'],
    });
    const open = getOpenDecision(outbox, 'K-1', undefined);
    expect(open).toMatchObject({
      entry: { id: ids[1] },
      kinds: ['created', 'resend', 'drop'],
      candidates: [IDENT],
    });
    resolve(outbox, CREATED, ids[1]);
    expect(getOpenDecision(outbox, 'K-1', undefined)).toMatchObject({
      entry: { id: ids[0] },
      kinds: ['resend', 'drop'],
    });
  });
});

describe('a decision concerns', () => {
  test.each<[string, readonly Given[], PersonDecision, readonly EntryState[]]>([
    [
      'what is held before what was refused',
      [
        ['photo', 'held', IDENT],
        ['photo', 'refused', IDENT],
      ],
      DROP,
      ['dropped', 'refused'],
    ],
    [
      'all that was refused, where it is dropped',
      [
        ['photo', 'refused', IDENT],
        ['number', 'refused', IDENT],
      ],
      DROP,
      ['dropped', 'dropped'],
    ],
    [
      'the find alone, where it is queued and what follows waits for it',
      [
        ['import', 'queued'],
        ['photo', 'queued'],
        ['number', 'queued'],
      ],
      DROP,
      ['dropped', 'queued', 'queued'],
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
  ])('%s', (_, entries, decision, expected) => {
    const { outbox, states } = findWith(...entries);
    resolve(outbox, decision);
    expect(states()).toEqual(expected);
  });

  test('one entry, where it is named', () => {
    const { outbox, ids, states } = findWith(
      ['photo', 'refused', IDENT],
      ['photo', 'refused', IDENT],
    );
    expect(resolve(outbox, DROP, ids[1]).map(({ id }) => id)).toEqual([ids[1]]);
    expect(states()).toEqual(['refused', 'dropped']);
    expect(findEntryById(outbox, ids[1] ?? 0)).toMatchObject({ reason: msg`dropped by a person` });
  });

  test('what a killed push left under way', () => {
    const { outbox, ids } = findWith(['import', 'sending']);
    resolve(outbox, CREATED);
    expect(findEntryById(outbox, ids[0] ?? 0)).toMatchObject({
      state: 'accepted',
      identCely: IDENT,
    });
  });
});

describe('a decision', () => {
  test('is kept in words, and leaves what waits for a dropped find queued', () => {
    const { outbox, ids, states } = findWith(['import', 'uncertain'], ['photo', 'queued']);
    const dropped = resolve(outbox, DROP);
    expect([dropped.map(({ id }) => id), states()]).toEqual([[ids[0]], ['dropped', 'queued']]);
    resolve(outbox, RESEND);
    // It may have been sent before it was dropped.
    expect(states()).toEqual(['uncertain', 'queued']);
    resolve(outbox, CREATED);
    const entry = getEntry(outbox, ids[0] ?? 0);
    const keptNames = listEvidence(outbox, entry).map(({ verdict, basis, reason }) => [
      verdict,
      basis,
      String(reason),
    ]);
    expect(keptNames).toEqual([
      ['person', 'abandon', 'dropped by a person'],
      ['person', 'resend', 'a person decided: send'],
      ['person', 'created', `a person decided: created as ${IDENT}`],
    ]);
    expect(String(entry.reason)).toBe(`a person decided: created as ${IDENT}`);
    expect(listAllEntries(outbox)[1]?.identCely).toBe(IDENT);
  });

  test('during a push omits entries under way, and applies to the rest', () => {
    const { outbox, states } = findWith(['photo', 'sending', IDENT], ['photo', 'refused', IDENT]);
    resolveEntries(outbox, 'K-1', DROP, undefined, false);
    expect(states()).toEqual(['sending', 'dropped']);
    expect(() => resolveEntries(outbox, 'K-1', CREATED, undefined, false)).toThrow(
      'Nothing of K-1',
    );
  });

  test.each<[string, PersonDecision, readonly Given[]]>([
    [
      'in the service',
      CREATED,
      [
        ['import', 'accepted', IDENT],
        ['photo', 'uncertain', IDENT],
      ],
    ],
    [
      'to be sent again',
      RESEND,
      [
        ['import', 'accepted', IDENT],
        ['photo', 'refused', IDENT],
      ],
    ],
    [
      'to be dropped',
      DROP,
      [
        ['import', 'accepted', IDENT],
        ['photo', 'queued', IDENT],
      ],
    ],
  ])(
    'that the find is %s, where a push has settled it while a person was asked, is not one about its photograph',
    (_, decision, given) => {
      const { outbox, states } = findWith(...given);
      const before = states();
      const [asked] = listAllEntries(outbox);
      expect(() => resolveEntries(outbox, 'K-1', decision, undefined, false, asked)).toThrow(
        'changed while you were asked',
      );
      expect(states()).toEqual(before);
      resolveEntries(outbox, 'K-1', decision, undefined, false, listAllEntries(outbox)[1]);
      expect(states()).not.toEqual(before);
    },
  );
});

describe('an undone decision', () => {
  test.each<[string, readonly Given[], PersonDecision]>([
    [
      'a record for what was uncertain',
      [
        ['import', 'uncertain'],
        ['photo', 'queued'],
      ],
      CREATED,
    ],
    ['sending again what was uncertain', [['import', 'uncertain']], RESEND],
    ['dropping what was uncertain', [['import', 'uncertain']], DROP],
    ['sending again what was refused', [['photo', 'refused', IDENT]], RESEND],
    ['dropping what was refused', [['photo', 'refused', IDENT]], DROP],
    ['taking back what was dropped', [['import', 'dropped']], RESEND],
    ['dropping what was queued', [['import', 'queued']], DROP],
    ['dropping what was held', [['import', 'held', IDENT]], DROP],
    ['taking what was held for sent', [['import', 'held', IDENT]], CREATED],
  ])('restores exactly the previous state: %s', (_name, entries, decision) => {
    const { outbox } = findWith(...entries);
    const facts = () =>
      listAllEntries(outbox).map(({ state, identCely, unknownAttempts, attempts, held }) => ({
        state,
        identCely,
        unknownAttempts,
        attempts,
        held,
      }));
    const before = facts();
    resolve(outbox, decision);
    expect(facts()).not.toEqual(before);
    expect(undo(outbox)?.kept.size).toBe(0);
    expect(facts()).toEqual(before);
  });
});
