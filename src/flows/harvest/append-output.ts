import { statSync } from 'node:fs';
import { FileError } from '../../base/errors.ts';
import {
  deleteCheckpoint,
  type HarvestStore,
  readCheckpoint,
  readExtent,
  resetOutput,
  type Subject,
  saveCheckpoint,
  saveExtent,
} from '../../harvested/harvested-records.ts';
import { type RepeatedElements, toHeaderJson, toRecordJson } from '../../oai/record-json.ts';
import { type AppendFile, openAppendFile, parseCheckpoint } from '../../store/append-file.ts';
import { formatGone, type Opening, type RecordOutput } from './record-output.ts';

/** A text file or stream to which pages are appended. */
export type AppendTarget = {
  append(content: string | Buffer): Promise<void>;
  /** Marks the end of the written page; runs in the transaction that commits the page. */
  markEnd(): void;
  /** Flushes the committed text to disk, and saves the length of the file. */
  flush(): Promise<void>;
  isEmpty(): boolean;
  /** Truncates what was not committed, and appends `tail`. To be called once. */
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
    openAppendFile(path, readExtent(store), parseCheckpoint(readCheckpoint(store)));
  const startAnew = (): Promise<AppendFile> => {
    onNote(formatGone(path, verify));
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
  deleteCheckpoint(store);
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
      const checkpoint = await file.close(readExtent(store), tail);
      store.change(() => saveCheckpoint(store, checkpoint));
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
      if (state !== 'over') await write(tail);
      state = 'over';
    },
  };
}

/** A page of large records is written in pieces, which take less memory. */
const MAX_PIECE_BYTES = 1024 * 1024;

/** One JSON object a line. A changed record has a line for each version: the last line counts. */
export function openJsonlOutput(
  growing: AppendTarget,
  repeated: RepeatedElements,
  verb: Subject['verb'],
): RecordOutput {
  return {
    write: async ({ records }) => {
      let lines: Buffer[] = [];
      let lengthBytes = 0;
      for (const record of records) {
        const json = verb === 'ListRecords' ? toRecordJson(record, repeated) : toHeaderJson(record);
        // A text of many lines takes three times as long to encode.
        const line = Buffer.from(`${JSON.stringify(json)}\n`);
        lines.push(line);
        lengthBytes += line.length;
        if (lengthBytes < MAX_PIECE_BYTES) continue;
        await growing.append(Buffer.concat(lines));
        lines = [];
        lengthBytes = 0;
      }
      await growing.append(Buffer.concat(lines));
    },
    notePage: () => growing.markEnd(),
    flush: () => growing.flush(),
    settle: () => growing.close(''),
    close: () => growing.close(''),
  };
}
