import { differingElements, type HarvestedElements, type HarvestedFind, readHarvestedFind } from '../../find/harvested-find.ts';
import type { Entry, ImportEntry } from '../../outbox/entry.ts';
import type { Gap } from '../../outbox/gaps.ts';
import { attemptsOf } from '../../outbox/journal.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { acceptedSince, latestAccepted, ownerOf } from '../../outbox/owners.ts';
import type { ServerNow } from '../../outbox/server-time.ts';
import { childOf } from '../../xml/element.ts';
import { parseXml } from '../../xml/parse.ts';
import { type FindHarvest, type HarvestedFinds, harvestFinds } from '../harvest/harvest-finds.ts';
import { earliestMs, inServerTime, windowOf } from './doubt-window.ts';
import { shownKindOf } from './judge-absence.ts';
import { couldBeMade, makingOf } from './judge-doubt.ts';
import type { View } from './verdict.ts';

export type LookContext = FindHarvest & {
  readonly outbox: ServiceOutbox;
  /** The service's identifier of the account; what it may have sent without this outbox knowing counts as its. */
  readonly user: string | undefined;
  /** The one that the harvest is signed in as; undefined for nobody, or where that is not known. */
  readonly harvester: string | undefined;
  /** How long after an attempt the service may still be working on it. */
  readonly settleMs: number;
};

export type Evidence = View & ServerNow;

/** How far before the first attempt the harvest begins. */
const LOOK_BACK_MS = 24 * 3600 * 1000;
const MOST_CANARIES = 50;

/** One harvest that covers all doubts and, where there is one, a canary for each state. */
export async function gatherEvidence(context: LookContext, doubts: readonly Entry[], gaps: readonly Gap[]): Promise<Evidence> {
  const { outbox, clock } = context;
  const canaries = latestAccepted(outbox, MOST_CANARIES);
  /** Undefined where a doubt may be as old as it likes: no answer was given before it, and none near it. */
  const beginOf = (now: ServerNow): number | undefined => {
    const begins = doubts.map((entry) => earliestMs(outbox, entry, now));
    if (begins.includes(undefined)) return undefined;
    return Math.min(
      now.nowMs,
      ...begins.map((begin) => begin ?? now.nowMs),
      ...canaries.map((entry) => earliestMs(outbox, entry, now) ?? now.nowMs),
      ...gaps.map((gap) => inServerTime(gap, now).fromMs),
    );
  };
  const guessed = beginOf({ nowMs: clock.now(), offsetMs: 0 });
  let from = guessed === undefined ? undefined : guessed - LOOK_BACK_MS;
  let harvest = await harvestFinds(context, from ?? null);
  const now = { nowMs: harvest.beganMs, offsetMs: harvest.beganMs - clock.now() };
  // Only now is it known how wrong this machine's clock is.
  const begin = beginOf(now);
  if (from !== undefined && (begin === undefined || begin < from)) {
    from = begin === undefined ? undefined : begin - LOOK_BACK_MS;
    harvest = await harvestFinds(context, from ?? null);
  }
  const accepted = acceptedSince(outbox, from ?? 0, now.offsetMs);
  const finds = shownIn(harvest);
  return {
    finds,
    withheld: changesOf(harvest, 'withheld'),
    deleted: changesOf(harvest, 'deleted'),
    ...now,
    isOwned: (identCely, shown) => isOwned(context, now, identCely, shown),
    readsAsSent: (identCely, shown) => readsAs(ownerOf(outbox, identCely), shown),
    shown: shownKindsOf(canaries, finds),
    harvester: context.harvester,
    index: {
      unlisted: new Map([...accepted].filter(([identCely]) => !harvest.lookups.has(identCely))),
      allowanceMs: context.indexAllowanceMs,
    },
  };
}

function shownIn({ lookups }: HarvestedFinds): Map<string, HarvestedFind> {
  return new Map([...lookups].flatMap(([ident, lookup]) => (lookup.kind === 'shown' ? [[ident, lookup.record] as const] : [])));
}

function changesOf({ lookups }: HarvestedFinds, kind: 'withheld' | 'deleted'): Map<string, number> {
  return new Map([...lookups].flatMap(([ident, lookup]) => (lookup.kind === kind ? [[ident, lookup.datestampMs] as const] : [])));
}

function shownKindsOf(canaries: readonly Entry[], finds: View['finds']): Map<string, Set<string>> {
  const kinds = new Map<string, Set<string>>();
  for (const { identCely } of canaries) {
    const find = finds.get(identCely ?? '');
    if (find === undefined) continue;
    const kind = shownKindOf(find.elements, find.stav);
    kinds.set(kind, (kinds.get(kind) ?? new Set()).add(makingOf(find)?.user ?? ''));
  }
  return kinds;
}

function isOwned(context: LookContext, now: ServerNow, identCely: string, shown: HarvestedFind | undefined): boolean {
  const owner = ownerOf(context.outbox, identCely);
  if (owner === undefined || shown === undefined) return owner !== undefined;
  // Somebody may have corrected it since.
  return readsAs(owner, shown) || wasMadeAs(context, now, owner, shown);
}

function readsAs(owner: ImportEntry | undefined, shown: HarvestedFind): boolean {
  const sent = owner === undefined ? undefined : elementsSent(owner);
  return sent !== undefined && differingElements(sent, shown).every((name) => name === 'evidencni_cislo');
}

function wasMadeAs(context: LookContext, now: ServerNow, owner: ImportEntry, shown: HarvestedFind): boolean {
  const answered = attemptsOf(context.outbox, owner.id).some(({ outcome }) => outcome === 'accepted');
  // An answer ends the time in which it can have been made.
  return couldBeMade(windowOf({ ...context, settleMs: answered ? 0 : context.settleMs }, owner, now), shown);
}

/** From the document itself: the find may have been edited since, for another service. */
export function elementsSent({ document }: ImportEntry): HarvestedElements | undefined {
  const find = document === null ? undefined : childOf(parseXml(document).root, 'samostatny_nalez');
  return find === undefined ? undefined : readHarvestedFind(find)?.elements;
}
