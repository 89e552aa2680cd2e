import type { Ledger } from '../../ledger/ledger.ts';
import type { RecordSink } from '../../oai/take-page.ts';

/** Where the records of a harvest go for good. */
export type RecordOutput = RecordSink & {
  /** Leaves nothing in the output but what was committed. */
  close(): Promise<void>;
};

/** An output with the notes of how far it is. */
export type OpenedOutput = { readonly ledger: Ledger; readonly output: RecordOutput };
