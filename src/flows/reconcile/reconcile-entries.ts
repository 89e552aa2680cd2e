import { msg } from '../../base/message.ts';
import { applySettlement } from '../../outbox/claims.ts';
import { entriesInState, entriesOfRecord, importOfFind } from '../../outbox/entries.ts';
import type { Entry, ImportEntry, NumberEntry, PhotoEntry } from '../../outbox/entry.ts';
import { recordEvidence } from '../../outbox/evidence.ts';
import { gapsOf, isHeldByGap } from '../../outbox/gaps.ts';
import { againAt } from '../../outbox/tries.ts';
import { takeFromOwner } from './change-owner.ts';
import { windowOf } from './doubt-window.ts';
import { type Evidence, elementsSent, gatherEvidence, type LookContext } from './gather-evidence.ts';
import { type ImportDoubt, judgeImports } from './judge-doubt.ts';
import { currentRecord, judgeNumber, numbersFromHere, settlesNumber } from './judge-number.ts';
import { judgePhoto, type PhotoDoubt, type RecordEvidence } from './judge-photograph.ts';
import { narrowGaps } from './narrow-gaps.ts';
import type { Verdict } from './verdict.ts';

type ReconcileContext = LookContext & {
  /** Only the records of these keys, or all. */
  readonly recordKeys: readonly string[] | undefined;
};

export type Reconciled = {
  readonly entry: Entry;
  readonly verdict: Verdict;
};

/**
 * Settles uncertain entries by what the harvest shows: a find or file that is there settles its entry as accepted; one
 * that is proven not to be there is queued again; the rest is left to a person. To be called while holding the lease.
 */
export async function reconcile(context: ReconcileContext): Promise<Reconciled[]> {
  const { outbox, recordKeys } = context;
  // All are judged together, since a record may be any of several; only those that were asked for are settled.
  const uncertain = entriesInState(outbox, 'uncertain');
  const asked = (entry: Entry) => recordKeys === undefined || recordKeys.includes(entry.recordKey);
  const imports = uncertain.filter((entry) => entry.kind === 'import');
  const changes = uncertain.filter(isChange);
  const gaps = gapsOf(outbox);
  if (![...imports, ...changes].some(asked) && gaps.length === 0) return [];
  const view = await gatherEvidence(context, [...imports, ...changes], gaps);
  const settled = applyAll(context, imports.filter(asked), judgeImportEntries(context, imports, view), view);
  // An import that was found has given its photographs and numbers their record.
  const open = entriesInState(outbox, 'uncertain').filter(isChange);
  const verdicts = await judgeChanges(context, open, view);
  const all = [...settled, ...applyAll(context, open.filter(asked), verdicts, view)];
  if (gaps.length > 0) narrowGaps(context, gaps, view);
  return all;
}

function isChange(entry: Entry): entry is PhotoEntry | NumberEntry {
  return entry.kind !== 'import';
}

export function judgeImportEntries(context: LookContext, entries: readonly ImportEntry[], view: Evidence) {
  const doubts = entries.flatMap((entry): ImportDoubt[] => {
    const sent = elementsSent(entry);
    if (sent === undefined) return [];
    const window = windowOf(context, entry, view);
    return [{ entryId: entry.id, elements: sent, window, numberMayDiffer: entry.doubt !== null, addedSince: isHeldByGap(entry) }];
  });
  return judgeImports(doubts, view);
}

/** Photographs and numbers, record by record. Those of a find that is itself in doubt wait for its verdict. */
async function judgeChanges(context: LookContext, entries: readonly (PhotoEntry | NumberEntry)[], view: Evidence) {
  const verdicts = new Map<number, Verdict>();
  for (const entry of entries.filter(({ identCely }) => identCely === null)) {
    const verdict = judgeWithoutRecord(context, entry);
    if (verdict !== undefined) verdicts.set(entry.id, verdict);
  }
  const records = new Set(entries.flatMap((entry) => entry.identCely ?? []));
  let looked = 0;
  for (const identCely of records) {
    context.onProgress?.(looked++, records.size);
    const record = await currentRecord(context, identCely);
    const ofRecord = entries.filter((entry) => entry.identCely === identCely);
    const photos = ofRecord.filter((entry) => entry.kind === 'photo');
    for (const [id, verdict] of judgePhotos(context, identCely, photos, record, view)) verdicts.set(id, verdict);
    for (const entry of ofRecord) {
      if (entry.kind === 'number') verdicts.set(entry.id, verdictOnNumber(context, entry, record, view));
    }
  }
  return verdicts;
}

function judgeWithoutRecord({ outbox }: LookContext, { findId }: Entry): Verdict | undefined {
  const made = findId === null ? undefined : importOfFind(outbox, findId);
  if (made?.state !== 'queued') return undefined;
  return {
    kind: 'absent',
    basis: 'find-absent',
    reason: msg`its find is not at the service, so it cannot have been sent`,
    candidates: [],
  };
}

function judgePhotos(
  context: LookContext,
  identCely: string,
  entries: readonly PhotoEntry[],
  record: RecordEvidence,
  view: Evidence,
): [number, Verdict][] {
  const doubtOf = (entry: PhotoEntry): PhotoDoubt => ({
    entryId: entry.id,
    identCely,
    fileName: entry.photograph.name,
    sha512Hex: entry.photograph.sha512.toString('hex'),
    window: windowOf(context, entry, view),
  });
  const doubts = entries.map(doubtOf);
  const settled = acceptedOf(context, identCely).flatMap((entry) => (entry.kind === 'photo' ? [doubtOf(entry)] : []));
  return doubts.map((doubt) => [doubt.entryId, judgePhoto(doubt, doubts, settled, record, view)]);
}

/** What the record is known to have been given. */
function acceptedOf({ outbox }: LookContext, identCely: string): Entry[] {
  return entriesOfRecord(outbox, identCely).filter(({ state }) => state === 'accepted');
}

/** One that was not restored from an older copy may be sent again, unless somebody else has given the record another. */
function verdictOnNumber(context: LookContext, entry: NumberEntry, record: RecordEvidence, view: Evidence): Verdict {
  const { identCely, value, doubt } = entry;
  const known = numbersFromHere(context.outbox, entry);
  const verdict = judgeNumber({ identCely: identCely ?? '', value, known, window: windowOf(context, entry, view) }, record, view);
  return doubt !== null || settlesNumber(verdict) ? verdict : { ...verdict, kind: 'absent' };
}

function applyAll(
  context: LookContext,
  entries: readonly Entry[],
  verdicts: ReadonlyMap<number, Verdict>,
  { nowMs }: Evidence,
): Reconciled[] {
  return entries.flatMap((entry) => {
    const verdict = verdicts.get(entry.id);
    if (verdict === undefined) return [];
    applyVerdict(context, entry, verdict, nowMs);
    return [{ entry, verdict }];
  });
}

export function applyVerdict({ outbox }: LookContext, entry: Entry, verdict: Verdict, serverAt: number): void {
  outbox.change(() => {
    const { kind, basis, reason, candidates } = verdict;
    recordEvidence(outbox, entry.id, { serverAt, verdict: kind, basis, reason, candidates });
    if (verdict.kind === 'found') {
      if (entry.kind === 'import') takeFromOwner(outbox, entry, verdict.identCely);
      applySettlement(outbox, entry, { state: 'accepted', identCely: verdict.identCely, reason: verdict.reason });
    } else if (verdict.kind === 'absent') {
      applySettlement(outbox, entry, { state: 'queued', reason: verdict.reason, notBeforeAt: againAt(outbox, entry.id) });
    }
  });
}
