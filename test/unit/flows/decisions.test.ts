import { describe, expect, test } from 'vitest';
import { OutboxLeasedError, type UsageError } from '../../../src/base/errors.ts';
import { msg } from '../../../src/base/message.ts';
import { lookAtRecord, recordProblem } from '../../../src/flows/reconcile/look-at-record.ts';
import { type Decision, openDecision, resolveDoubts, undoDecision } from '../../../src/flows/reconcile/resolve-doubt.ts';
import { claim } from '../../../src/outbox/claims.ts';
import { addPhoto, allEntries, move } from '../../../src/outbox/entries.ts';
import type { ImportEntry } from '../../../src/outbox/entry.ts';
import { evidenceOf, recordEvidence } from '../../../src/outbox/evidence.ts';
import { takeLease } from '../../../src/outbox/lease.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { innerOf, PROJECT } from '../../support/find-service.ts';
import { lookScene } from '../../support/look-scene.ts';
import { ACCOUNT_ID, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = `${PROJECT}-N00001`;
const OTHER = `${PROJECT}-N00002`;
const STATUS = '`pas status` lists what needs a person, with the command for it.';
const PHOTOGRAPH = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 };

const createdAs = (identCely: string): Decision => ({ kind: 'created', identCely });

function saidBy(act: () => unknown): readonly [message: string, hint: string] {
  try {
    act();
  } catch (thrown) {
    const { message, hint } = thrown as UsageError;
    return [message, String(hint)];
  }
  throw new Error('nothing was said');
}

const inState = (outbox: ServiceOutbox, id: number, state: string): void =>
  void outbox.sql('update entries set state = ? where id = ?').run(state, id);
const states = (outbox: ServiceOutbox) => allEntries(outbox).map(({ kind, state }) => `${kind} ${state}`);

describe('a record that is given for an entry', () => {
  const found = (project: string | null) => {
    const outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1', PROJECT);
    outbox.sql('update entries set project = ? where id = ?').run(project, entryId);
    const [entry] = allEntries(outbox);
    if (entry?.kind !== 'import') throw new Error('no import');
    return { outbox, entry };
  };
  const shown = (form: string) => `The service shows it beside the record; it looks like ${form}.`;

  test.each<[string | null, string, readonly [string, string] | undefined]>([
    [PROJECT, IDENT, undefined],
    [PROJECT, `${PROJECT}-N1234567`, undefined],
    [null, 'C-7-N00001', undefined],
    // A temporary project gets another name later.
    ['X-C-123456789A', 'C-7-N00001', undefined],
    [
      PROJECT,
      'C-7-N00001',
      ['C-7-N00001 is a find of another project: this one was sent to C-202400101.', shown('C-202400101-N00042')],
    ],
    ['C-X-7', 'C-7-N00001', ['C-7-N00001 is a find of another project: this one was sent to C-X-7.', shown('C-X-7-N00042')]],
    ...[`${PROJECT}-N0001`, `${IDENT}b`, '-N00001', `a\n${IDENT}`, 'K-1', ''].map(
      (ident) =>
        [PROJECT, ident, [`${ident} is not an identifier of a find.`, shown('C-202400101-N00042')]] as [
          string,
          string,
          readonly [string, string],
        ],
    ),
    [null, 'K-1', ['K-1 is not an identifier of a find.', shown('C-202400101-N00042')]],
    ['C-7', 'K-1', ['K-1 is not an identifier of a find.', shown('C-7-N00042')]],
  ])('of a find of %j: %j', (project, ident, said) => {
    const { outbox, entry } = found(project);
    const problem = recordProblem(outbox, entry, ident);
    expect(problem === undefined ? undefined : [problem.message, String(problem.hint)]).toEqual(said);
  });

  test('must be that of the number or the photograph', () => {
    const { outbox } = found(PROJECT);
    addPhoto(outbox, { findId: null, identCely: IDENT }, PHOTOGRAPH);
    const photo = allEntries(outbox)[1];
    if (photo === undefined) throw new Error('no photograph');
    expect(recordProblem(outbox, photo, IDENT)).toBeUndefined();
    const problem = recordProblem(outbox, photo, OTHER);
    expect(problem?.message).toBe(`The photo was sent to ${IDENT}, not to ${OTHER}.`);
    expect(String(problem?.hint)).toBe(`If ${IDENT} has it, give that identifier.`);
  });
});

