import type { FindElements } from '../finds/fields.ts';
import {
  appendFacts,
  getSlotState,
  IN_LEDGER,
  insertFact,
  rebuildEntries,
} from './append-facts.ts';
import { storeEntryOfNewFind } from './cache.ts';
import type { Entry } from './entry.ts';
import {
  type CurrentBody,
  type FactOf,
  type FindWish,
  getOriginalDigest,
  makeUuid,
  type Photograph,
  type Slot,
  serializeFact,
} from './facts.ts';
import {
  findUnverifiedIntent,
  type Intent,
  isImportSlot,
  makeFindSlot,
  makeIntentId,
  makeSlot,
  type PhotoIntent,
  type PreparedDocument,
  storeIntent,
} from './intents.ts';
import { chooseNumberIntent } from './number-chain.ts';
import { getCommandId, type Outbox } from './open-outbox.ts';
import type { StoredFind } from './stored-finds.ts';

// Wishes say what is to be sent. Each function appends the facts of one change by the running
// command, in a transaction of its own unless one is open.

type WantedFind = Omit<FindWish, 'createdAt' | 'namesake'> & {
  readonly elements: FindElements;
  readonly createdAt?: number;
};

/**
 * Records that a new find is to be sent; one without a document is a draft. The ledger need not
 * know it before its first attempt.
 * @returns its UUID, which is made here
 */
export function recordNewFind(
  outbox: Outbox,
  find: Omit<WantedFind, 'asked'>,
  prepared: PreparedDocument,
): string {
  const now = outbox.clock.now();
  const uuid = makeUuid(now);
  outbox.change(() => {
    const wish = { createdAt: now, ...find };
    const intent = storeIntent(outbox, makeImportIntent(uuid, find), prepared);
    const body = makeFindWish(outbox, intent.id, [], wish);
    const fact = serializeFact({ kind: 'current', ...makeFindSlot(uuid), body });
    const row = insertFact(outbox, fact, IN_LEDGER.unneeded);
    storeEntryOfNewFind(outbox, row, wish, intent);
  });
  return uuid;
}

/**
 * Records that an existing find is to be sent with this content, in place of each version that was
 * wanted. It keeps its time of entry.
 */
export function recordFindWish(
  outbox: Outbox,
  { uuid, wish: before }: Pick<StoredFind, 'uuid' | 'wish'>,
  find: WantedFind,
  prepared: PreparedDocument,
): void {
  const slot = makeFindSlot(uuid);
  const { heads } = getSlotState(outbox, slot);
  const wish = { namesake: before.namesake, ...find, createdAt: before.createdAt };
  outbox.change(() => {
    const { id } = storeIntent(outbox, makeImportIntent(uuid, find), prepared);
    appendWish(outbox, slot, makeFindWish(outbox, id, heads, wish));
  });
}

function makeImportIntent(subject: string, { elements }: WantedFind): Intent {
  return { kind: 'import', subject, elements };
}

function makeFindWish(
  outbox: Outbox,
  intent: string,
  replaces: readonly string[],
  { localId, namesake, createdAt, file, row, path, base, key, asked }: FindWish,
): CurrentBody {
  const find = { localId, namesake, createdAt, file, row, path, base, key, asked };
  return { ...makeBody(outbox, intent, replaces), find };
}

/**
 * Gives a find another local id, merge base or question without a new version of it; of two
 * versions that copies want, the one that is shown. Does nothing where no version is wanted.
 */
export function updateFindWish(
  outbox: Outbox,
  { uuid, wish }: Pick<StoredFind, 'uuid' | 'wish'>,
  changes: Partial<FindWish>,
): void {
  outbox.change(() => {
    const { heads, wanted } = getSlotState(outbox, makeFindSlot(uuid));
    const shown = wanted.wishes.find(({ body }) => body.intent !== null);
    if (shown === undefined || wanted.kind === 'nothing') return;
    const replaced = wanted.kind === 'one' ? heads : [shown.id];
    const wanting = makeBody(outbox, shown.body.intent, replaced);
    const body = { ...wanting, find: { ...wish, ...changes } };
    appendWish(outbox, makeFindSlot(uuid), body);
  });
}

/**
 * Stores what validation has made of the entry's version, document and issues, in place of an
 * earlier result; so a draft may become queued, or the other way round. Does nothing where the
 * version is unknown, or its content was deleted.
 * @param prepared without a document, the find is a draft
 */
export function storePreparedDocument(
  outbox: Outbox,
  entry: Entry,
  prepared: PreparedDocument,
): void {
  outbox.change(() => {
    const known = findUnverifiedIntent(outbox, entry.subject, entry.intent);
    if (known?.intent === undefined) return;
    storeIntent(outbox, known.intent, prepared);
    rebuildEntries(outbox, entry.subject);
  });
}

function appendWish(outbox: Outbox, { subject, slot }: Slot, body: CurrentBody): void {
  appendFacts(outbox, [{ kind: 'current', subject, slot, body }]);
}

