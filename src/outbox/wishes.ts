import type { FindElements } from '../finds/fields.ts';
import { type Entry, type EntryId, getOriginalDigest, type Photograph } from './entry.ts';
import { findEntryByKey } from './entry-queries.ts';
import {
  type CurrentBody,
  type FactOf,
  type FindWish,
  makeDamagedError,
  makeUuid,
  type StoredPhotograph,
} from './facts.ts';
import { foldSlot, type SlotState } from './fold.ts';
import {
  chooseNumberIntent,
  findIntent,
  makeImportSlot,
  makeIntentId,
  makeSlot,
  type NumberIntent,
  type PhotoIntent,
  type Prepared,
  storeIntent,
} from './intents.ts';
import type { Outbox } from './open-outbox.ts';
import { appendFacts, getCommandId, listFactsOfSlot, refold } from './record-facts.ts';
import type { StoredFind } from './stored-finds.ts';

/** Wishes: each function appends the facts of one change by the running command. */

export type FindToWant = Omit<FindWish, 'createdAt' | 'namesake'> & {
  readonly elements: FindElements;
  readonly createdAt?: number;
};

/**
 * Stores a new find and wants it sent; a draft has no document.
 * @returns its UUID
 */
export function wantNewFind(outbox: Outbox, find: FindToWant, prepared: Prepared): string {
  const now = Math.floor(outbox.clock.now());
  const uuid = makeUuid(now);
  wantFindAs(outbox, uuid, { createdAt: now, ...find }, prepared, {
    replaces: [],
    isNew: true,
  });
  return uuid;
}

/** Wants an existing find sent with this content. */
export function wantFind(
  outbox: Outbox,
  { uuid, wish: before }: Pick<StoredFind, 'uuid' | 'wish'>,
  find: FindToWant,
  prepared: Prepared,
): void {
  const { heads } = foldImport(outbox, uuid);
  const wish = { namesake: before.namesake, ...find, createdAt: before.createdAt };
  wantFindAs(outbox, uuid, wish, prepared, { replaces: heads, isNew: false });
}

function wantFindAs(
  outbox: Outbox,
  subject: string,
  { elements, ...find }: FindToWant & FindWish,
  prepared: Prepared,
  { replaces, isNew }: { readonly replaces: readonly string[]; readonly isNew: boolean },
): void {
  const intent = { kind: 'import', subject, elements } as const;
  const { localId, namesake, createdAt, file, row, path, base, key, asked } = find;
  outbox.change(() => {
    const id = storeIntent(outbox, intent, prepared);
    const wish = { localId, namesake, createdAt, file, row, path, base, key, asked };
    const body = { ...makeBody(outbox, id, replaces), find: wish };
    appendFacts(outbox, [{ kind: 'current', subject, slot: makeSlot(intent), body }], { isNew });
  });
}

/** Gives a find another local id, or another merge base, without a new version of it. */
export function changeWish(
  outbox: Outbox,
  { uuid, wish }: Pick<StoredFind, 'uuid' | 'wish'>,
  changes: Partial<FindWish>,
): void {
  outbox.change(() => {
    const { heads, wanted } = foldImport(outbox, uuid);
    const intent = wanted.kind === 'one' ? wanted.intent : null;
    if (intent === null) return;
    const body = { ...makeBody(outbox, intent, heads), find: { ...wish, ...changes } };
    appendFacts(outbox, [{ kind: 'current', subject: uuid, slot: makeImportSlot(uuid), body }]);
  });
}

/** Stores the document that the profile makes of the wanted version now. */
export function storePrepared(outbox: Outbox, entry: Entry, prepared: Prepared): void {
  outbox.change(() => {
    const intent = findIntent(outbox, entry.subject, entry.intent);
    if (intent === undefined) return;
    storeIntent(outbox, intent, prepared);
    refold(outbox, entry.subject);
  });
}

function foldImport(outbox: Outbox, uuid: string): SlotState {
  return foldSlot(listFactsOfSlot(outbox, uuid, makeImportSlot(uuid)));
}

function makeBody(outbox: Outbox, intent: string | null, replaces: readonly string[]): CurrentBody {
  return {
    intent,
    hides: false,
    // Only an undo brings back an earlier wish: its successors must not be taken for that.
    restores: undefined,
    replaces,
    command: getCommandId(outbox),
    at: Math.floor(outbox.clock.now()),
  };
}