describe('a look at a record', () => {
  async function looked(more: { note?: string; user?: string; hidden?: 'withheld' | 'deleted'; isThere?: boolean } = {}) {
    using scene = lookScene();
    const { note = 'fibula', user, hidden, isThere = true } = more;
    const { entryId } = await scene.find('K-1', 'uncertain', false, 'fibula');
    if (isThere) scene.service.make(innerOf(note), user);
    if (hidden !== undefined)
      scene.service.change(IDENT, (record) => {
        record.hidden = hidden;
      });
    const context = { outbox: scene.outbox, client: scene.service.client, format: 'oai_svc' };
    const seen = await lookAtRecord(context, scene.entry(entryId) as ImportEntry, IDENT);
    return seen === undefined ? undefined : { ...seen, doubts: seen.doubts.map(String) };
  }
  const element = (name: string, sent: string | null, now: string | null) => ({
    ...{ element: name, sent, now },
    differs: sent !== now,
  });

  test('compares what was sent with what is there, by the elements that either has', async () => {
    const seen = await looked();
    expect(seen?.doubts).toEqual([]);
    expect(seen?.compared.map(({ element: name, differs }) => [name, differs])).toEqual([
      ['projekt', false],
      ['poznamka', false],
      ['stav', false],
    ]);
    expect(seen?.compared[1]).toEqual(element('poznamka', 'fibula', 'fibula'));
  });

  test('names what differs, and who made it', async () => {
    const seen = await looked({ note: 'spona</poznamka><pocet>1</pocet><poznamka>', user: 'U-000409' });
    expect(seen?.doubts[0]).toBe('It was made by the account U-000409, which did not send this find.');
    expect(seen?.doubts[1]).toMatch(/^It differs in pocet/);
    expect(seen?.compared).toContainEqual(element('pocet', null, '1'));
    expect((await looked({ note: 'spona' }))?.doubts).toEqual(['It differs in poznamka.']);
  });

  test('of what the service does not show tells no more than that', async () => {
    expect(await looked({ hidden: 'withheld' })).toEqual({
      compared: [],
      doubts: [`The service has ${IDENT} and does not show it to this account.`],
    });
    expect(await looked({ hidden: 'deleted' })).toBeUndefined();
    expect(await looked({ isThere: false })).toBeUndefined();
  });
});

