import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type HarvestedElements, type HarvestedFind, readHarvestedFind } from '../find/harvested-find.ts';
import { entityOf } from '../oai/record.ts';
import { applySettlement } from '../outbox/claims.ts';
import { entriesInState, entriesOfRecord, importOfFind, move, selectEntries } from '../outbox/entries.ts';
import type { Entry, ImportEntry, NumberEntry, PhotoEntry } from '../outbox/entry.ts';
import { recordEvidence } from '../outbox/evidence.ts';
import { type Gap, gapsOf, isHeldByGap } from '../outbox/gaps.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { childOf } from '../xml/element.ts';
import { parseXml } from '../xml/parse.ts';
import { firstStartMs, windowOf } from './doubt-window.ts';
import { type Harvest, type HarvestedFinds, harvestFinds } from './harvest-finds.ts';
import { type ImportDoubt, judgeImports, judgePhoto, type PhotoDoubt, sightOf, type Verdict, type View } from './judge-doubt.ts';
import { judgeNumber, type NumberDoubt } from './judge-number.ts';
import { narrowGaps } from './narrow-gaps.ts';

type ReconcileContext = Harvest & {
  readonly outbox: Outbox;
  readonly profile: string;
  /** The account's own identifier at the service. */
  readonly user: string | undefined;
  /** How long after an attempt the service may still be working on it. */
  readonly settleMs: number;
  /** Only the records of these keys, or all. */
  readonly recordKeys: readonly string[] | undefined;
};

type Sighted = View & { readonly offsetMs: number };

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
  const { outbox, profile, recordKeys } = context;
  // All are judged together, since a record may be any of several; only those that were asked for are settled.
  const uncertain = entriesInState(outbox, profile, 'uncertain');
  const asked = (entry: Entry) => recordKeys === undefined || recordKeys.includes(entry.recordKey);
  requeueNumbers(outbox, uncertain.filter(asked));
  const imports = uncertain.filter((entry) => entry.kind === 'import');
  const changes = uncertain.filter(needsEvidence);
  const gaps = gapsOf(outbox, profile);
  if (![...imports, ...changes].some(asked) && gaps.length === 0) return [];
  const view = await lookAround(context, [...imports, ...changes], gaps);
  const settled = applyAll(context, imports.filter(asked), judgeImportEntries(context, imports, view));
  // An import that was found has given its photographs and numbers their record.
  const open = entriesInState(outbox, profile, 'uncertain').filter(needsEvidence);
  const verdicts = await judgeChanges(context, open, view);
  const all = [...settled, ...applyAll(context, open.filter(asked), verdicts)];
  if (gaps.length > 0)
    narrowGaps({ outbox, profile, settleMs: context.settleMs }, gaps, { ...view, owned: ownedIdents(outbox, profile) });
  return all;
}

/** A number of unknown end is simply sent again, but not an older one after a newer one. */
function needsEvidence(entry: Entry): entry is PhotoEntry | NumberEntry {
  return entry.kind === 'photo' || (entry.kind === 'number' && entry.doubt !== null);
}

function requeueNumbers(outbox: Outbox, entries: readonly Entry[]): void {
  outbox.change(() => {
    for (const entry of entries) {
      if (entry.kind === 'number' && !needsEvidence(entry))
        move(outbox, entry, 'queued', { notBeforeAt: 0, reason: t`a number may be sent again` });
    }
  });
}

