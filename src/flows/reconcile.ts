import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type HarvestedElements, type HarvestedFind, readHarvestedFind } from '../find/harvested-find.ts';
import { entityOf } from '../oai/record.ts';
import { applySettlement } from '../outbox/claims.ts';
import { entriesInState, entriesOfRecord, move, selectEntries } from '../outbox/entries.ts';
import type { Entry, ImportEntry, PhotoEntry } from '../outbox/entry.ts';
import { recordEvidence } from '../outbox/evidence.ts';
import { attemptsOf, nearestServerOffsetMs } from '../outbox/journal.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { childOf } from '../xml/element.ts';
import { parseXml } from '../xml/parse.ts';
import { type Harvest, type HarvestedFinds, harvestFinds } from './harvest-finds.ts';
import {
  type ImportDoubt,
  judgeImports,
  judgePhoto,
  type PhotoDoubt,
  sightOf,
  type Verdict,
  type View,
  type Window,
} from './judge-doubt.ts';

export type ReconcileContext = Harvest & {
  readonly outbox: Outbox;
  readonly profile: string;
  /** The account's own identifier at the service. */
  readonly user: string | undefined;
  /** How long after an attempt the service may still be working on it. */
  readonly settleMs: number;
  /** Only these finds, or all. */
  readonly findIds: readonly number[] | undefined;
};

export type Reconciled = {
  readonly entry: Entry;
  readonly verdict: Verdict;
};

/** How far before the first attempt the harvest begins: a clock that was wrong by hours hides nothing. */
const LOOK_BACK_MS = 24 * 3600 * 1000;
const MOST_CANARIES = 50;
const OVERLAP_MS = 2000;

/**
 * Settles uncertain entries by what the harvest shows: a find or file that is there settles its entry as accepted; one
 * that is proven not to be there is queued again; the rest is left to a person. To be called while holding the lease.
 */
export async function reconcile(context: ReconcileContext): Promise<Reconciled[]> {
  const { outbox, profile, findIds } = context;
  // All are judged together, since a record may be any of several; only those that were asked for are settled.
  const uncertain = entriesInState(outbox, profile, 'uncertain');
  const asked = (entry: Entry) => findIds === undefined || (entry.findId !== null && findIds.includes(entry.findId));
  requeueNumbers(outbox, uncertain.filter(asked));
  const imports = uncertain.filter((entry) => entry.kind === 'import');
  const photos = uncertain.filter((entry) => entry.kind === 'photo');
  if (![...imports, ...photos].some(asked)) return [];
  const view = await lookAround(context, [...imports, ...photos]);
  const verdicts = new Map([...judgeImportEntries(context, imports, view), ...(await judgePhotoEntries(context, photos, view))]);
  return [...imports, ...photos].filter(asked).flatMap((entry) => {
    const verdict = verdicts.get(entry.id);
    if (verdict === undefined) return [];
    apply(outbox, entry, verdict);
    return [{ entry, verdict }];
  });
}

function requeueNumbers(outbox: Outbox, entries: readonly Entry[]): void {
  outbox.change(() => {
    for (const entry of entries) {
      if (entry.kind === 'number') move(outbox, entry, 'queued', { notBeforeAt: 0, reason: t`a number may be sent again` });
    }
  });
}

/** One harvest that covers all doubts and, where there is one, a canary for each state. */
async function lookAround(context: ReconcileContext, doubts: readonly Entry[]): Promise<View & { offsetMs: number }> {
  const { outbox, profile, clock } = context;
  const canaries = selectEntries(
    outbox,
    `profile = :profile and kind = 'import' and state = 'accepted'`,
    { profile, limit: MOST_CANARIES },
    'order by entries.updated_at desc limit :limit',
  );
  const starts = [...doubts, ...canaries].flatMap((entry) => attemptsOf(outbox, entry.id).map(({ startedAt }) => startedAt));
  const from = datestamp(Math.min(...starts) - LOOK_BACK_MS);
  const { finds, withheld, serverNowMs = clock.now() } = await harvestAll(context, from);
  return {
    finds,
    withheld,
    nowMs: serverNowMs,
    offsetMs: serverNowMs - clock.now(),
    user: context.user,
    owned: ownedIdents(outbox, profile),
    sights: new Set(canaries.flatMap((entry) => sightsOf(finds.get(entry.identCely ?? '')))),
  };
}

