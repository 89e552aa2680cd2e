import { UsageError } from '../../base/errors.ts';
import { hasErrors, type Issue } from '../../base/issue.ts';
import { cmd, msg } from '../../base/message.ts';
import { findNumberProblem } from '../../find/value-rules.ts';
import {
  addNumber,
  addPhoto,
  entriesOfTarget,
  importOfFind,
  replaceNumber,
  replacePhoto,
  type Target,
} from '../../outbox/entries.ts';
import type { Entry, NumberEntry, PhotoEntry } from '../../outbox/entry.ts';
import { lastNumber, mayHaveArrived } from '../../outbox/latest-number.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { findByIdentCely, findByLocalId } from '../../outbox/stored-finds.ts';
import type { Kept, PhotographKeeping } from './kept-photographs.ts';

/** Form of the service's find identifiers; the contract leaves it open, so this only tells a typing error from a record. */
const LOOKS_LIKE_IDENT = /^(X-)?[A-Z]-[A-Za-z0-9-]+-N\d+$/;

/**
 * The record that FIND names: a local id, or the service's identifier (also of a record that is not kept here).
 * @throws UsageError when it is neither
 */
export function targetOf(outbox: ServiceOutbox, find: string): Target {
  const stored = findByLocalId(outbox, find) ?? findByIdentCely(outbox, find);
  if (stored !== undefined) {
    return { findId: stored.id, identCely: importOfFind(outbox, stored.id)?.identCely ?? null };
  }
  if (looksLikeIdent(find)) return { findId: null, identCely: find };
  throw new UsageError(msg`There is no find ${find}.`, {
    hint: msg`FIND is a local id (\`${cmd`pas list`}\` shows them) or the identifier given by the service.`,
  });
}

export function looksLikeIdent(text: string): boolean {
  return LOOKS_LIKE_IDENT.test(text);
}

export type NumberChange = 'queued' | 'replaced' | 'kept';

/** What queueing this number would come to. */
export function numberChange(outbox: ServiceOutbox, target: Target, value: string): NumberChange {
  return changeOf(lastHere(outbox, target), value);
}

function lastHere(outbox: ServiceOutbox, target: Target): NumberEntry | undefined {
  return lastNumber(outbox, asItIsNow(outbox, target), ['dropped']);
}

function changeOf(last: NumberEntry | undefined, value: string): NumberChange {
  if (last?.value === value && last.state !== 'refused') return 'kept';
  return last?.state === 'queued' || last?.state === 'refused' ? 'replaced' : 'queued';
}

/**
 * Queues a registration number; one that waits unsent for the same find is replaced.
 * @throws UsageError when the service would refuse the value (contract, "PATCH …/evidencni-cislo")
 */
export function enqueueNumber(outbox: ServiceOutbox, target: Target, rawValue: string): NumberChange {
  const value = rawValue.trim();
  if (value === '')
    throw new UsageError(msg`The registration number is empty.`, { hint: msg`A number cannot be removed, only changed.` });
  const unfit = findNumberProblem(value);
  if (unfit !== undefined) throw new UsageError(unfit.problem);
  return outbox.change(() => {
    const last = lastHere(outbox, target);
    const change = changeOf(last, value);
    // One that may have reached the service is kept, with its value, for as long as it may come to stand there.
    const isOwn = last?.username === outbox.username;
    if (change === 'replaced' && isOwn && !mayHaveArrived(outbox, last)) replaceNumber(outbox, last, value);
    else if (change !== 'kept') addNumber(outbox, asItIsNow(outbox, target), value);
    return change;
  });
}

export type PhotoChange = 'queued' | 'requeued' | 'replaced' | 'kept';

/**
 * Queues a photograph, unless it is queued or sent for this record already, with or without its place. One that was refused is
 * queued again: whoever asks for it has mended what was wrong.
 */
export function enqueuePhoto(outbox: ServiceOutbox, target: Target, photograph: Kept): PhotoChange {
  return outbox.change(() => {
    const same = entriesOfTarget(outbox, target).filter(
      (entry) => entry.state !== 'dropped' && isSamePhotograph(entry, photograph),
    );
    const [first] = same;
    if (first?.state === 'refused') {
      replacePhoto(outbox, first, photograph);
      return 'requeued';
    }
    if (first !== undefined) return replaceCounterpart(outbox, same, photograph) ? 'replaced' : 'kept';
    addPhoto(outbox, asItIsNow(outbox, target), photograph);
    return 'queued';
  });
}

type AddedPhotograph = {
  /** Undefined for what the service would refuse. */
  readonly change: PhotoChange | undefined;
  readonly isStripped: boolean;
  readonly issues: readonly Issue[];
};

/** Looks at a photograph, keeps it and queues it, unless something is wrong with it. */
export async function addPhotograph(
  outbox: ServiceOutbox,
  target: Target,
  path: string,
  { inspectPhotograph, keepPhotograph }: PhotographKeeping,
): Promise<AddedPhotograph> {
  const { photograph, issues } = await inspectPhotograph(path);
  if (photograph === undefined || hasErrors(issues)) return { change: undefined, isStripped: false, issues };
  const kept = await keepPhotograph(photograph);
  return { change: enqueuePhoto(outbox, target, kept), isStripped: kept.isStripped === true, issues };
}

function isSamePhotograph(entry: Entry, { sha512, counterpartSha512Hex }: Kept): entry is PhotoEntry {
  if (entry.kind !== 'photo') return false;
  return entry.photograph.sha512.equals(sha512) || entry.photograph.sha512.toString('hex') === counterpartSha512Hex;
}

/** Where the photograph waits unsent with its place, and is wanted without, it waits without from now on. */
export function replaceCounterpart(outbox: ServiceOutbox, entries: readonly Entry[], photograph: Kept): boolean {
  if (photograph.isStripped !== true) return false;
  const counterpart = entries.find((entry) => entry.state === 'queued' && isCounterpart(entry, photograph));
  if (counterpart === undefined) return false;
  replacePhoto(outbox, counterpart, photograph);
  return true;
}

function isCounterpart(entry: Entry, { counterpartSha512Hex }: Kept): boolean {
  return entry.kind === 'photo' && entry.photograph.sha512.toString('hex') === counterpartSha512Hex;
}

/** A push may have sent the find since the target was looked up; what did not know its identifier would wait for ever. */
function asItIsNow(outbox: ServiceOutbox, target: Target): Target {
  if (target.findId === null) return target;
  return { ...target, identCely: importOfFind(outbox, target.findId)?.identCely ?? null };
}
