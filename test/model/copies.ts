import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { asServerMs } from '../../src/base/clock.ts';
import { passFence } from '../../src/flows/outbox/fence.ts';
import { resolveEntries, undoDecision } from '../../src/push/resolve.ts';
import { hashSha512 } from '../../src/http/request-body.ts';
import {
  type Claim,
  claim,
  recoverInFlight,
  type Settlement,
  settle,
} from '../../src/outbox/claims.ts';
import { addImport } from '../../src/outbox/entries.ts';
import type { ImportEntry } from '../../src/outbox/entry.ts';
import { findImportOfFind } from '../../src/outbox/entry-queries.ts';
import { openJournal } from '../../src/outbox/journal.ts';
import { mergeJournal } from '../../src/outbox/merge.ts';
import { type Outbox, openOutbox } from '../../src/outbox/open-outbox.ts';
import { reassignRecord } from '../../src/outbox/ownership.ts';
import { makeDecision, recordEvents, recordEvidence } from '../../src/outbox/record-events.ts';
import { findByLocalId, insertFind } from '../../src/outbox/stored-finds.ts';
import { copyDatabase } from '../../src/store/database-file.ts';
import { manualClock } from '../support/manual-clock.ts';

const PROJECT = 'C-202400101';
const MACHINE = 'machine';
const clock = manualClock();

export const getIdent = (record: number): string =>
  `${PROJECT}-N${String(record).padStart(5, '0')}`;

/** The files of one outbox, each in a copy of its own, and the journal of their machine. */
export class Copies {
  readonly #folder: string;
  readonly #finds: readonly string[];
  readonly #open = new Map<string, Outbox>();

  constructor(folder: string, finds: readonly string[]) {
    this.#folder = folder;
    this.#finds = finds;
    for (const name of ['first', 'second', 'kept', 'journal'])
      for (const suffix of ['.sqlite', '.sqlite-wal', '.sqlite-shm', '.id'])
        rmSync(this.#path(name, suffix), { force: true });
    const first = this.outbox('first');
    for (const name of finds) {
      const document = Buffer.from(`<document>${name}</document>`);
      const findId = insertFind(first, { localId: name, elements: { poznamka: name } });
      addImport(first, findId, {
        document,
        documentSha512: hashSha512(document),
        digest: name,
        project: PROJECT,
        issues: [],
      });
    }
    passFence(first, MACHINE);
  }

  #path(name: string, suffix = '.sqlite'): string {
    return join(this.#folder, `${name}${suffix}`);
  }

  outbox(name: string): Outbox {
    const known = this.#open.get(name);
    if (known !== undefined) return known;
    const outbox = openOutbox(this.#path(name), clock, {
      binding: { address: 'https://service.test', prefix: 'svc', schemaVersion: '2.2' },
      id: '00000000-0000-4000-8000-000000000001',
      journal: () => openJournal(this.#path('journal'), { machine: () => MACHINE, clock }),
    });
    this.#open.set(name, outbox);
    return outbox;
  }

  copy(from: string, to: string): void {
    this.#closeOne(to);
    for (const suffix of ['.sqlite-wal', '.sqlite-shm'])
      rmSync(this.#path(to, suffix), { force: true });
    copyDatabase(this.#path(from), this.#path(to));
  }

  exists(name: string): boolean {
    return existsSync(this.#path(name));
  }

  /** The journal's file is gone; its identity is not. */
  loseJournal(): void {
    for (const name of [...this.#open.keys()]) this.#closeOne(name);
    for (const suffix of ['.sqlite', '.sqlite-wal', '.sqlite-shm'])
      rmSync(this.#path('journal', suffix), { force: true });
  }

  #closeOne(name: string): void {
    this.#open.get(name)?.close();
    this.#open.delete(name);
  }

  close(): void {
    for (const name of [...this.#open.keys()]) this.#closeOne(name);
  }

  merge(name: string, withOpen: boolean): void {
    mergeJournal(this.outbox(name), { withOpen });
  }

  /** As a push begins. */
  begin(name: string): void {
    const outbox = this.outbox(name);
    passFence(outbox, MACHINE);
    mergeJournal(outbox, { withOpen: true });
    recoverInFlight(outbox);
  }

  entry(name: string, find: number): ImportEntry | undefined {
    const outbox = this.outbox(name);
    const stored = findByLocalId(outbox, this.#finds[find] ?? '');
    return stored === undefined ? undefined : findImportOfFind(outbox, stored.id);
  }

  claim(name: string, find: number): Claim | undefined {
    const entry = this.entry(name, find);
    const departure = {
      method: 'POST',
      path: '/import',
      account: 'U-000001',
      serverMs: asServerMs(clock.now()),
      sentByMs: null,
      settleMs: 1000,
    };
    return entry === undefined ? undefined : claim(this.outbox(name), entry.id, () => departure);
  }

  /** @param isTorn the journal has the answer, and the process dies before the outbox has it */
  settle(name: string, claimed: Claim, settlement: Settlement, isTorn: boolean): void {
    const outbox = this.outbox(name);
    const answer = {
      outcome:
        settlement.state === 'uncertain'
          ? 'uncertain'
          : settlement.state === 'queued'
            ? 'cut'
            : settlement.state,
    } as const;
    this.#perhapsTorn(outbox, isTorn, () => {
      if (settlement.state === 'accepted')
        reassignRecord(outbox, claimed.entry, settlement.identCely);
      settle(outbox, claimed, settlement, answer);
    });
  }

  #perhapsTorn(outbox: Outbox, isTorn: boolean, work: () => void): void {
    const torn = new Error('torn');
    try {
      outbox.change(() => {
        work();
        if (isTorn) throw torn;
      });
    } catch (thrown) {
      if (thrown !== torn) throw thrown;
    }
  }

  /** The service gave the record of another find to this one: both are uncertain. */
  reassign(name: string, claimed: Claim, record: number): void {
    const outbox = this.outbox(name);
    reassignRecord(outbox, claimed.entry, getIdent(record));
    settle(outbox, claimed, { state: 'uncertain', reason: '' }, { outcome: 'accepted' });
  }

  look(name: string, find: number, record: number | null): void {
    const entry = this.entry(name, find);
    const verdict =
      record === null
        ? ({ kind: 'absent' } as const)
        : ({ kind: 'found', identCely: getIdent(record) } as const);
    const about = { basis: '', reason: '', candidates: [], serverAt: null };
    if (entry !== undefined) recordEvidence(this.outbox(name), entry, verdict, about, null);
  }

  /** As a photograph is added again that was given up: what may have been sent stays in doubt. */
  takeBack(name: string, find: number): void {
    const [outbox, entry] = [this.outbox(name), this.entry(name, find)];
    if (entry === undefined) return;
    const decided = { answer: 'send', by: 'person', group: `${find}`, attempts: [] } as const;
    recordEvents(outbox, [makeDecision(outbox, entry, decided, '')]);
  }

  /** @param isLocked no push runs */
  decide(
    name: string,
    find: number,
    kind: 'created' | 'resend' | 'drop',
    record: number | null,
    isLocked: boolean,
  ): void {
    const decision = kind === 'created' ? { kind, identCely: getIdent(record ?? 0) } : { kind };
    resolveEntries(this.outbox(name), this.#finds[find] ?? '', decision, undefined, (work) =>
      work(isLocked),
    );
  }

  undo(name: string, find: number, isLocked: boolean): void {
    undoDecision(this.outbox(name), this.#finds[find] ?? '', (work) => work(isLocked));
  }
}
