import { createHash } from 'node:crypto';
import { t } from '../base/language.ts';
import { getSourceBytes, walkDescendants } from '../xml/element.ts';
import { parseXml } from '../xml/parse.ts';
import { buildXml } from '../xml/write-xml.ts';
import type { HarvestState, ObservedLosses, SeenRecord } from './harvest-state.ts';
import { formatSetName } from './list-failures.ts';
import type { HarvestPass } from './pass.ts';
import { formatUpwards, type Granularity, OAI_NAMESPACE, parseRecord } from './protocol.ts';
import { digestRecord, isUnidentified, type RecordSink } from './take-page.ts';

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
  const { heldBefore, window, seen: seenCount } = pass;
  if (pass.kind === 'changes' || options.losses === undefined) return { kind: 'kept' };
  const { lost, inUse } = await options.losses(pass.scan);
  if (lost.length === 0) {
    if (seenCount > 0 || window.fromMs !== null || window.untilMs !== null)
      return { kind: 'deleted' };
    const observed = { sinceMs: nowMs, digest: '' };
    return { kind: 'unconfirmed', losses: { kind: 'empty' }, observed };
  }
  if (!canInferDeletion(options, pass)) return { kind: 'kept' };
  const areFew = lost.length <= Math.min(MAX_LOST, heldBefore * MAX_LOST_SHARE);
  const digest = createHash('sha256').update(lost.toSorted().join('\n')).digest('base64');
  const before = state.getObservedLosses();
  // After a step back of the clock, the hour begins again.
  const isSame = before?.digest === digest && before.sinceMs <= nowMs;
  const sinceMs = isSame ? before.sinceMs : nowMs;
  const isConfirmed = isSame && nowMs - sinceMs >= CONFIRM_AFTER_MS;
  if (acceptLosses || isConfirmed || (areFew && seenCount > 0 && inUse.length === 0))
    return { kind: 'deleted' };
  const losses = { kind: 'losses', lost: lost.length, held: heldBefore, inUse } as const;
  return { kind: 'unconfirmed', losses, observed: { sinceMs, digest } };
}

function canInferDeletion(
  { state, setSpec, onNote }: LossOptions,
  { window, scan }: HarvestPass,
): boolean {
  // A changed record may have left a window with an end; a skipped record without an identifier may
  // be any of them.
  if (window.untilMs !== null || state.listSkipped().some(isUnidentified)) return false;
  for (const identifier of state.listSeenIn(scan)) {
    if (identifier.includes('/id/')) continue;
    const list = formatSetName(setSpec);
    onNote?.(
      t`${list}: the service writes its identifiers in another form (${identifier}), so no record is marked as vanished.`,
    );
    return false;
  }
  return true;
}

type Tombstone = { readonly identifier: string; readonly seenRecord: SeenRecord };

/** Scan of records with a tombstone: no later pass marks them again, and one that returns is new. */
const NO_SCAN = 0;
const RECORDS_AT_ONCE = 100;

/**
 * Writes tombstones of the records that the pass did not see, in the form of the service. The
 * caller commits them.
 */
export async function writeTombstones(
  options: LossOptions,
  pass: HarvestPass,
): Promise<readonly Tombstone[]> {
  if (options.onVanished === undefined) return [];
  const unseen = options.state.listUnseenIn(pass.scan);
  const tombstones: Tombstone[] = [];
  for (let first = 0; first < unseen.length; first += RECORDS_AT_ONCE) {
    const identifiers = unseen.slice(first, first + RECORDS_AT_ONCE);
    const document = parseXml(makeTombstonePage(options, pass, identifiers));
    const records = [...walkDescendants(document.root, 'record', OAI_NAMESPACE)].flatMap(
      (element) => parseRecord(element) ?? [],
    );
    await options.sink.write({ document, records, seenRecords: records });
    for (const { header, element } of records) {
      const { identifier, datestampMs } = header;
      const digest = digestRecord(getSourceBytes(document, element));
      const seenRecord = { datestampMs, digest, scan: NO_SCAN, skipped: false };
      tombstones.push({ identifier, seenRecord });
    }
  }
  return tombstones;
}

function makeTombstonePage(
  { state, setSpec, granularity }: LossOptions,
  { beganMs }: HarvestPass,
  identifiers: readonly string[],
): Buffer {
  const records = identifiers.map((identifier) => {
    // Not before the record's own last change, or the tombstone would look older than the record.
    const goneAtMs = Math.max(beganMs, state.findSeen(identifier)?.datestampMs ?? 0);
    const content = [
      { name: 'identifier', content: identifier },
      { name: 'datestamp', content: formatUpwards(goneAtMs, granularity) },
      ...(setSpec === '' ? [] : [{ name: 'setSpec', content: setSpec }]),
    ];
    return {
      name: 'record',
      content: [{ name: 'header', attributes: { status: 'deleted' }, content }],
    };
  });
  const content = [{ name: 'ListRecords', content: records }];
  return buildXml({ name: 'OAI-PMH', attributes: { xmlns: OAI_NAMESPACE }, content });
}
