import type { HarvestState } from '../../oai/harvest-state.ts';
import type { HarvestPass } from '../../oai/pass.ts';
import {
  formatUpwards,
  type Granularity,
  OAI_NAMESPACE,
  type OaiRecord,
  parseRecord,
} from '../../oai/protocol.ts';
import { type RecordSink, storePage } from '../../oai/store-page.ts';
import { getChild, type XmlDocument } from '../../xml/element.ts';
import { parseXml } from '../../xml/parse.ts';
import { buildXml } from '../../xml/write-xml.ts';

type TombstoneOptions = {
  readonly state: HarvestState;
  readonly sink: RecordSink;
  readonly setSpec: string;
  readonly granularity: Granularity;
};

/** Scan of records with a tombstone: no later pass marks them again, and one that returns is new. */
const NO_SCAN = 0;
const RECORDS_AT_ONCE = 100;

/** Writes that records are deleted, page by page, in the form of the service. */
export async function writeTombstones(
  options: TombstoneOptions,
  pass: HarvestPass,
  identifiers: readonly string[],
): Promise<void> {
  for (let first = 0; first < identifiers.length; first += RECORDS_AT_ONCE) {
    const page = makePage(options, pass, identifiers.slice(first, first + RECORDS_AT_ONCE));
    await storePage(options, { ...pass, scan: NO_SCAN }, page, () => pass);
  }
}

function makePage(
  { state, setSpec, granularity }: TombstoneOptions,
  { beganMs }: HarvestPass,
  identifiers: readonly string[],
): { readonly document: XmlDocument; readonly items: readonly OaiRecord[] } {
  const content = identifiers.map((identifier) => {
    // Not before the record's own last change, or the tombstone would look older than the record.
    const goneAtMs = Math.max(beganMs, state.findSeen(identifier)?.datestampMs ?? 0);
    const header = [
      { name: 'identifier', content: identifier },
      { name: 'datestamp', content: formatUpwards(goneAtMs, granularity) },
    ];
    if (setSpec !== '') header.push({ name: 'setSpec', content: setSpec });
    const attributes = { status: 'deleted' };
    return { name: 'record', content: [{ name: 'header', attributes, content: header }] };
  });
  const attributes = { xmlns: OAI_NAMESPACE };
  const list = { name: 'ListRecords', content };
  const document = parseXml(buildXml({ name: 'OAI-PMH', attributes, content: [list] }));
  const records = getChild(document.root, 'ListRecords')?.children ?? [];
  return { document, items: records.flatMap((element) => parseRecord(element) ?? []) };
}
