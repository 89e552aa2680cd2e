import { hash } from 'node:crypto';
import { t } from '../base/language.ts';
import { getSourceBytes, type XmlDocument } from '../xml/element.ts';
import type { ListPage } from './client.ts';
import type { HarvestState, SeenRecord } from './harvest-state.ts';
import type { HarvestPass, HarvestWindow } from './pass.ts';
import { isDay } from './protocol.ts';
import type { OaiRecord } from './record.ts';

/** The records of a page for a sink. */
type RecordPage = {
  readonly document: XmlDocument;
  /** New, or otherwise than it was met before. */
  readonly records: readonly OaiRecord[];
  /** Those, and the unchanged ones. */
  readonly seenRecords: readonly OaiRecord[];
};

/** A destination for the records of a harvest. */
export type RecordSink = {
  /** Writes the records of a page before the page is noted. A repetition after a crash must do no harm. */
  write(page: RecordPage): Promise<void>;
  /** Makes the written page part of the output, in the change that notes it. */
  commit(): void;
};

export type PageResult = {
  /** New or changed records, which went into the sink. */
  readonly written: readonly OaiRecord[];
  /** Records that this look had not met before. */
  readonly newInLook: number;
  /** Reasons for which records were left out, by identifier. */
  readonly faults: ReadonlyMap<string, string>;
  /** Identifiers of records of which this look met two versions with one datestamp. */
  readonly disputed: readonly string[];
};

type Occurrence = SeenRecord & {
  /** The record to keep; undefined where nothing of it is kept. */
  readonly record: OaiRecord | undefined;
  readonly isNews: boolean;
  readonly knownRecord: SeenRecord | undefined;
  readonly isDisputed: boolean;
};

/**
 * Puts what is new or changed on a page into the sink and notes every record of it, in one step with `note`: a kill at
 * any moment leaves the page either done or to be read again.
 * @param note told the datestamps of the records that the look had met before
 */
export async function applyPage(
  { state, sink }: { readonly state: HarvestState; readonly sink: RecordSink },
  pass: HarvestPass,
  page: ListPage<OaiRecord>,
  note: (pass: HarvestPass, againMs: readonly number[]) => HarvestPass = (noted) => noted,
): Promise<PageResult> {
  const { occurrences, againMs } = collectOccurrences(state, pass, page);
  const faults = new Map<string, string>();
  // Left out on purpose is not missing. What the output holds of such a record from before, it keeps.
  const empty = page.items.filter(({ lacksContent }) => lacksContent);
  const broken = [...page.broken, ...empty.map(({ header }) => ({ identifier: header.identifier, reason: withoutContent() }))];
  broken.forEach(({ identifier, reason }, index) => {
    const name = identifier ?? `${NAMELESS}${page.cursor ?? ''} ${index}`;
    // It stands on the page with its content as well.
    if (identifier !== undefined && occurrences.has(identifier)) return;
    occurrences.set(name, { ...leftOut(state.findSeen(name), pass.look.number), record: undefined, skipped: true });
    faults.set(name, reason);
  });
  const seen = [...occurrences.values()];
  const written = seen.flatMap(({ record, isNews }) => (record !== undefined && isNews ? [record] : []));
  const newInLook = seen.filter(({ knownRecord }) => knownRecord === undefined || knownRecord.look < pass.look.number).length;
  const newInPass = seen.filter(({ knownRecord }) => knownRecord === undefined || knownRecord.look < pass.firstLook);
  // Two versions of one record with one datestamp each count as news; that is no change.
  const changed = seen.filter(({ isNews, isDisputed }) => isNews && !isDisputed).length;
  const isByDay = page.items.some(({ header }) => isDay(header.datestamp)) && !state.isStampedByDay();
  const seenRecords = seen.flatMap(({ record }) => record ?? []);
  await sink.write({ document: page.document, records: written, seenRecords });
  state.change(() => {
    sink.commit();
    if (isByDay) state.markDayGranularity();
    for (const [identifier, { datestampMs, digest, look, skipped }] of occurrences) {
      state.markSeen(identifier, { datestampMs, digest, look, skipped });
    }
    const { look } = pass;
    const counted = {
      met: look.met + newInLook,
      isNew: look.isNew + newInPass.length,
      overlooked: look.overlooked + newInPass.filter(({ datestampMs }) => datestampMs < pass.beganMs).length,
      changed: look.changed + changed,
    };
    state.savePass(note({ ...pass, met: pass.met + newInPass.length, look: { ...look, ...counted } }, againMs));
  });
  const disputed = [...occurrences].flatMap(([identifier, { isDisputed }]) => (isDisputed ? [identifier] : []));
  return { written, newInLook, faults, disputed };
}

/**
 * Collects the records of a page by identifier, so that one that is listed twice counts once.
 * @returns `againMs` the datestamps of those that the look had met before
 */
function collectOccurrences(state: HarvestState, pass: HarvestPass, page: ListPage<OaiRecord>) {
  const occurrences = new Map<string, Occurrence>();
  const againMs: number[] = [];
  const look = pass.look.number;
  for (const record of page.items) {
    if (record.lacksContent) continue;
    const { identifier, datestampMs } = record.header;
    const earlier = occurrences.get(identifier);
    const knownRecord = earlier === undefined ? state.findSeen(identifier) : earlier.knownRecord;
    const rival = earlier ?? (knownRecord?.look === look ? knownRecord : undefined);
    if (rival !== undefined) againMs.push(datestampMs);
    // The newer of two versions in one scan wins; an older version than in an earlier scan may be a restored one.
    if (rival !== undefined && rival.datestampMs > datestampMs) continue;
    if (!isWithin(pass.window, datestampMs)) {
      occurrences.set(identifier, { ...leftOut(knownRecord, look), record: undefined, skipped: false });
      continue;
    }
    const digest = digestRecord(getSourceBytes(page.document, record.element));
    const isNews = knownRecord?.datestampMs !== datestampMs || !knownRecord.digest.equals(digest);
    const isDisputed = rival?.datestampMs === datestampMs && !rival.digest.equals(digest);
    occurrences.set(identifier, { record, datestampMs, digest, look, isNews, isDisputed, knownRecord, skipped: false });
  }
  return { occurrences, againMs };
}

/** Why a live record that comes without content is left out. */
function withoutContent(): string {
  return t`the service sent it without content`;
}

function leftOut(knownRecord: SeenRecord | undefined, look: number) {
  const { datestampMs, digest } = knownRecord ?? { datestampMs: 0, digest: Buffer.alloc(0) };
  return { datestampMs, digest, look, knownRecord, isNews: false, isDisputed: false };
}

/** A service is asked for whole seconds, and answers a little more than was wanted. */
function isWithin({ untilMs }: HarvestWindow, datestampMs: number): boolean {
  return untilMs === null || datestampMs <= untilMs;
}

/** Prefix of the generated key for a skipped record without a readable identifier. */
const NAMELESS = 'broken ';

/** Tells if a key of the state is a skipped record without an identifier. */
export function isUnidentified(name: string): boolean {
  return name.startsWith(NAMELESS);
}

const DIGEST_BYTES = 12;

/** Returns the digest that change detection compares. */
export function digestRecord(bytes: Buffer): Buffer {
  return Buffer.from(hash('sha256', bytes, 'hex').slice(0, 2 * DIGEST_BYTES), 'hex');
}
