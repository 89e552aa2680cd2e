import type { HarvestedElements } from '../find/fields.ts';
import {
  type HarvestedFind,
  listDifferingElements,
  parseHarvestedFind,
} from '../find/harvested-find.ts';
import {
  type FindHarvest,
  type HarvestedFinds,
  harvestFinds,
} from '../flows/harvest/harvest-finds.ts';
import type { Entry, ImportEntry } from '../outbox/entry.ts';
import { listAttempts, listFactsOfEntry } from '../outbox/entry-facts.ts';
import { findImportOfRecord, listLatestAccepted } from '../outbox/entry-queries.ts';
import { type FactOf, unpackAttempt } from '../outbox/facts.ts';
import { foldSlot } from '../outbox/fold.ts';
import { isImportSlot } from '../outbox/intents.ts';
import { findLastImportAttempt } from '../outbox/ledger.ts';
import { type Outbox, readHeader } from '../outbox/open-outbox.ts';
import { listAcceptedSince } from '../outbox/overview.ts';
import { listFindUuids } from '../outbox/stored-finds.ts';
import { getChild } from '../xml/element.ts';
import { parseXml } from '../xml/parse.ts';
import { getShownKind } from './judge-absence.ts';
import { findCreation, mayBeCreation } from './judge-import.ts';
import { findEarliestMs, getAttemptWindow, type View } from './verdict.ts';

export type Lookup = FindHarvest & {
  readonly outbox: Outbox;
  /** Account of the harvest; undefined for an anonymous harvest, or where it is unknown. */
  readonly harvester: string | undefined;
};

/** Margin of the harvest before the first attempt. */
const LOOK_BACK_MS = 24 * 3600 * 1000;
const MAX_CANARIES = 50;

/**
 * Harvests once for all uncertain entries and, where there is one, an accepted record of each kind.
 */
export async function gatherEvidence(context: Lookup, uncertain: readonly Entry[]): Promise<View> {
  const { outbox } = context;
  const canaries = listLatestAccepted(outbox, MAX_CANARIES);
  const fromMs = getHarvestBegin(outbox, uncertain, canaries);
  const harvest = await harvestFinds(context, fromMs);
  return makeView(context, harvest, canaries, listAcceptedSince(outbox, fromMs));
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
      findEarliestMs(outbox, entry) ??
      listAttempts(outbox, entry)[0]?.startedAt ??
      outbox.clock.now(),
  );
  const ofCanaries = canaries.flatMap((entry) => findEarliestMs(outbox, entry) ?? []);
  return Math.min(...begins, ...ofCanaries) - LOOK_BACK_MS;
}

/** Combines a harvest with the outbox's knowledge of its records. */
function makeView(
  context: Lookup,
  harvest: HarvestedFinds,
  canaries: readonly Entry[],
  accepted: ReadonlyMap<string, number>,
): View {
  const { outbox } = context;
  const finds = collectShown(harvest);
  const ofOthers = new Set(listFindsOfOthers(outbox).flatMap(({ records }) => records));
  return {
    finds,
    withheld: collectChanges(harvest, 'withheld'),
    deleted: collectChanges(harvest, 'deleted'),
    nowMs: harvest.beganMs,
    isOwned: (identCely, shown) => ofOthers.has(identCely) || isOwned(outbox, identCely, shown),
    readsAsSent: (identCely, shown) =>
      ofOthers.has(identCely) || isReadAs(outbox, findImportOfRecord(outbox, identCely), shown),
    shown: collectShownKinds(canaries, finds),
    harvester: context.harvester,
    index: {
      unlisted: new Map([...accepted].filter(([identCely]) => !harvest.lookups.has(identCely))),
      allowanceMs: context.indexAllowanceMs,
    },
  };
}

function collectShown({ lookups }: HarvestedFinds): Map<string, HarvestedFind> {
  return new Map(
    [...lookups].flatMap(([ident, lookup]) =>
      lookup.kind === 'shown' ? [[ident, lookup.record] as const] : [],
    ),
  );
}

function collectChanges(
  { lookups }: HarvestedFinds,
  kind: 'withheld' | 'deleted',
): Map<string, number> {
  return new Map(
    [...lookups].flatMap(([ident, lookup]) =>
      lookup.kind === kind ? [[ident, lookup.datestampMs] as const] : [],
    ),
  );
}

function collectShownKinds(
  canaries: readonly Entry[],
  finds: View['finds'],
): Map<string, Set<string>> {
  const kinds = new Map<string, Set<string>>();
  for (const { identCely } of canaries) {
    const find = finds.get(identCely ?? '');
    if (find === undefined) continue;
    const kind = getShownKind(find.elements, find.stav);
    kinds.set(kind, (kinds.get(kind) ?? new Set()).add(findCreation(find)?.user ?? ''));
  }
  return kinds;
}

function isOwned(outbox: Outbox, identCely: string, shown: HarvestedFind | undefined): boolean {
  const owner = findImportOfRecord(outbox, identCely);
  if (owner === undefined || shown === undefined) return owner !== undefined;
  // A person may have corrected it since.
  return isReadAs(outbox, owner, shown) || mayBeCreation(getAttemptWindow(outbox, owner), shown);
}

function isReadAs(outbox: Outbox, owner: ImportEntry | undefined, shown: HarvestedFind): boolean {
  const sent = owner === undefined ? undefined : parseSentElements(outbox, owner);
  return (
    sent !== undefined &&
    listDifferingElements(sent, shown).every((name) => name === 'evidencni_cislo')
  );
}

/** The last attempt of a find that only the ledger has, and its records. */
type FindOfOthers = {
  readonly attempt: FactOf<'attempted'>;
  readonly records: readonly string[];
};

/** Returns finds of other accounts or other outboxes that were attempted from this machine. */
export function listFindsOfOthers(outbox: Outbox): FindOfOthers[] {
  const { ledger } = outbox;
  if (ledger === undefined) return [];
  const ours = listFindUuids(outbox);
  return ledger.listAttemptedFinds(readHeader(outbox).service).flatMap((uuid) => {
    if (ours.has(uuid)) return [];
    const facts = ledger.listFactsOfSubject(uuid).filter(({ slot }) => isImportSlot(slot));
    const attempt = findLastImportAttempt(facts);
    return attempt === undefined ? [] : [{ attempt, records: foldSlot(facts).records }];
  });
}

/** Returns the elements of the document that was sent last, since the find may have been edited. */
export function parseSentElements(
  outbox: Outbox,
  entry: ImportEntry,
): HarvestedElements | undefined {
  const attempt = findLastImportAttempt(listFactsOfEntry(outbox, entry));
  const document =
    attempt === undefined
      ? (entry.document ?? undefined)
      : (unpackAttempt(attempt).content.document ?? undefined);
  if (document === undefined) return undefined;
  const bytes = typeof document === 'string' ? Buffer.from(document, 'utf8') : document;
  const find = getChild(parseXml(bytes).root, 'samostatny_nalez');
  return find === undefined ? undefined : parseHarvestedFind(find)?.elements;
}
