import { asServerMs, type ServerMs } from '../base/clock.ts';
import { msg } from '../base/message.ts';
import { countDifferencesBesideNumber, type HarvestedFind } from '../finds/harvested-find.ts';
import {
  type FindHarvest,
  type FindLookup,
  fetchFindRecord,
  type HarvestedFinds,
  harvestFinds,
} from '../harvest/pull-finds.ts';
import { appendFacts } from '../outbox/append-facts.ts';
import { detachSharedRecord, listAttempts, listUnsettledAttemptIds } from '../outbox/attempts.ts';
import type { Entry, ImportEntry, NumberEntry, PhotoEntry } from '../outbox/entry.ts';
import {
  findImportOfFind,
  findImportOfRecord,
  listEntriesInState,
  listEntriesOfRecord,
  listLatestAcceptedImports,
  storeLookup,
} from '../outbox/entry-queries.ts';
import { makeStoredMessage } from '../outbox/facts.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { getAcceptedMsByRecord } from '../outbox/views/outbox-status.ts';
import { judgeNumber, judgePhoto, listNumbersFromHere, toSentPhotos } from './judge-change.ts';
import {
  findCreationEvent,
  getAttemptWindow,
  getSentElements,
  type HarvestView,
  isMadeByImport,
  judgeImports,
  listSentImports,
  makeAbsentVerdict,
  makeVisibilityKey,
  type ReconciledEntry,
  type Verdict,
} from './judge-import.ts';
import { listSentByOtherAccounts } from './other-accounts.ts';

/** Means of searching the service for what an outbox has sent. */
export type SearchContext = FindHarvest & {
  readonly outbox: Outbox;
  /** Account of the harvest; undefined for an anonymous harvest, or where it is unknown. */
  readonly harvester: string | undefined;
};

/**
 * Tells if the harvest has the rights of the account: then it shows the account's own record
 * (B-SEE-12). A service or proxy may ignore the sign-in. True where there is no such record.
 */
export async function isSignedIn(lookup: SearchContext, account: string): Promise<boolean> {
  const own = await fetchFindRecord(lookup, account);
  return own.kind !== 'withheld';
}

/**
 * Settles uncertain entries by a harvest: an entry is accepted where the harvest shows what it
 * sent, and queued again where absence is proven; any other judged entry stays uncertain, with the
 * reason. The caller holds the push lock.
 * @param subjects those whose entries are settled; undefined for all
 * @returns the judged entries as they were before. Left out are imports whose content is not known
 * any more, and photographs and numbers whose import is uncertain itself
 * @throws as {@link harvestFinds}: what was settled before stays settled; XmlSyntaxError where a
 * stored document is damaged
 */
export async function reconcileEntries(
  context: SearchContext,
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
    judgeImports(listSentImports(outbox, imports), view),
    view,
  );
  // Imports that were just found have set the record of their photographs and numbers.
  const open = listEntriesInState(outbox, 'uncertain').filter(isChange);
  const verdicts = await fetchChangeVerdicts(context, open, view);
  return [...settled, ...applyAll(context, open.filter(isRequested), verdicts, view)];
}

function isChange(entry: Entry): entry is PhotoEntry | NumberEntry {
  return entry.kind !== 'import';
}

/** Judges photographs and numbers by record. Those of an uncertain find wait for its verdict. */
async function fetchChangeVerdicts(
  context: SearchContext,
  entries: readonly (PhotoEntry | NumberEntry)[],
  view: HarvestView,
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
    const listed = await fetchFindRecord(context, identCely);
    const ofRecord = entries.filter((entry) => entry.identCely === identCely);
    const photos = ofRecord.filter((entry) => entry.kind === 'photo');
    for (const [id, verdict] of judgePhotos(context, identCely, photos, listed, view))
      verdicts.set(id, verdict);
    for (const entry of ofRecord) {
      if (entry.kind === 'number')
        verdicts.set(entry.id, judgeNumberEntry(context, entry, listed, view));
    }
  }
  return verdicts;
}

function judgeWithoutRecord({ outbox }: SearchContext, { subject }: Entry): Verdict | undefined {
  if (findImportOfFind(outbox, subject)?.state !== 'queued') return undefined;
  return makeAbsentVerdict(
    'find-absent',
    msg`its find is not in the service, so it cannot have been sent`,
  );
}

function judgePhotos(
  { outbox }: SearchContext,
  identCely: string,
  entries: readonly PhotoEntry[],
  listed: FindLookup,
  view: HarvestView,
): [number, Verdict][] {
  const uncertain = toSentPhotos(outbox, entries);
  const accepted = listEntriesOfRecord(outbox, identCely).filter(
    (entry): entry is PhotoEntry => entry.kind === 'photo' && entry.state === 'accepted',
  );
  const settled = toSentPhotos(outbox, accepted);
  return uncertain.map((judged) => [
    judged.entryId,
    judgePhoto(judged, uncertain, settled, listed, view),
  ]);
}

function judgeNumberEntry(
  { outbox }: SearchContext,
  entry: NumberEntry,
  listed: FindLookup,
  view: HarvestView,
): Verdict {
  const { identCely, value } = entry;
  const knownNumbers = listNumbersFromHere(outbox, entry);
  return judgeNumber(
    { identCely: identCely ?? '', value, knownNumbers, window: getAttemptWindow(outbox, entry) },
    listed,
    view,
  );
}

function applyAll(
  context: SearchContext,
  entries: readonly Entry[],
  verdicts: ReadonlyMap<number, Verdict>,
  view: HarvestView,
): ReconciledEntry[] {
  return entries.flatMap((entry) => {
    const verdict = verdicts.get(entry.id);
    if (verdict === undefined) return [];
    applyVerdict(context, entry, verdict, asServerMs(Math.floor(view.nowMs)));
    return [{ entry, verdict }];
  });
}

