import { asServerMs, type ServerMs } from '../base/clock.ts';
import { msg } from '../base/message.ts';
import type { Entry, ImportEntry, NumberEntry, PhotoEntry } from '../outbox/entry.ts';
import { getSlotOf, listOpenAttempts } from '../outbox/entry-facts.ts';
import {
  findImportOfFind,
  listEntriesInState,
  listEntriesOfRecord,
  storeLookup,
} from '../outbox/entry-queries.ts';
import { appendFacts } from '../outbox/record-facts.ts';
import { storeMessage } from '../outbox/stored-text.ts';
import { releaseClaims } from '../outbox/unite.ts';
import { gatherEvidence, type Lookup, parseSentElements } from './evidence.ts';
import { judgeImports, type UncertainImport } from './judge-import.ts';
import { fetchCurrentRecord, judgeNumber, listNumbersFromHere } from './judge-number.ts';
import { judgePhoto, type RecordEvidence, type UncertainPhoto } from './judge-photograph.ts';
import { getAttemptWindow, type ReconciledEntry, type Verdict, type View } from './verdict.ts';

/**
 * Settles uncertain entries by harvest: a visible find or file settles its entry as accepted; a
 * proven absence queues it again; others are left to a person. The caller holds the push lock.
 * @param subjects keys of the records; undefined for all
 */
export async function reconcile(
  context: Lookup,
  subjects: readonly string[] | undefined,
): Promise<ReconciledEntry[]> {
  const { outbox } = context;
  // All are judged together, since a record may belong to any of them; only the requested ones are
  // settled.
  const uncertain = listEntriesInState(outbox, 'uncertain');
  const isRequested = (entry: Entry) => subjects === undefined || subjects.includes(entry.subject);
  if (!uncertain.some(isRequested)) return [];
  const imports = uncertain.filter((entry) => entry.kind === 'import');
  const view = await gatherEvidence(context, uncertain);
  const settled = applyAll(
    context,
    imports.filter(isRequested),
    judgeImportEntries(context, imports, view),
    view,
  );
  // Imports that were just found have set the record of their photographs and numbers.
  const open = listEntriesInState(outbox, 'uncertain').filter(isChange);
  const verdicts = await judgeChanges(context, open, view);
  return [...settled, ...applyAll(context, open.filter(isRequested), verdicts, view)];
}

function isChange(entry: Entry): entry is PhotoEntry | NumberEntry {
  return entry.kind !== 'import';
}

function judgeImportEntries({ outbox }: Lookup, entries: readonly ImportEntry[], view: View) {
  const uncertain = entries.flatMap((entry): UncertainImport[] => {
    const sent = parseSentElements(outbox, entry);
    return sent === undefined
      ? []
      : [{ entryId: entry.id, elements: sent, window: getAttemptWindow(outbox, entry) }];
  });
  return judgeImports(uncertain, view);
}

/** Judges photographs and numbers by record. Those of an uncertain find wait for its verdict. */
async function judgeChanges(
  context: Lookup,
  entries: readonly (PhotoEntry | NumberEntry)[],
  view: View,
) {
  const verdicts = new Map<number, Verdict>();
  for (const entry of entries.filter(({ identCely }) => identCely === null)) {
    const verdict = judgeWithoutRecord(context, entry);
    if (verdict !== undefined) verdicts.set(entry.id, verdict);
  }
  const records = new Set(entries.flatMap((entry) => entry.identCely ?? []));
  let looked = 0;
  for (const identCely of records) {
    context.onProgress?.(looked++, records.size);
    const record = await fetchCurrentRecord(context, identCely);
    const ofRecord = entries.filter((entry) => entry.identCely === identCely);
    const photos = ofRecord.filter((entry) => entry.kind === 'photo');
    for (const [id, verdict] of judgePhotos(context, identCely, photos, record, view))
      verdicts.set(id, verdict);
    for (const entry of ofRecord) {
      if (entry.kind === 'number')
        verdicts.set(entry.id, judgeNumberEntry(context, entry, record, view));
    }
  }
  return verdicts;
}

function judgeWithoutRecord({ outbox }: Lookup, { findId }: Entry): Verdict | undefined {
  const importEntry = findId === null ? undefined : findImportOfFind(outbox, findId);
  if (importEntry?.state !== 'queued') return undefined;
  return {
    kind: 'absent',
    basis: 'find-absent',
    reason: msg`its find is not in the service, so it cannot have been sent`,
    candidates: [],
  };
}

function judgePhotos(
  { outbox }: Lookup,
  identCely: string,
  entries: readonly PhotoEntry[],
  record: RecordEvidence,
  view: View,
): [number, Verdict][] {
  const toUncertainPhoto = (entry: PhotoEntry): UncertainPhoto => ({
    entryId: entry.id,
    identCely,
    fileName: entry.photograph.name,
    sha512Hex: entry.photograph.sha512.toString('hex'),
    window: getAttemptWindow(outbox, entry),
  });
  const uncertain = entries.map(toUncertainPhoto);
  const accepted = listEntriesOfRecord(outbox, identCely).filter(
    ({ state }) => state === 'accepted',
  );
  const settled = accepted.flatMap((entry) =>
    entry.kind === 'photo' ? [toUncertainPhoto(entry)] : [],
  );
  return uncertain.map((judged) => [
    judged.entryId,
    judgePhoto(judged, uncertain, settled, record, view),
  ]);
}

function judgeNumberEntry(
  { outbox }: Lookup,
  entry: NumberEntry,
  record: RecordEvidence,
  view: View,
): Verdict {
  const { identCely, value } = entry;
  const knownNumbers = listNumbersFromHere(outbox, entry);
  return judgeNumber(
    { identCely: identCely ?? '', value, knownNumbers, window: getAttemptWindow(outbox, entry) },
    record,
    view,
  );
}

function applyAll(
  context: Lookup,
  entries: readonly Entry[],
  verdicts: ReadonlyMap<number, Verdict>,
  view: View,
): ReconciledEntry[] {
  return entries.flatMap((entry) => {
    const verdict = verdicts.get(entry.id);
    if (verdict === undefined) return [];
    applyVerdict(context, entry, verdict, asServerMs(Math.floor(view.nowMs)));
    return [{ entry, verdict }];
  });
}

function applyVerdict(
  { outbox, harvester }: Lookup,
  entry: Entry,
  verdict: Verdict,
  now: ServerMs,
): void {
  outbox.change(() => {
    const { basis, reason, candidates } = verdict;
    const at = Math.floor(outbox.clock.now());
    if (verdict.kind === 'undecided') {
      storeLookup(outbox, entry.id, { at, serverAt: now, basis, reason, candidates });
      return;
    }
    const identCely = verdict.kind === 'found' ? verdict.identCely : null;
    appendFacts(outbox, [
      {
        kind: verdict.kind === 'found' ? 'matched' : 'absent',
        subject: entry.subject,
        slot: getSlotOf(outbox, entry),
        body: {
          attempts: listOpenAttempts(outbox, entry),
          identCely,
          at,
          serverMs: now,
          basis,
          reason: storeMessage(reason),
          candidates,
          account: harvester ?? null,
        },
      },
    ]);
    if (identCely !== null && entry.kind === 'import') releaseClaims(outbox, identCely);
  });
}