describe('what can be decided', () => {
  test.each([
    ['uncertain', ['created', 'resend', 'drop']],
    ['refused', ['resend', 'drop']],
    ['queued', ['drop']],
    ['draft', ['drop']],
    ['dropped', ['resend']],
  ])('about a find that is %s', (state, kinds) => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    inState(outbox, entryId, state);
    expect(openDecision(outbox, 'K-1', undefined)).toMatchObject({ entry: { id: entryId }, kinds, candidates: [] });
  });

  test('is nothing about what the service has', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    outbox.sql(`update entries set state = 'accepted', ident_cely = ? where id = ?`).run(IDENT, entryId);
    expect(saidBy(() => openDecision(outbox, 'K-1', undefined))).toEqual(['Nothing here waits for a decision.', STATUS]);
    const only = ` Only the entry ${entryId} was asked about.`;
    expect(saidBy(() => openDecision(outbox, 'K-1', entryId))[0]).toBe(`Nothing here waits for a decision.${only}`);
    const nothing = {
      created: 'Nothing here is uncertain.',
      resend: 'Nothing here is uncertain or refused, nor is the find given up.',
      drop: 'Nothing here is open: uncertain, refused, queued or a draft.',
    };
    for (const decision of [createdAs(OTHER), { kind: 'resend' }, { kind: 'drop' }] as const) {
      expect(saidBy(() => resolveDoubts(outbox, 'K-1', decision))).toEqual([nothing[decision.kind], STATUS]);
      expect(saidBy(() => resolveDoubts(outbox, 'K-1', decision, { entryId }))[0]).toBe(`${nothing[decision.kind]}${only}`);
    }
  });

  test('rests on the records of the last look that no other find has', () => {
    using outbox = tempOutbox();
    const { entryId: taken } = queueImport(outbox, 'K-0');
    outbox.sql(`update entries set state = 'accepted', ident_cely = ? where id = ?`).run(OTHER, taken);
    const { entryId } = queueImport(outbox, 'K-1');
    inState(outbox, entryId, 'uncertain');
    const look = { serverAt: null, verdict: 'undecided', basis: 'several-same', reason: msg`two` } as const;
    recordEvidence(outbox, entryId, { ...look, candidates: [`${PROJECT}-N00009`] });
    recordEvidence(outbox, entryId, { ...look, candidates: [OTHER, IDENT] });
    expect(openDecision(outbox, 'K-1', undefined).candidates).toEqual([IDENT]);
  });

  test('rests on the record of a photograph, where there is one', () => {
    using outbox = tempOutbox();
    const photo = addPhoto(outbox, { findId: null, identCely: IDENT }, PHOTOGRAPH);
    inState(outbox, photo, 'uncertain');
    recordEvidence(outbox, photo, { serverAt: null, verdict: 'undecided', basis: null, reason: msg`x`, candidates: ['a.jpg'] });
    expect(openDecision(outbox, IDENT, undefined)).toMatchObject({ entry: { id: photo }, candidates: [IDENT] });
    const { findId, entryId } = queueImport(outbox, 'K-1');
    const waiting = addPhoto(outbox, { findId, identCely: null }, PHOTOGRAPH);
    inState(outbox, entryId, 'dropped');
    inState(outbox, waiting, 'uncertain');
    expect(openDecision(outbox, 'K-1', waiting).candidates).toEqual([]);
    // The find alone could be taken back, and the photograph alone sent.
    expect(openDecision(outbox, 'K-1', waiting).kinds).toEqual(['created', 'resend', 'drop']);
  });
});

