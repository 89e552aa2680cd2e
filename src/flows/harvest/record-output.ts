import { t } from '../../base/language.ts';
import type { HarvestStore } from '../../harvested/harvested-records.ts';
import type { RecordSink } from '../../oai/store-page.ts';

/** An output file or stream of a harvest. */
export type RecordOutput = RecordSink & {
  /** Flushes written pages to disk, after {@link HarvestStore.beginGroup}. */
  flush(): Promise<void>;
  /**
   * To be called after the last page.
   * @throws FileError where another program changed the output meanwhile
   */
  settle(): Promise<void>;
  /** Removes what was not committed, and closes the output, also after a failure. */
  close(): Promise<void>;
};

export type OpenedOutput = { readonly store: HarvestStore; readonly output: RecordOutput };

export type Opening = {
  /**
   * Repairs changes by another program; false: they are an error, unless the output is missing or
   * empty.
   */
  readonly verify: boolean;
  /** Called with messages for the user that are no failures. */
  readonly onNote: (text: string) => void;
};

/** Returns the message for an output that is written from the beginning. */
export function formatGone(path: string, verify: boolean): string {
  return verify
    ? t`${path} was changed by another program, and is written again.`
    : t`${path} is missing or empty, and is written again.`;
}
