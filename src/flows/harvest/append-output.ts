import { statSync } from 'node:fs';
import { FileError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import {
  deleteClosedBytes,
  type HarvestStore,
  readClosedBytes,
  readExtent,
  resetOutput,
  saveClosedBytes,
  saveExtent,
} from '../../harvested/harvested-records.ts';
import { type AppendFile, openAppendFile } from '../../store/append-file.ts';

export type Opening = {
  /**
   * Repairs changes by another program; false: they are an error, unless the output is missing or
   * empty.
   */
  readonly verify: boolean;
  /** Called with messages for the user that are no failures. */
  readonly onNote: (text: string) => void;
};

/** A text file or stream to which pages are appended. */
export type AppendTarget = {
  append(content: string | Buffer): Promise<void>;
  /** Marks the end of the written page; runs in the transaction that commits the page. */
  markEnd(): void;
  /**
   * Flushes the committed text to disk, and saves the length of the file; runs after {@link
   * HarvestStore.beginGroup}.
   */
  flush(): Promise<void>;
  isEmpty(): boolean;
  /**
   * Truncates what was not committed, and appends `tail`. A second call does nothing.
   * @throws FileError where another program changed the file meanwhile
   */
  close(tail: string): Promise<void>;
};

/**
 * Opens a file whose committed length and digest are in the store: text that a killed process left
 * after them is truncated, and changes by another program are detected.
 * @throws FileError where the file differs from its stored length or digest
 */
export async function openAppendingFile(
  path: string,
  store: HarvestStore,
  { verify, onNote }: Opening,
): Promise<AppendTarget> {
  const open = (): Promise<AppendFile> =>
    openAppendFile(path, readExtent(store), readClosedBytes(store));
  const startAnew = (): Promise<AppendFile> => {
    onNote(
      verify
        ? t`${path} was changed by another program, and is written again.`
        : t`${path} is missing or empty, and is written again.`,
    );
    store.change(() => resetOutput(store));
    return open();
  };
  const isGone =
    readExtent(store).lengthBytes > 0 &&
    (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
  const file = isGone
    ? await startAnew()
    : await open().catch((thrown: unknown) => {
        if (verify && thrown instanceof FileError) return startAnew();
        throw thrown;
      });
  const flush = async (): Promise<void> => {
    const extent = await file.flush();
    store.change(() => saveExtent(store, extent));
  };
  await flush();
  deleteClosedBytes(store);
  let isClosed = false;
  return {
    append: async (content) =>
      file.append(typeof content === 'string' ? Buffer.from(content) : content),
    markEnd: () => file.markEnd(),
    flush,
    isEmpty: () => file.isEmpty(),
    close: async (tail) => {
      if (isClosed) return;
      isClosed = true;
      const closedBytes = await file.close(readExtent(store), tail);
      store.change(() => saveClosedBytes(store, closedBytes));
    },
  };
}

/** Opens a target for standard output, which cannot be truncated. */
export function openAppendingStream(
  write: (content: string | Buffer) => Promise<void>,
): AppendTarget {
  let state: 'empty' | 'growing' | 'over' = 'empty';
  return {
    append: async (content) => {
      if (content.length === 0) return;
      try {
        await write(content);
        state = 'growing';
      } catch (thrown) {
        state = 'over';
        throw thrown;
      }
    },
    markEnd: () => {},
    flush: async () => {},
    isEmpty: () => state === 'empty',
    close: async (tail) => {
      if (state !== 'over' && tail !== '') await write(tail);
      state = 'over';
    },
  };
}
