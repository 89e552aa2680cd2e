import { createHash } from 'node:crypto';
import { t } from '../base/language.ts';
import { getSourceBytes, walkDescendants } from '../xml/element.ts';
import { parseXml } from '../xml/parse.ts';
import { buildXml } from '../xml/write-xml.ts';
import { digestRecord, type HarvestState, type ObservedLosses } from './harvest-state.ts';
import { formatSetName, type HarvestPass } from './pass.ts';
import { formatUpwards, type Granularity, OAI_NAMESPACE, parseRecord } from './protocol.ts';
import { isUnidentified, type RecordSink } from './store-page.ts';

/** Stored records that a pass did not see. */
export type Losses = {
  /** Identifiers of stored records that the scan did not see. */
  readonly lost: readonly string[];
  /** Identifiers among them that finds or the mapping use. */
  readonly inUse: readonly string[];
};

export type LossOptions = {
  readonly state: HarvestState;
  readonly sink: RecordSink;
  /** Empty: all records of the service. */
  readonly setSpec: string;
  readonly granularity: Granularity;
  /** Server time in the answer to Identify. */
  readonly serverNowMs: number;
  /** Returns the stored records that a scan did not see; undefined where nothing is stored. */
  readonly losses?: (scan: number) => Promise<Losses>;
  /** Treats losses as deletions at once. */
  readonly acceptLosses?: boolean;
  /** Called with the number of written tombstones. Without it, `finish` writes them. */
  readonly onVanished?: (count: number) => void;
  /** Called with messages for the user that are no failures. */
  readonly onNote?: (text: string) => void;
};

/** Reason for which unlisted records are kept and the next pass is a full one. */
export type UnconfirmedLosses =
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'losses';
      readonly lost: number;
      readonly held: number;
      readonly inUse: readonly string[];
    };

/** `kept`: the pass does not show which records are deleted. */
type Settlement =
  | { readonly kind: 'deleted' | 'kept' }
  | {
      readonly kind: 'unconfirmed';
      readonly losses: UnconfirmedLosses;
      readonly observed: ObservedLosses;
    };

const MAX_LOST = 50;
const MAX_LOST_SHARE = 0.1;
/** Exceeds the time in which a service rebuilds its index. */
const CONFIRM_AFTER_MS = 3_600_000;

/**
 * Decides if records that a complete pass did not see are deleted. While an index is rebuilt, a
 * list may be empty or short, so many losses count only if a second scan, at least an hour later,
 * lacks the same records, or the caller accepts them.
 */
export async function settleLosses(options: LossOptions, pass: HarvestPass): Promise<Settlement> {
  const { state, serverNowMs: nowMs, acceptLosses = false } = options;
  const { window, seen: seenCount } = pass;
  if (pass.kind === 'changes' || options.losses === undefined) return { kind: 'kept' };
  const { lost, inUse } = await options.losses(pass.scan);
  if (lost.length === 0) {
    if (seenCount > 0 || window.fromMs !== null || window.untilMs !== null)
      return { kind: 'deleted' };
    const observed = { sinceMs: nowMs, digest: '' };
    return { kind: 'unconfirmed', losses: { kind: 'empty' }, observed };
  }
  if (!canInferDeletion(options, pass)) return { kind: 'kept' };
  const held = seenCount + lost.length;
  const areFew = lost.length <= Math.min(MAX_LOST, held * MAX_LOST_SHARE);
  const digest = createHash('sha256').update(lost.toSorted().join('\n')).digest('base64');
  const before = state.getObservedLosses();
  // After a step back of the clock, the hour begins again.
  const isSame = before?.digest === digest && before.sinceMs <= nowMs;
  const sinceMs = isSame ? before.sinceMs : nowMs;
  const isConfirmed = nowMs - sinceMs >= CONFIRM_AFTER_MS;
  if (acceptLosses || isConfirmed || (areFew && seenCount > 0 && inUse.length === 0))
    return { kind: 'deleted' };
  const losses = { kind: 'losses', lost: lost.length, held, inUse } as const;
  return { kind: 'unconfirmed', losses, observed: { sinceMs, digest } };
}

function canInferDeletion(
  { state, setSpec, onNote }: LossOptions,
  { window, scan }: HarvestPass,
): boolean {
  // A changed record may have left a window with an end; a skipped record without an identifier may
  // be any of them.
  if (window.untilMs !== null || state.listSkipped().some(isUnidentified)) return false;
  const identifier = state.listSeenIn(scan).find((each) => !each.includes('/id/'));
  if (identifier === undefined) return true;
  const list = formatSetName(setSpec);
  onNote?.(
    t`${list}: the service writes its identifiers in another form (${identifier}), so no record is marked as vanished.`,
  );
  return false;
}

/** Scan of records with a tombstone: no later pass marks them again, and one that returns is new. */
const NO_SCAN = 0;
const RECORDS_AT_ONCE = 100;

/**
 * Writes tombstones of records, in the form of the service.
 * @returns a function that commits them
 */
export async function writeTombstones(
  { state, sink, setSpec, granularity }: LossOptions,
  { beganMs }: HarvestPass,
  unseen: readonly string[],
): Promise<() => void> {
  const digests = new Map<string, { readonly datestampMs: number; readonly digest: string }>();
  for (let first = 0; first < unseen.length; first += RECORDS_AT_ONCE) {
    const elements = unseen.slice(first, first + RECORDS_AT_ONCE).map((identifier) => {
      // Not before the record's own last change, or the tombstone would look older than the record.
      const goneAtMs = Math.max(beganMs, state.findSeen(identifier)?.datestampMs ?? 0);
      return makeTombstone(identifier, formatUpwards(goneAtMs, granularity), setSpec);
    });
    const list = { name: 'ListRecords', content: elements };
    const document = parseXml(
      buildXml({ name: 'OAI-PMH', attributes: { xmlns: OAI_NAMESPACE }, content: [list] }),
    );
    const records = [...walkDescendants(document.root, 'record', OAI_NAMESPACE)].flatMap(
      (element) => parseRecord(element) ?? [],
    );
    await sink.write({ document, records, seenRecords: records });
    for (const { header, element } of records) {
      const digest = digestRecord(getSourceBytes(document, element));
      digests.set(header.identifier, { datestampMs: header.datestampMs, digest });
    }
  }
  return () => {
    if (digests.size > 0) sink.notePage();
    for (const [identifier, version] of digests)
      state.markSeen(identifier, { ...version, scan: NO_SCAN, skipped: false });
  };
}

function makeTombstone(identifier: string, datestamp: string, setSpec: string) {
  const content = [
    { name: 'identifier', content: identifier },
    { name: 'datestamp', content: datestamp },
    ...(setSpec === '' ? [] : [{ name: 'setSpec', content: setSpec }]),
  ];
  const header = { name: 'header', attributes: { status: 'deleted' }, content };
  return { name: 'record', content: [header] };
}
