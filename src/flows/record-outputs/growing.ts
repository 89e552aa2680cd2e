import type { Ledger } from '../../ledger/ledger.ts';
import { commitBytes, committedBytes } from '../../ledger/subject.ts';
import { type AppendFile, openAppendFile } from '../../store/append-file.ts';

/** Text that grows page by page. */
export type Growing = {
  append(text: string): Promise<void>;
  /** In the transaction that notes the page. */
  commit(): void;
  /** Whether nothing was ever appended. */
  isEmpty(): boolean;
  /** Cuts off what was not committed, and puts `tail` behind the rest. */
  close(tail: string): Promise<void>;
};

/** A file whose committed length stands in the ledger, so that whatever a kill leaves behind it is cut off. */
export async function growingFile(path: string, ledger: Ledger): Promise<Growing> {
  const file: AppendFile = await openAppendFile(path, committedBytes(ledger));
  return {
    append: (text) => file.append(Buffer.from(text)),
    commit: () => commitBytes(ledger, file.lengthBytes),
    isEmpty: () => file.lengthBytes === 0,
    close: (tail) => file.close(committedBytes(ledger), tail),
  };
}

/** A stream that is read as it is written: nothing can be taken back. */
export function growingStream(write: (text: string) => Promise<void>): Growing {
  let state: 'empty' | 'growing' | 'broken' = 'empty';
  return {
    append: async (text) => {
      if (text === '') return;
      try {
        await write(text);
        state = 'growing';
      } catch (thrown) {
        state = 'broken';
        throw thrown;
      }
    },
    commit: () => {},
    isEmpty: () => state === 'empty',
    close: async (tail) => {
      if (state !== 'broken') await write(tail);
    },
  };
}