/** Stores a verdict: as a fact, or where it is undecided as the last lookup of the entry. */
function applyVerdict(
  { outbox }: SearchContext,
  entry: Entry,
  verdict: Verdict,
  now: ServerMs,
): void {
  outbox.change(() => {
    const { basis, reason, candidates } = verdict;
    const at = outbox.clock.now();
    if (verdict.kind === 'undecided') {
      storeLookup(outbox, entry.id, { at, serverAt: now, basis, reason, candidates });
      return;
    }
    const identCely = verdict.kind === 'found' ? verdict.identCely : null;
    appendFacts(outbox, [
      {
        kind: verdict.kind === 'found' ? 'matched' : 'absent',
        subject: entry.subject,
        slot: entry.slot,
        body: {
          attempts: listUnsettledAttemptIds(outbox, entry),
          identCely,
          at,
          serverMs: now,
          basis,
          reason: makeStoredMessage(reason),
          candidates,
        },
      },
    ]);
    if (identCely !== null && entry.kind === 'import') detachSharedRecord(outbox, identCely);
  });
}

/** Margin of the harvest before the first attempt. */
const LOOK_BACK_MS = 24 * 3600 * 1000;
const MAX_CANARIES = 50;

/**
 * Harvests once for all uncertain entries, and for the imports that were accepted last: these tell
 * which records the harvest would show.
 */
async function gatherEvidence(
  context: SearchContext,
  uncertain: readonly Entry[],
): Promise<HarvestView> {
  const { outbox } = context;
  const canaries = listLatestAcceptedImports(outbox, MAX_CANARIES);
  const fromMs = getHarvestBegin(outbox, uncertain, canaries);
  const harvest = await harvestFinds(context, fromMs);
  return makeView(context, harvest, canaries, getAcceptedMsByRecord(outbox, fromMs));
}

/**
 * Returns the begin of the harvest; without a server time by the wall clock, and then the evidence
 * is only displayed.
 */
function getHarvestBegin(
  outbox: Outbox,
  uncertain: readonly Entry[],
  canaries: readonly Entry[],
): number {
  const begins = uncertain.map(
    (entry) =>
      getAttemptWindow(outbox, entry).bounds?.fromMs ??
      listAttempts(outbox, entry)[0]?.startedAt ??
      outbox.clock.now(),
  );
  const ofCanaries = canaries.flatMap(
    (entry) => getAttemptWindow(outbox, entry).bounds?.fromMs ?? [],
  );
  return Math.min(...begins, ...ofCanaries) - LOOK_BACK_MS;
}

/** Combines a harvest with the outbox's knowledge of its records. */
function makeView(
  context: SearchContext,
  harvest: HarvestedFinds,
  canaries: readonly Entry[],
  accepted: ReadonlyMap<string, number>,
): HarvestView {
  const { outbox } = context;
  const recordsOfOthers = new Set(
    listSentByOtherAccounts(outbox).finds.flatMap(({ records }) => records),
  );
  return {
    lookups: harvest.lookups,
    finds: listShownRecords(harvest),
    nowMs: harvest.beganMs,
    isExplained: (identCely, shown) =>
      recordsOfOthers.has(identCely) || isRecordOfFindHere(outbox, identCely, shown),
    countDifferencesOfOwner: (identCely, shown) =>
      recordsOfOthers.has(identCely)
        ? 0
        : countDifferencesOfOwner(outbox, findImportOfRecord(outbox, identCely), shown),
    shown: collectShownKinds(canaries, harvest),
    harvester: context.harvester,
    index: {
      unlisted: new Map([...accepted].filter(([identCely]) => !harvest.lookups.has(identCely))),
      allowanceMs: context.indexAllowanceMs,
    },
  };
}

/** Returns those records of a harvest whose content it shows. */
export function listShownRecords({ lookups }: HarvestedFinds): HarvestedFind[] {
  return [...lookups.values()].flatMap((listed) =>
    listed.kind === 'shown' ? [listed.record] : [],
  );
}

function collectShownKinds(
  canaries: readonly Entry[],
  { lookups }: HarvestedFinds,
): Map<string, Set<string>> {
  const kinds = new Map<string, Set<string>>();
  for (const { identCely } of canaries) {
    const listed = lookups.get(identCely ?? '');
    if (listed?.kind !== 'shown') continue;
    const { record } = listed;
    const kind = makeVisibilityKey(record.elements, record.stav);
    kinds.set(kind, (kinds.get(kind) ?? new Set()).add(findCreationEvent(record)?.user ?? ''));
  }
  return kinds;
}

/**
 * Tells if a record belongs to an accepted import of this outbox.
 * @param shown the record as it is now, which must not contradict the import then, since a service
 * that was restored assigns an identifier a second time: its maker and time fit or are unknown, a
 * person named it, or its content is equal except the number
 * @throws XmlSyntaxError where the stored document is damaged
 */
export function isRecordOfFindHere(
  outbox: Outbox,
  identCely: string,
  shown?: HarvestedFind,
): boolean {
  const owner = findImportOfRecord(outbox, identCely);
  if (owner === undefined || shown === undefined) return owner !== undefined;
  return (
    isMadeByImport(outbox, owner, shown) || countDifferencesOfOwner(outbox, owner, shown) === 0
  );
}

/** At least one where it is not known what was sent. */
function countDifferencesOfOwner(
  outbox: Outbox,
  owner: ImportEntry | undefined,
  shown: HarvestedFind,
): number {
  const sent = owner === undefined ? undefined : getSentElements(outbox, owner);
  return sent === undefined ? 1 : countDifferencesBesideNumber(sent, shown);
}
