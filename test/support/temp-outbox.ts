import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/base/clock.ts';
import { hashSha512 } from '../../src/http/request-body.ts';
import { bindAccount, type KnownAccount, rememberAccount } from '../../src/outbox/bound-account.ts';
import { addImport } from '../../src/outbox/entries.ts';
import type { EntryId, FindId } from '../../src/outbox/entry.ts';
import { type Journal, openJournal } from '../../src/outbox/journal.ts';
import {
  type Binding,
  type Outbox,
  openOutbox,
  readHeader,
  updateHeader,
} from '../../src/outbox/open-outbox.ts';
import { insertFind } from '../../src/outbox/stored-finds.ts';
import { manualClock } from './manual-clock.ts';

export const ADDRESS = 'https://finds.example.org';
export const USERNAME = 'eva@example.org';
/** The service's identifier of the account that {@link tempOutbox} is bound to. */
export const ACCOUNT_ID = 'U-000001';
export const BINDING: Binding = { address: ADDRESS, prefix: 'svc', schemaVersion: '2.2' };
/** The account as the service describes it. */
export const EVA: KnownAccount = {
  identCely: ACCOUNT_ID,
  name: 'Eva',
  email: USERNAME,
  organisation: 'Museum',
  role: 'archaeologist',
  prefix: 'svc',
  namespace: '',
};

export function tempFolder(): string {
  return mkdtempSync(join(tmpdir(), 'pas-test-'));
}

export type TempOutbox = Outbox & {
  readonly journal: Journal;
  readonly [Symbol.dispose]: () => void;
};

/**
 * An outbox in a new folder, with a journal of its own there, bound to an account that is known
 * there.
 */
export function tempOutbox(clock: Clock = manualClock()): TempOutbox {
  const folder = tempFolder();
  const outbox = openAt(join(folder, 'outbox.sqlite'), join(folder, 'journal.sqlite'), { clock });
  rememberAccount(outbox, USERNAME, EVA);
  bindAccount(outbox, ACCOUNT_ID);
  return outbox;
}

/** The outbox of a file, made where there is none, with the journal of another file. */
export function openAt(
  path: string,
  journalFile: string,
  { clock = manualClock(), id }: { clock?: Clock; id?: string } = {},
): TempOutbox {
  const outbox = openOutbox(path, clock, {
    ...(id === undefined ? { binding: BINDING } : { binding: BINDING, id }),
    journal: () => openJournal(journalFile, { machine: () => 'this-machine', clock }),
  });
  const { journal } = outbox;
  if (journal === undefined) throw outbox.journalProblem ?? new Error('there is no journal');
  // As the first push does it.
  if (readHeader(outbox).journal === '')
    outbox.change(() => updateHeader(outbox, { journal: journal.id, machine: journal.machine }));
  return { ...outbox, journal, [Symbol.dispose]: () => outbox.close() };
}

/** A new file of the same outbox, as after its folder was lost; it has the journal. */
export function openAnew(outbox: TempOutbox): TempOutbox {
  return openAt(join(tempFolder(), 'outbox.sqlite'), outbox.journal.path, {
    clock: outbox.clock,
    id: readHeader(outbox).outbox,
  });
}

/**
 * A queued import, and the row of its find. `text` is what it says of the find: its digest depends
 * on it.
 */
export function queueImport(
  outbox: Outbox,
  localId: string,
  project = 'C-202400101',
  text = localId,
): { findId: FindId; entryId: EntryId } {
  const findId = insertFind(outbox, { localId, elements: { poznamka: text } });
  const document = Buffer.from(`<document>${text}</document>`);
  const entryId = addImport(outbox, findId, {
    document,
    documentSha512: hashSha512(document),
    digest: hashDigest(text),
    project,
    issues: [],
  });
  return { findId, entryId };
}

/** Stands for the digest of a find as it was found. */
export function hashDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
