import { type Addresses, getRecordAddress, type SchemaVersion } from '../../base/addresses.ts';
import type { Viewer, VisibilityCode } from '../../rules/viewer.ts';
import { getCodeOfTerm, isHidden, isVisible, isVisibleAsDeployed, maskBody } from '../../rules/visibility.ts';
import type { Mock } from '../../state/mock.ts';
import type { ArchiveRecord, RecordHeader } from '../../state/records/record.ts';
import { escapeText, renderForbidden, renderRecord } from '../../state/records/render.ts';
import { renderDublinCore, renderForbiddenDublinCore } from '../../state/records/render-dublin-core.ts';
import { toMilliseconds, toSeconds } from './dates.ts';
import type { Format } from './protocol.ts';
import { chooseSetSpec } from './sets.ts';

/** One harvesting request that has been signed in, as the verbs see it. */
export type Harvest = {
  readonly mock: Mock;
  readonly addresses: Addresses;
  readonly version: SchemaVersion;
  readonly deployed: boolean;
  readonly viewer: Viewer;
  /** The address of the endpoint as the client used it. */
  readonly requestUrl: string;
  readonly nowMs: number;
  /** A fault makes every token of this request bad. */
  readonly refuseTokens: boolean;
};

export function renderHeader(harvest: Harvest, record: RecordHeader): string {
  const { addresses, version, deployed } = harvest;
  const datestamp = deployed ? toMilliseconds(record.datestampMs) : toSeconds(record.datestampMs);
  const set = `<setSpec>${chooseSetSpec(record.setSpec, version, deployed)}</setSpec>`;
  return (
    `<header${record.deleted ? ' status="deleted"' : ''}>` +
    `<identifier>${escapeText(getRecordAddress(addresses, record.ident))}</identifier>` +
    `<datestamp>${datestamp}</datestamp>${deployed && isWithoutSet(record) ? '' : set}</header>`
  );
}

/** Deleted records of the deployed service may lack their set (B-RECORD-1): here every second one. */
function isWithoutSet({ deleted, ident }: RecordHeader): boolean {
  return deleted && Number(ident.at(-1)) % 2 === 1;
}

/** A record that the viewer may not see at all keeps its header; the refusal stands for its metadata. */
export function renderRecordElement(harvest: Harvest, record: ArchiveRecord, format: Format): string {
  if (record.deleted) return `<record>${renderHeader(harvest, record)}</record>`;
  const metadata = mayRead(harvest, record) ? renderMetadata(harvest, record, format) : renderForbiddenRecord(harvest, format);
  return `<record>${renderHeader(harvest, record)}<metadata>${metadata}</metadata></record>`;
}

function mayRead({ deployed, mock, viewer }: Harvest, record: ArchiveRecord): boolean {
  return deployed ? isVisibleAsDeployed(mock.archive, record, viewer) : isVisible(record, viewer);
}

/** Hidden from the viewer's role altogether; the deployed service omits nothing (B-SEE-19). */
export function isOmitted({ deployed, viewer }: Harvest, record: ArchiveRecord): boolean {
  return !deployed && isHidden(record, viewer);
}

function renderMetadata(harvest: Harvest, record: ArchiveRecord, format: Format): string {
  const { mock, addresses, version, viewer, deployed } = harvest;
  const body = maskBody(record, viewer, { getVisibilityCode: (entry) => getVisibilityCode(mock, entry), deployed });
  return format === 'native'
    ? renderRecord(body, record.entity, version, addresses)
    : renderDublinCore(body, record.entity, addresses, { deployed });
}

function renderForbiddenRecord({ version, addresses, deployed }: Harvest, format: Format): string {
  return format === 'native' ? renderForbidden(version, addresses) : renderForbiddenDublinCore({ deployed });
}

/** Every record of a page asks for the letters of the same few entries. */
const codesByMock = new WeakMap<Mock, { readonly revision: number; readonly letters: Map<string, VisibilityCode> }>();

function getVisibilityCode(mock: Mock, entry: string): VisibilityCode {
  const revision = mock.archive.getRevision('heslo');
  let cached = codesByMock.get(mock);
  if (cached?.revision !== revision) {
    cached = { revision, letters: new Map() };
    codesByMock.set(mock, cached);
  }
  const letter = cached.letters.get(entry) ?? getCodeOfTerm(mock.archive.findLive('heslo', entry)?.body);
  cached.letters.set(entry, letter);
  return letter;
}