describe('a decision', () => {
  /** A find in doubt, for which a photograph waits. */
  function inDoubt() {
    const outbox = tempOutbox();
    const { findId, entryId } = queueImport(outbox, 'K-1');
    addPhoto(outbox, { findId, identCely: null }, PHOTOGRAPH);
    inState(outbox, entryId, 'uncertain');
    return { outbox, findId, entryId };
  }

  test('is kept in words, and says how many wait for a find that is given up', () => {
    const { outbox, entryId } = inDoubt();
    const given = resolveDoubts(outbox, 'K-1', { kind: 'drop' });
    expect([given.settled.map(({ id }) => id), given.waiting]).toEqual([[entryId], 1]);
    expect(states(outbox)).toEqual(['import dropped', 'photo queued']);
    expect(resolveDoubts(outbox, 'K-1', { kind: 'resend' }).waiting).toBeUndefined();
    expect(evidenceOf(outbox, entryId).map(({ verdict, basis, reason }) => [verdict, basis, String(reason)])).toEqual([
      ['person', 'drop', 'a person decided: drop'],
      ['person', 'resend', 'a person decided: send again'],
    ]);
    expect(String(allEntries(outbox)[0]?.reason)).toBe('a person wants it sent');
    inState(outbox, entryId, 'uncertain');
    resolveDoubts(outbox, 'K-1', createdAs(IDENT));
    expect(String(evidenceOf(outbox, entryId).at(-1)?.reason)).toBe(`a person decided: created as ${IDENT}`);
    expect(String(allEntries(outbox)[0]?.reason)).toBe('a person found it at the service');
    expect(allEntries(outbox)[1]?.identCely).toBe(IDENT);
  });

  test('is not made beside a push', () => {
    const { outbox } = inDoubt();
    const beside = takeLease(outbox);
    for (const act of [() => resolveDoubts(outbox, 'K-1', { kind: 'drop' }), () => undoDecision(outbox, 'K-1')])
      expect(act).toThrow(OutboxLeasedError);
    beside.release();
    resolveDoubts(outbox, 'K-1', { kind: 'drop' });
    undoDecision(outbox, 'K-1');
    // Each has given the place back.
    takeLease(outbox).release();
  });

  test('can be taken back with all that it changed', () => {
    const { outbox, entryId } = inDoubt();
    const before = allEntries(outbox);
    resolveDoubts(outbox, 'K-1', createdAs(IDENT));
    const { decision, entries } = undoDecision(outbox, 'K-1');
    expect([decision, entries.map(({ kind, state }) => `${kind} ${state}`)]).toEqual([
      'created',
      ['import uncertain', 'photo queued'],
    ]);
    const kept = ({ updatedAt: _, ...entry }: (typeof before)[number]) => entry;
    expect(allEntries(outbox).map(kept)).toEqual(before.map(kept));
    expect(evidenceOf(outbox, entryId).at(-1)).toMatchObject({
      verdict: 'person',
      basis: 'undo',
      serverAt: null,
      candidates: [],
    });
    expect(String(evidenceOf(outbox, entryId).at(-1)?.reason)).toBe('a person took the decision back');
    expect(saidBy(() => undoDecision(outbox, 'K-1'))[0]).toBe('Nobody has decided anything about K-1.');
  });

  test('stands once something was sent on its account', () => {
    const { outbox } = inDoubt();
    resolveDoubts(outbox, 'K-1', createdAs(IDENT));
    claim(outbox, allEntries(outbox)[1]?.id ?? 0, () => ({ method: 'POST', path: '/', accountId: ACCOUNT_ID }));
    expect(saidBy(() => undoDecision(outbox, 'K-1'))).toEqual([
      'Something was sent since on account of the decision, so it stands.',
      `If ${IDENT} is another find, take what was added to it away in the pages of the service, and send K-1 under another local_id.`,
    ]);
    const other = inDoubt();
    resolveDoubts(other.outbox, 'K-1', { kind: 'resend' });
    claim(other.outbox, other.entryId, () => ({ method: 'POST', path: '/', accountId: ACCOUNT_ID }));
    expect(saidBy(() => undoDecision(other.outbox, 'K-1'))[1]).toBe('`pas show K-1` says what became of it.');
  });

  test('stands once the find was changed', () => {
    const { outbox, entryId } = inDoubt();
    resolveDoubts(outbox, 'K-1', { kind: 'resend' });
    const [entry] = allEntries(outbox);
    if (entry === undefined) throw new Error('it is gone');
    move(outbox, entry, 'draft');
    expect(saidBy(() => undoDecision(outbox, 'K-1'))).toEqual([
      'K-1 was changed since the decision, so it stands.',
      '`pas show K-1` says how it stands now.',
    ]);
    expect(states(outbox)).toEqual(['import draft', 'photo queued']);
    expect(evidenceOf(outbox, entryId).at(-1)?.basis).toBe('resend');
  });

  test('stands once another import took the place of the one that was given up', () => {
    const { outbox, findId } = inDoubt();
    resolveDoubts(outbox, 'K-1', { kind: 'drop' });
    outbox
      .sql(
        `insert into entries (service_id, username, find_id, record_key, kind, state, created_at, updated_at)
         select service_id, username, find_id, record_key, 'import', 'draft', 1, 1 from entries where find_id = ? and kind = 'import'`,
      )
      .run(findId);
    expect(saidBy(() => undoDecision(outbox, 'K-1'))[0]).toBe('K-1 was changed since the decision, so it stands.');
  });
});