/** A record that changes while pages are read jumps to the front and is missed: what changed meanwhile is read as well. */
async function harvestAll(context: ReconcileContext, from: string): Promise<HarvestedFinds> {
  const first = await harvestFinds(context, from);
  if (first.serverNowMs === undefined) return first;
  const since = await harvestFinds(context, datestamp(first.serverNowMs - OVERLAP_MS));
  return {
    finds: new Map([...first.finds, ...since.finds]),
    withheld: new Map([...first.withheld, ...since.withheld]),
    serverNowMs: first.serverNowMs,
  };
}

function datestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

function sightsOf(find: HarvestedFind | undefined): string[] {
  return find === undefined ? [] : [sightOf(find.elements, find.stav)];
}

function ownedIdents(outbox: Outbox, profile: string): Set<string> {
  const rows = outbox
    .sql(`select ident_cely as ident from entries where profile = ? and kind = 'import' and state = 'accepted'`)
    .all(profile) as { ident: string }[];
  return new Set(rows.map(({ ident }) => ident));
}

function judgeImportEntries(context: ReconcileContext, entries: readonly ImportEntry[], view: View & { offsetMs: number }) {
  const doubts = entries.flatMap((entry): ImportDoubt[] => {
    const sent = elementsSent(entry);
    return sent === undefined ? [] : [{ entryId: entry.id, elements: sent, window: windowOf(context, entry, view) }];
  });
  return judgeImports(doubts, view);
}

/** From the document itself: the find may have been edited since, for another profile. */
function elementsSent({ document }: ImportEntry): HarvestedElements | undefined {
  const find = document === null ? undefined : childOf(parseXml(document).root, 'samostatny_nalez');
  return find === undefined ? undefined : readHarvestedFind(find)?.elements;
}

async function judgePhotoEntries(context: ReconcileContext, entries: readonly PhotoEntry[], view: View & { offsetMs: number }) {
  const verdicts = new Map<number, Verdict>();
  const doubtOf = (entry: PhotoEntry): PhotoDoubt => ({
    entryId: entry.id,
    identCely: entry.identCely ?? '',
    fileName: entry.photograph.name,
    sha512Hex: entry.photograph.sha512.toString('hex'),
    window: windowOf(context, entry, view),
  });
  for (const identCely of new Set(entries.map((entry) => entry.identCely ?? ''))) {
    const doubts = entries.filter((entry) => entry.identCely === identCely).map(doubtOf);
    const settled = entriesOfRecord(context.outbox, identCely, context.profile)
      .filter((entry) => entry.kind === 'photo' && entry.state === 'accepted')
      .map((entry) => doubtOf(entry as PhotoEntry));
    const find = await currentRecord(context, identCely);
    for (const doubt of doubts) verdicts.set(doubt.entryId, judgePhoto(doubt, doubts, settled, find, view));
  }
  return verdicts;
}

async function currentRecord(context: ReconcileContext, identCely: string): Promise<HarvestedFind | undefined> {
  try {
    const entity = entityOf(await context.client.getRecord(identCely, context.format));
    return entity === undefined ? undefined : readHarvestedFind(entity);
  } catch (thrown) {
    if (thrown instanceof OaiError && thrown.oaiCode === 'idDoesNotExist') return undefined;
    throw thrown;
  }
}

/** The time in which the entry's attempts may have taken effect, on the server's clock. */
function windowOf({ outbox, settleMs }: ReconcileContext, entry: Entry, { offsetMs }: { offsetMs: number }): Window {
  const attempts = attemptsOf(outbox, entry.id);
  const starts = attempts.map(({ startedAt }) => startedAt + (nearestServerOffsetMs(outbox, startedAt) ?? offsetMs));
  return { fromMs: Math.min(...starts), untilMs: Math.max(...starts) + settleMs };
}

function apply(outbox: Outbox, entry: Entry, verdict: Verdict): void {
  outbox.change(() => {
    const { kind, basis, reason, candidates } = verdict;
    recordEvidence(outbox, entry.id, { verdict: kind, basis, reason, candidates });
    if (verdict.kind === 'found') {
      applySettlement(outbox, entry, { state: 'accepted', identCely: verdict.identCely, reason: verdict.reason });
    } else if (verdict.kind === 'absent') {
      applySettlement(outbox, entry, { state: 'queued', reason: verdict.reason, notBeforeAt: 0 });
    }
  });
}
