import { isDeepStrictEqual } from 'node:util';
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
  makeFactRow,
  makeUuid,
  type Photograph,
  type Slot,
  type TableRow,
} from './facts.ts';
import {
  findUnverifiedIntent,
  type Intent,
  isImportSlot,
  makeImportSlot,
  makeIntentId,
  makeSlotName,
  type PhotoIntent,
  type PreparedDocument,
  storeIntent,
} from './intents.ts';
import { chooseNumberIntent } from './number-chain.ts';
import { getOrMakeCommandId, type Outbox } from './open-outbox.ts';
import type { StoredFind } from './stored-finds.ts';

// Wishes say what is to be sent. Each function appends the facts of one change by the running
// command, in a transaction of its own unless one is open.

type WantedFind = Omit<FindWish, 'createdAt' | 'namesake'> & {
  readonly elements: FindElements;
  readonly createdAt?: number;
};

/**
 * Records that a new find is to be sent; one without a document is a draft. The ledger does not get
 * the find before its first attempt.
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
    const fact = makeFactRow({ kind: 'current', ...makeImportSlot(uuid), body });
    const row = insertFact(outbox, fact, IN_LEDGER.unneeded);
    storeEntryOfNewFind(outbox, row, wish, intent);
  });
  return uuid;
}

/**
 * Records that a find which is here is to be sent with this content, in place of each version that
 * was wanted. The find keeps its time of entry.
 */
export function recordFindWish(
  outbox: Outbox,
  { uuid, wish: before, elements }: Pick<StoredFind, 'uuid' | 'wish' | 'elements'>,
  find: WantedFind,
  prepared: PreparedDocument,
): void {
  const slot = makeImportSlot(uuid);
  const { heads } = getSlotState(outbox, slot);
  const rows = find.rows.map((row) =>
    packRow({ ...row, elements: row.elements ?? elements }, find.elements),
  );
  const wish = { namesake: before.namesake, ...find, rows, createdAt: before.createdAt };
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
  { localId, namesake, createdAt, rows, asked }: FindWish,
): CurrentBody {
  const find = { localId, namesake, createdAt, rows, asked };
  return { ...makeBody(outbox, intent, replaces), find };
}

/** Makes a row as it is stored with a find: elements that are equal are not stored twice. */
export function packRow(row: TableRow, ofFind: FindElements): TableRow {
  const { elements, base } = row;
  return {
    ...row,
    elements: isDeepStrictEqual(elements, ofFind) ? undefined : elements,
    base: isDeepStrictEqual(base, elements) ? undefined : base,
  };
}

/**
 * Changes what belongs to a find beside its content, such as its local id, its rows as last imported
 * or a question about a row. Of two versions that copies want, this concerns the shown one. Does
 * nothing where no version is wanted. As part of no command it is taken back with that version.
 */
export function updateFindWish(
  outbox: Outbox,
  { uuid, wish }: Pick<StoredFind, 'uuid' | 'wish'>,
  changes: Partial<FindWish>,
): void {
  outbox.change(() => {
    const { heads, wanted } = getSlotState(outbox, makeImportSlot(uuid));
    const shown = wanted.wishes.find(({ body }) => body.intent !== null);
    if (shown === undefined || wanted.kind === 'nothing') return;
    const replaced = wanted.kind === 'one' ? heads : [shown.id];
    const wanting = makeBody(outbox, shown.body.intent, replaced);
    const restores = wanting.command === null ? shown.id : undefined;
    const body = { ...wanting, restores, find: { ...wish, ...changes } };
    appendWish(outbox, makeImportSlot(uuid), body);
  });
}

/**
 * Stores the document and issues that validation made of an import, in place of an earlier result.
 * A draft that has a document now is queued; a queued find without one is a draft. Does nothing
 * where the intent is unknown, or its content was deleted.
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
    // A successor of what an undo brought back must not be taken for that.
    restores: undefined,
    replaces,
    command: getOrMakeCommandId(outbox),
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
 * where this one is wanted already. See `number-chain.ts` for the order of several.
 * @param value as normalizeRegistrationNumber makes it
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
 * Records that a find or record is to get a photograph, in place of the same picture with or
 * without its position.
 * @param occasion above 0 to send a picture again that the service had; see {@link PhotoIntent}
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
    const slot = { subject, slot: makeSlotName(intent) };
    const { heads } = getSlotState(outbox, slot);
    const { id } = storeIntent(outbox, intent);
    const body = { ...makeBody(outbox, id, heads), photograph: stored };
    appendWish(outbox, slot, body);
  });
}

/**
 * Returns the occasion by which {@link recordPhotoWish} sends a picture once more to a find or
 * record: 0 where it was never wanted there.
 * @param original digest of the picture, as {@link getOriginalDigest} returns it
 */
export function getNextPhotoOccasion(outbox: Outbox, subject: string, original: string): number {
  const occasions = outbox
    .sql(
      `select max(content ->> 'occasion') from intents where kind = 'photo' and subject = ? and content ->> 'original' = ?`,
    )
    .pluck()
    .get(subject, original);
  return typeof occasions === 'number' ? occasions + 1 : 0;
}

/**
 * Records that a find, or one number or photograph, is no longer to be sent; what was wanted stays
 * known for {@link restoreWish}. Where copies want two different intents, the other one is wanted
 * from then on. Does nothing where this one is neither wanted nor the last that was.
 * @param intent of a number or a photograph; a find is withdrawn with all its versions
 * @param as `dropped`: it is still shown; `removed`: it is hidden
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
 * Records that what {@link withdrawWish} withdrew is to be sent again; does nothing where something
 * is wanted, or nothing was withdrawn.
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
