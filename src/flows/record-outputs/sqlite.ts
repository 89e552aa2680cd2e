import type { Ledger } from '../../ledger/ledger.ts';
import { putRecord, type StoredRecord } from '../../ledger/stored-records.ts';
import type { OaiRecord } from '../../oai/record.ts';
import { metadataJson } from '../../oai/record-json.ts';
import type { RepeatedElements } from '../../oai/repeated-elements.ts';
import { sourceOf, type XmlDocument } from '../../xml/element.ts';
import type { RecordOutput } from './record-output.ts';

/** The records as they are now, in the table `records` of the ledger's own file. */
export function sqliteOutput(ledger: Ledger, repeated: RepeatedElements): RecordOutput {
  let waiting: readonly StoredRecord[] = [];
  return {
    write: async ({ document, records }) => {
      waiting = records.map((record) => toStored(document, record, repeated));
    },
    commit: () => {
      for (const record of waiting) putRecord(ledger, record);
      waiting = [];
    },
    close: async () => {},
  };
}

function toStored(document: XmlDocument, record: OaiRecord, repeated: RepeatedElements): StoredRecord {
  const { header, element, refused } = record;
  const metadata = metadataJson(record, repeated);
  return {
    identifier: header.identifier,
    datestamp: header.datestamp,
    sets: JSON.stringify(header.setSpecs),
    deleted: header.deleted ? 1 : 0,
    masked: refused ? 1 : 0,
    metadata: metadata === null ? null : JSON.stringify(metadata),
    xml: sourceOf(document, element),
  };
}