function makeBody(outbox: Outbox, intent: string | null, replaces: readonly string[]): CurrentBody {
  return {
    intent,
    hides: false,
    // Only an undo brings back an earlier wish: its successors must not be taken for that.
    restores: undefined,
    replaces,
    command: getCommandId(outbox),
    at: outbox.clock.now(),
  };
}

type NumberWish = {
  /** Number of the record now: '' for none, null where it is unknown. */
  readonly expects: string | null;
  /** The record is known to show another number than the last one that was sent from here. */
  readonly isChangedSince?: boolean;
};

/**
 * Records that a find or record is to get a number, in place of one that was wanted; does nothing
 * where it is wanted already. See `number-chain.ts` for the order of several.
 * @param value as normalizeNumber makes it
 */
export function recordNumberWish(
  outbox: Outbox,
  subject: string,
  value: string,
  { expects, isChangedSince = false }: NumberWish,
): void {
  outbox.change(() => {
    const slot = { subject, slot: `number ${subject}` };
    const { heads, intents, wanted } = getSlotState(outbox, slot);
    const attempted = [...intents].flatMap(([id, { attempts }]) =>
      attempts.length === 0 ? [] : (findUnverifiedIntent(outbox, subject, id) ?? []),
    );
    const intent = chooseNumberIntent(attempted, subject, value, isChangedSince);
    if (wanted.kind === 'one' && wanted.intents.includes(makeIntentId(intent))) return;
    const { id } = storeIntent(outbox, intent);
    const body = { ...makeBody(outbox, id, heads), expects };
    appendWish(outbox, slot, body);
  });
}

/**
 * Records that a find or record is to get a photograph, in place of a counterpart with other bytes;
 * a higher `occasion` sends the same picture once more.
 */
export function recordPhotoWish(
  outbox: Outbox,
  subject: string,
  photograph: Photograph,
  occasion = 0,
): void {
  outbox.change(() => {
    const { name, mediaType, sizeBytes, sha512, originalSha512, source } = photograph;
    const stored = { name, mediaType, sizeBytes, sha512, originalSha512, source };
    const original = getOriginalDigest(photograph);
    const intent: PhotoIntent = { kind: 'photo', subject, original, occasion };
    const slot = { subject, slot: makeSlot(intent) };
    const { heads } = getSlotState(outbox, slot);
    const { id } = storeIntent(outbox, intent);
    const body = { ...makeBody(outbox, id, heads), photograph: stored };
    appendWish(outbox, slot, body);
  });
}

/** Returns the next occasion of a picture for a find or record: 0 where it was never wanted. */
export function getNextOccasion(outbox: Outbox, subject: string, original: string): number {
  const occasions = outbox
    .sql(
      `select max(content ->> 'occasion') from intents where kind = 'photo' and subject = ? and content ->> 'original' = ?`,
    )
    .pluck()
    .get(subject, original);
  return typeof occasions === 'number' ? occasions + 1 : 0;
}

/**
 * Records that a find is no longer to be sent, or one number or photograph; what was wanted stays
 * known for {@link restoreWish}. Of two copies that want different ones the other is wanted then.
 * Does nothing where it is neither wanted nor the last that was.
 * @param intent of a number or a photograph; a find is withdrawn with all its versions
 * @param as `dropped`: it is still shown; `removed`: not even that
 */
export function withdrawWish(
  outbox: Outbox,
  { intent, ...place }: Slot & { readonly intent?: string },
  as: 'dropped' | 'removed',
): void {
  outbox.change(() => {
    const { heads, wanted } = getSlotState(outbox, place);
    const isNamed = ({ body }: FactOf<'current'>): boolean =>
      isImportSlot(place.slot) || (body.intent ?? body.was) === intent;
    const named = wanted.wishes.filter(isNamed);
    const before = named[0]?.body;
    if (before === undefined) return;
    const other = wanted.wishes.find((wish) => !isNamed(wish));
    if (other === undefined) {
      const was = before.intent ?? before.was ?? null;
      const hides = as === 'removed';
      appendWish(outbox, place, { ...before, ...makeBody(outbox, null, heads), hides, was });
    } else {
      const { intent: left, hides } = other.body;
      const replaced = [...named, other].map(({ id }) => id);
      appendWish(outbox, place, { ...other.body, ...makeBody(outbox, left, replaced), hides });
    }
  });
}

/**
 * Records that what was withdrawn from a slot is to be sent again; does nothing where something is
 * wanted, or nothing ever was.
 */
export function restoreWish(outbox: Outbox, slot: Slot): void {
  outbox.change(() => {
    const { heads, wanted } = getSlotState(outbox, slot);
    const { was, ...body } = wanted.wishes[0]?.body ?? {};
    if (wanted.kind !== 'nothing' || was === undefined || was === null) return;
    const again: CurrentBody = { ...body, ...makeBody(outbox, was, heads) };
    appendWish(outbox, slot, again);
  });
}
