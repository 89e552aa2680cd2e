import { FileError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import {
  countHeld,
  countRows,
  hasRecord,
  isEdited,
  type Ledger,
  removeForeign,
  resetOutput,
  type StoredRecord,
  saveRecord,
  settleTable,
  withTrackingSuspended,
} from '../../ledger/ledger.ts';
import type { OaiRecord } from '../../oai/protocol.ts';
import { type RepeatedElements, renderMetadata } from '../../oai/record-json.ts';
import { makeModifiedFileError } from '../../store/append-file.ts';
import { JsonBytes } from '../../text/json-bytes.ts';
import { getSourceText, type XmlDocument } from '../../xml/element.ts';
import { formatGone, type Opening, type RecordOutput } from './record-output.ts';

/**
 * Keeps the latest version of each record in the table `records`. @throws FileError where another
 * program wrote into it
 */
export function openSqliteOutput(
  ledger: Ledger,
  repeated: RepeatedElements,
  { verify, onNote }: Opening,
): RecordOutput {
  const [rows, held] = [countRows(ledger), countHeld(ledger)];
  if (rows === undefined) throw remakeTable(ledger.path);
  if (rows === 0 && held > 0) {
    onNote(formatGone(ledger.path, false));
    ledger.change(() => resetOutput(ledger));
  } else if (isEdited(ledger) || rows !== held) {
    if (!verify)
      throw makeModifiedFileError(
        ledger.path,
        t`${ledger.path} was modified: another program wrote into its table of records.`,
      );
    ledger.change(() => withTrackingSuspended(ledger, () => removeForeign(ledger)));
  }
  const json = new JsonBytes();
  let waiting: readonly StoredRecord[] = [];
  return {
    write: async ({ document, records }) => {
      waiting = records.map((record) => toStored(json, document, record, repeated));
    },
    notePage: () => {
      withTrackingSuspended(ledger, () => {
        for (const record of waiting) saveRecord(ledger, record);
      });
      waiting = [];
    },
    differs: (document, record) => !hasRecord(ledger, toStored(json, document, record, repeated)),
    settle: async () => {
      if (verify) ledger.change(() => settleTable(ledger));
    },
    close: async () => {},
  };
}

function remakeTable(path: string): FileError {
  return new FileError(
    path,
    t`${path} was modified: another program recreated its table of records.`,
    {
      hint: t`Use another --out, or delete the file to start again.`,
    },
  );
}

function toStored(
  json: JsonBytes,
  document: XmlDocument,
  record: OaiRecord,
  repeated: RepeatedElements,
): StoredRecord {
  const { header, element, refused } = record;
  return {
    identifier: header.identifier,
    datestamp: header.datestamp,
    sets: JSON.stringify(header.setSpecs),
    deleted: header.deleted ? 1 : 0,
    masked: refused ? 1 : 0,
    metadata: renderMetadata(json, record, repeated),
    xml: getSourceText(document, element),
  };
}
