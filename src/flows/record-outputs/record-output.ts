import type { Ledger } from '../../ledger/ledger.ts';
import type { OaiRecord } from '../../oai/record.ts';
import type { XmlDocument } from '../../xml/element.ts';

/** What of a page is new or changed. */
type OutputPage = { readonly document: XmlDocument; readonly records: readonly OaiRecord[] };

/** Where the records of a harvest go. */
export type RecordOutput = {
  /** Before the page is noted: brings its records onto the disk, in such a way that a repetition does no harm. */
  write(page: OutputPage): Promise<void>;
  /** In the transaction that notes the page: makes it count. */
  commit(): void;
  /** Leaves nothing in the output but what was committed. */
  close(): Promise<void>;
};

/** An output with the notes of how far it is. */
export type OpenedOutput = { readonly ledger: Ledger; readonly output: RecordOutput };
