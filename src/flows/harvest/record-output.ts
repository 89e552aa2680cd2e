import { t } from '../../base/language.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { RecordSink } from '../../oai/harvest-state.ts';
import type { OaiRecord } from '../../oai/protocol.ts';
import type { XmlDocument } from '../../xml/element.ts';

/** An output file, folder or stream of a harvest. */
export type RecordOutput = RecordSink & {
  /** Tells if the output has another version of a record; absent where opening the output checks that. */
  readonly differs?: (document: XmlDocument, record: OaiRecord) => boolean;
  /** Brings what was written to the disk, after {@link Ledger.beginGroup}; left out where each page is committed by itself. */
  flush?(): Promise<void>;
  /** All is written. @throws FileError where another program changed the output meanwhile */
  settle(): Promise<void>;
  /** Leaves nothing in the output but what was committed, whatever has happened. */
  close(): Promise<void>;
};

/** An output with the notes of how far it is. */
export type OpenedOutput = { readonly ledger: Ledger; readonly output: RecordOutput };

/** Options for opening an output. */
export type Opening = {
  /** Repairs what another program did to it; otherwise that is refused, unless it is gone as a whole. */
  readonly verify: boolean;
  /** Told what a person should know though it is no failure. */
  readonly onNote: (text: string) => void;
};

/** Returns the note for an output that is written again. */
export function formatGone(path: string, verify: boolean): string {
  return verify
    ? t`${path} was changed by another program, and is written again.`
    : t`${path} is missing or empty, and is written again.`;
}