/**
 * Wants a number for a find or record.
 * @param isChangedSince the record is known to show another number than the last one that was sent
 * from here
 */
export function wantNumber(
  outbox: Outbox,
  subject: string,
  value: string,
  expects: string | null,
  isChangedSince: boolean,
): void {
  outbox.change(() => {
    const slot = `number ${subject}`;
    const { heads, intents, wanted } = foldSlot(listFactsOfSlot(outbox, subject, slot));
    const attempted = [...intents].flatMap(([id, { attempts }]): NumberIntent[] => {
      const stored = attempts.length === 0 ? undefined : findIntent(outbox, subject, id);
      return stored?.kind === 'number' ? [stored] : [];
    });
    const intent = chooseNumberIntent(attempted, subject, value, isChangedSince);
    if (wanted.kind === 'one' && wanted.intent === makeIntentId(intent)) return;
    const body = { ...makeBody(outbox, storeIntent(outbox, intent), heads), expects };
    appendFacts(outbox, [{ kind: 'current', subject, slot, body }]);
  });
}

export function serializePhotograph(photograph: Photograph): StoredPhotograph {
  const { name, mediaType, sizeBytes, sha512, link, source } = photograph;
  return {
    name,
    mediaType,
    sizeBytes,
    sha512: sha512.toString('hex'),
    original: getOriginalDigest(photograph).toString('hex'),
    link: link ?? null,
    source: source ?? null,
  };
}

/**
 * Wants a photograph for a find or record; the same picture again, as often as it is added to be
 * sent once more.
 */
export function wantPhoto(
  outbox: Outbox,
  subject: string,
  photograph: Photograph,
  occasion = 0,
): EntryId {
  return outbox.change(() => {
    const stored = serializePhotograph(photograph);
    const intent: PhotoIntent = { kind: 'photo', subject, original: stored.original, occasion };
    const slot = makeSlot(intent);
    const { heads } = foldSlot(listFactsOfSlot(outbox, subject, slot));
    const id = storeIntent(outbox, intent);
    const body = { ...makeBody(outbox, id, heads), photograph: stored };
    appendFacts(outbox, [{ kind: 'current', subject, slot, body }]);
    const entry = findEntryByKey(outbox, subject, id);
    if (entry === undefined) throw makeDamagedError(outbox.path, id);
    return entry.id;
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
 * Wants a slot no longer.
 * @param hides a find is not shown either
 */
export function unwant(outbox: Outbox, subject: string, slot: string, hides: boolean): void {
  outbox.change(() => {
    const { heads, wanted } = foldSlot(listFactsOfSlot(outbox, subject, slot));
    const before = wanted.kind === 'disputed' ? wanted.facts[0] : wanted.fact;
    if (before === undefined) return;
    const wish = findWishOf(outbox, before);
    const body: CurrentBody = {
      ...wish?.body,
      ...makeBody(outbox, null, heads),
      hides,
      was: before.body.intent ?? wish?.body.was ?? null,
    };
    appendFacts(outbox, [{ kind: 'current', subject, slot, body }]);
  });
}

/** Wants again what was wanted of a slot before. */
export function rewant(outbox: Outbox, subject: string, slot: string): void {
  outbox.change(() => {
    const { heads, wanted } = foldSlot(listFactsOfSlot(outbox, subject, slot));
    const before = wanted.kind === 'nothing' ? wanted.fact : undefined;
    const { was, ...body } = before?.body ?? {};
    if (was === undefined || was === null) return;
    const again: CurrentBody = { ...body, ...makeBody(outbox, was, heads) };
    appendFacts(outbox, [{ kind: 'current', subject, slot, body: again }]);
  });
}

/** Returns the wish behind a head; that of an attempt is a fact of its own. */
function findWishOf(
  outbox: Outbox,
  head: FactOf<'current'> | FactOf<'attempted'>,
): FactOf<'current'> | undefined {
  if (head.kind === 'current') return head;
  const facts = listFactsOfSlot(outbox, head.subject, head.slot);
  return facts.find(
    (fact): fact is FactOf<'current'> => fact.kind === 'current' && fact.id === head.body.current,
  );
}
