import { join } from 'node:path';
import { asServerMs, type Clock } from '../../src/base/clock.ts';
import type { FindElements } from '../../src/finds/fields.ts';
import { findLedgerOfAccount } from '../../src/outbox/append-facts.ts';
import {
  type AnswerDetails,
  type AttemptSettlement,
  type Claim,
  claimQueuedEntry,
  recordAnswer,
} from '../../src/outbox/attempts.ts';
import type { Entry } from '../../src/outbox/entry.ts';
import {
  findEntryById,
  findImportOfFind,
  listNumberEntries,
  listPhotographsByDigest,
} from '../../src/outbox/entry-queries.ts';
import { type Fact, getOriginalDigest, type Photograph } from '../../src/outbox/facts.ts';
import { type Ledger, openLedger } from '../../src/outbox/ledger.ts';
import {
  type Binding,
  type Outbox,
  openOutbox,
  storeKnownAccount,
} from '../../src/outbox/open-outbox.ts';
import { getPushPlace, storePushPlace } from '../../src/outbox/push-lock.ts';
import { uniteWithLedger } from '../../src/outbox/unite.ts';
import { recordNewFind, recordNumberWish, recordPhotoWish } from '../../src/outbox/wishes.ts';
import type { Account } from '../../src/service/session.ts';
import { manualClock } from './manual-clock.ts';
import { tempFolder } from './temp-folder.ts';

export const ADDRESS = 'https://finds.example.org';
export const USERNAME = 'eva@example.org';
/** The service's identifier of the account that {@link tempOutbox} is bound to. */
export const ACCOUNT_ID = 'U-000001';
export const MACHINE = 'this-machine';
export const BINDING: Binding = {
  kind: 'production',
  address: ADDRESS,
  username: USERNAME,
};
/** The account as the service describes it. */
export const EVA: Account = {
  identCely: ACCOUNT_ID,
  name: 'Eva Nová',
  email: USERNAME,
  organisation: 'Museum',
  role: 'archaeologist',
  prefix: 'svc',
  namespace: 'urn:x',
};

export const PHOTOGRAPH: Photograph = {
  name: 'a.jpg',
  mediaType: 'image/jpeg',
  sha512: Buffer.alloc(64, 1).toString('hex'),
  sizeBytes: 3,
};

/** One of several, each with other bytes. */
export function nthPhotograph(nth: number): Photograph {
  return { ...PHOTOGRAPH, name: `${nth}.jpg`, sha512: Buffer.alloc(64, nth).toString('hex') };
}

export type TempOutbox = Outbox & {
  readonly ledger: Ledger;
  readonly [Symbol.dispose]: () => void;
};

/**
 * An outbox in a new folder, with a ledger of its own there, bound to an account that is known
 * there, and pushed from here.
 */
export function tempOutbox(clock: Clock = manualClock()): TempOutbox {
  const folder = tempFolder();
  const outbox = openAt(join(folder, 'outbox.sqlite'), join(folder, 'ledger.sqlite'), { clock });
  storeKnownAccount(outbox, { ...EVA, username: USERNAME });
  return outbox;
}

/** The outbox of a file, made where there is none, with the ledger of another file. */
export function openAt(
  path: string,
  ledgerFile: string,
  { clock = manualClock() }: { clock?: Clock } = {},
): TempOutbox {
  const outbox = openOutbox(path, clock, {
    binding: BINDING,
    ledger: () => openLedger(ledgerFile),
  });
  const { ledger } = outbox;
  if (ledger === undefined) throw outbox.ledgerProblem ?? new Error('there is no ledger');
  uniteWithLedger(outbox, ACCOUNT_ID);
  // As the first push does it.
  const place = getPushPlace(outbox, MACHINE);
  if (place === 'new') storePushPlace(outbox, MACHINE, place);
  return { ...outbox, ledger, [Symbol.dispose]: () => outbox.close() };
}

/** A new file of the same outbox, as after its folder was lost; it has the ledger. */
export function openAnew(outbox: TempOutbox): TempOutbox {
  return openAt(join(tempFolder(), 'outbox.sqlite'), outbox.ledger.path, {
    clock: outbox.clock,
  });
}

/** The place of a find that no table has. */
export const NO_PLACE = { rows: [] };

/** A queued import, and the UUID of its find. `text` is what it says of the find. */
export function queueImport(
  outbox: Outbox,
  localId: string,
  project: string | null = 'C-202400101',
  text = localId,
): { findId: string; entryId: number; subject: string } {
  const elements: FindElements = {
    ...(project === null ? {} : { projekt: { id: project, text: '' } }),
    poznamka: text,
  };
  const findId = recordNewFind(
    outbox,
    { localId, elements, ...NO_PLACE },
    { document: Buffer.from(`<document>${text}</document>`), issues: [] },
  );
  const { id = 0, subject = '' } = findImportOfFind(outbox, findId) ?? {};
  return { findId, entryId: id, subject };
}

/** The entry of a number that is wanted. */
export function queueNumber(
  outbox: Outbox,
  subject: string,
  value: string,
  expects: string | null = null,
): number {
  recordNumberWish(outbox, subject, value, { expects });
  return listNumberEntries(outbox, subject).findLast((entry) => entry.value === value)?.id ?? 0;
}

/** The entry of a photograph that is wanted. */
export function queuePhoto(outbox: Outbox, subject: string, photograph: Photograph): number {
  recordPhotoWish(outbox, subject, photograph);
  const digest = getOriginalDigest(photograph);
  return listPhotographsByDigest(outbox, subject, digest).at(-1)?.id ?? 0;
}

/** An entry that is being sent. */
export function claimEntry(outbox: Outbox, id: number): Claim {
  const serverNow = asServerMs(outbox.clock.now());
  const claimed = claimQueuedEntry(outbox, id, () => ({
    method: 'POST',
    path: '/',
    account: ACCOUNT_ID,
    fromMs: serverNow,
    sentByMs: serverNow,
    settleMs: 600_000,
  }));
  if (claimed === undefined) throw new Error('the entry cannot be sent');
  return claimed;
}

/** @throws Error where it is gone */
export function getEntry(outbox: Outbox, id: number): Entry {
  const entry = findEntryById(outbox, id);
  if (entry === undefined) throw new Error('the entry is gone');
  return entry;
}

/** Sends an entry, with this answer, at the time that the clock says. */
export function attemptEntry(outbox: Outbox, id: number, settlement: AttemptSettlement): void {
  const outcome = settlement.state === 'queued' ? 'throttled' : settlement.state;
  const facts: AnswerDetails = {
    outcome,
    status: 200,
    serverDateAt: asServerMs(outbox.clock.now()),
  };
  recordAnswer(outbox, claimEntry(outbox, id), settlement, facts);
}

export function acceptEntry(outbox: Outbox, id: number, identCely: string): void {
  attemptEntry(outbox, id, { state: 'accepted', identCely });
}

/** Returns all entries in the order of the queue. */
export function listAllEntries(outbox: Outbox): Entry[] {
  const ids = outbox.sql('select id from entries order by id').pluck().all() as number[];
  return ids.flatMap((id) => findEntryById(outbox, id) ?? []);
}

/** What the ledger has of a find or record for the account of the outbox. */
export function listFactsInLedger(outbox: Outbox, subject: string): Fact[] {
  const own = findLedgerOfAccount(outbox);
  const facts = own?.ledger.listFactsSince(own.scope, 0, Number.MAX_SAFE_INTEGER) ?? [];
  return facts.flatMap(({ fact }) => (fact.subject === subject ? fact : []));
}