/** One harvest that covers all doubts and, where there is one, a canary for each state. */
async function lookAround(context: ReconcileContext, doubts: readonly Entry[], gaps: readonly Gap[]): Promise<Sighted> {
  const { outbox, profile, clock } = context;
  const canaries = selectEntries(
    outbox,
    `profile = :profile and kind = 'import' and state = 'accepted'`,
    { profile, limit: MOST_CANARIES },
    'order by entries.updated_at desc limit :limit',
  );
  const starts = [...[...doubts, ...canaries].map((entry) => firstStartMs(outbox, entry)), ...gaps.map(({ fromMs }) => fromMs)];
  const from = datestamp(Math.min(clock.now(), ...starts) - LOOK_BACK_MS);
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

function judgeImportEntries(context: ReconcileContext, entries: readonly ImportEntry[], view: Sighted) {
  const doubts = entries.flatMap((entry): ImportDoubt[] => {
    const sent = elementsSent(entry);
    if (sent === undefined) return [];
    const window = windowOf(context.outbox, entry, context.settleMs, view);
    return [{ entryId: entry.id, elements: sent, window, numberMayDiffer: entry.doubt !== null, addedSince: isHeldByGap(entry) }];
  });
  return judgeImports(doubts, view);
}

/** From the document itself: the find may have been edited since, for another profile. */
function elementsSent({ document }: ImportEntry): HarvestedElements | undefined {
  const find = document === null ? undefined : childOf(parseXml(document).root, 'samostatny_nalez');
  return find === undefined ? undefined : readHarvestedFind(find)?.elements;
}

/** Photographs and numbers, record by record. Those of a find that is itself in doubt wait for its verdict. */
async function judgeChanges(context: ReconcileContext, entries: readonly (PhotoEntry | NumberEntry)[], view: Sighted) {
  const verdicts = new Map<number, Verdict>();
  for (const entry of entries.filter(({ identCely }) => identCely === null)) {
    const verdict = judgeWithoutRecord(context, entry);
    if (verdict !== undefined) verdicts.set(entry.id, verdict);
  }
  for (const identCely of new Set(entries.flatMap((entry) => entry.identCely ?? []))) {
    const find = await currentRecord(context, identCely);
    const ofRecord = entries.filter((entry) => entry.identCely === identCely);
    const photos = ofRecord.filter((entry) => entry.kind === 'photo');
    for (const [id, verdict] of judgePhotos(context, identCely, photos, find, view)) verdicts.set(id, verdict);
    for (const entry of ofRecord) {
      if (entry.kind === 'number') verdicts.set(entry.id, judgeNumber(numberDoubt(context, entry, view), find, view.nowMs));
    }
  }
  return verdicts;
}

function judgeWithoutRecord({ outbox, profile }: ReconcileContext, { findId }: Entry): Verdict | undefined {
  const made = findId === null ? undefined : importOfFind(outbox, findId, profile);
  if (made?.state !== 'queued') return undefined;
  return {
    kind: 'absent',
    basis: 'find-absent',
    reason: t`its find is not at the service, so it cannot have been sent`,
    candidates: [],
  };
}

function judgePhotos(
  context: ReconcileContext,
  identCely: string,
  entries: readonly PhotoEntry[],
  find: HarvestedFind | undefined,
  view: Sighted,
): [number, Verdict][] {
  const doubtOf = (entry: PhotoEntry): PhotoDoubt => ({
    entryId: entry.id,
    identCely,
    fileName: entry.photograph.name,
    sha512Hex: entry.photograph.sha512.toString('hex'),
    window: windowOf(context.outbox, entry, context.settleMs, view),
  });
  const doubts = entries.map(doubtOf);
  const settled = entriesOfRecord(context.outbox, identCely, context.profile)
    .filter((entry) => entry.kind === 'photo')
    .filter(({ state }) => state === 'accepted')
    .map(doubtOf);
  return doubts.map((doubt) => [doubt.entryId, judgePhoto(doubt, doubts, settled, find, view)]);
}

function numberDoubt({ outbox, profile, settleMs }: ReconcileContext, entry: NumberEntry, view: Sighted): NumberDoubt {
  const identCely = entry.identCely ?? '';
  const earlier = entriesOfRecord(outbox, identCely, profile).filter(({ state }) => state === 'accepted');
  const number = earlier.filter(({ kind }) => kind === 'number').at(-1);
  const made = earlier.find(({ kind }) => kind === 'import');
  const before =
    number?.kind === 'number' ? number.value : made?.kind === 'import' ? elementsSent(made)?.evidencni_cislo : undefined;
  return { identCely, value: entry.value, before: before?.toString(), window: windowOf(outbox, entry, settleMs, view) };
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

function applyAll({ outbox }: ReconcileContext, entries: readonly Entry[], verdicts: ReadonlyMap<number, Verdict>): Reconciled[] {
  return entries.flatMap((entry) => {
    const verdict = verdicts.get(entry.id);
    if (verdict === undefined) return [];
    apply(outbox, entry, verdict);
    return [{ entry, verdict }];
  });
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
