import { type Addresses, getRecordAddress, type SchemaVersion } from '../../base/addresses.ts';
import type { Viewer, VisibilityCode } from '../../rules/viewer.ts';
import {
  getCodeOfTerm,
  isHidden,
  isVisible,
  isVisibleAsDeployed,
  maskBody,
} from '../../rules/visibility.ts';
import type { Mock } from '../../state/mock.ts';
import type { ArchiveRecord, RecordHeader } from '../../state/records/record.ts';
import { escapeText, renderForbidden, renderRecord } from '../../state/records/render.ts';
import {
  renderDublinCore,
  renderForbiddenDublinCore,
} from '../../state/records/render-dublin-core.ts';
import { formatMilliseconds, formatSeconds } from './dates.ts';
import type { Format } from './protocol.ts';
import { chooseSetSpec } from './sets.ts';

/** An authenticated harvesting request. */
export type Harvest = {
  readonly mock: Mock;
  readonly addresses: Addresses;
  readonly version: SchemaVersion;
  readonly deployed: boolean;
  readonly viewer: Viewer;
  /** Address of the endpoint that the client used. */
  readonly requestUrl: string;
  readonly nowMs: number;
  /** A fault invalidates the tokens of this request. */
  readonly refuseTokens: boolean;
};

/**
 * Renders a header; the deployed service writes milliseconds, and some records without their set.
 */
export function renderHeader(harvest: Harvest, record: RecordHeader): string {
  const { addresses, version, deployed } = harvest;
  const datestamp = deployed
    ? formatMilliseconds(record.datestampMs)
    : formatSeconds(record.datestampMs);
  const set = `<setSpec>${chooseSetSpec(record.setSpec, version, deployed)}</setSpec>`;
  return (
    `<header${record.deleted ? ' status="deleted"' : ''}>` +
    `<identifier>${escapeText(getRecordAddress(addresses, record.ident))}</identifier>` +
    `<datestamp>${datestamp}</datestamp>${deployed && isWithoutSet(record) ? '' : set}</header>`
  );
}

/**
 * Tells if a header lacks its set: on the deployed service every second deleted record
 * (B-RECORD-1).
 */
function isWithoutSet({ deleted, ident }: RecordHeader): boolean {
  return deleted && Number(ident.at(-1)) % 2 === 1;
}

/**
 * Renders a record; one that the viewer may not see has its header, and the refusal in place of its
 * metadata.
 */
export function renderRecordElement(
  harvest: Harvest,
  record: ArchiveRecord,
  format: Format,
): string {
  if (record.deleted) return `<record>${renderHeader(harvest, record)}</record>`;
  const metadata = mayRead(harvest, record)
    ? renderMetadata(harvest, record, format)
    : renderForbiddenRecord(harvest, format);
  return `<record>${renderHeader(harvest, record)}<metadata>${metadata}</metadata></record>`;
}

function mayRead({ deployed, mock, viewer }: Harvest, record: ArchiveRecord): boolean {
  return deployed ? isVisibleAsDeployed(mock.archive, record, viewer) : isVisible(record, viewer);
}

/**
 * Tells if a record is hidden from the viewer's role; the deployed service hides none (B-SEE-19).
 */
export function isOmitted({ deployed, viewer }: Harvest, record: ArchiveRecord): boolean {
  return !deployed && isHidden(record, viewer);
}

function renderMetadata(harvest: Harvest, record: ArchiveRecord, format: Format): string {
  const { mock, addresses, version, viewer, deployed } = harvest;
  const body = maskBody(record, viewer, {
    getVisibilityCode: (entry) => getVisibilityCode(mock, entry),
    deployed,
  });
  return format === 'native'
    ? renderRecord(body, record.entity, version, addresses)
    : renderDublinCore(body, record.entity, addresses, { deployed });
}

function renderForbiddenRecord({ version, addresses, deployed }: Harvest, format: Format): string {
  return format === 'native'
    ? renderForbidden(version, addresses)
    : renderForbiddenDublinCore({ deployed });
}

/** Cache: all records of a page need the role letters of the same few entries. */
const codesByMock = new WeakMap<
  Mock,
  { readonly revision: number; readonly letters: Map<string, VisibilityCode> }
>();

function getVisibilityCode(mock: Mock, entry: string): VisibilityCode {
  const revision = mock.archive.getRevision('heslo');
  let cached = codesByMock.get(mock);
  if (cached?.revision !== revision) {
    cached = { revision, letters: new Map() };
    codesByMock.set(mock, cached);
  }
  const letter =
    cached.letters.get(entry) ?? getCodeOfTerm(mock.archive.findLive('heslo', entry)?.body);
  cached.letters.set(entry, letter);
  return letter;
}
