import { createHash } from 'node:crypto';

/** Digest of append-only bytes: `chain` covers all but the last blocks, `tail` the chain and these. */
export type ChainedDigest = { readonly chain: string; readonly tail: string };

const BLOCK_BYTES = 64 * 1024;

/** Returns where the tail of so many bytes begins: one or two blocks before the end, or at 0. */
export function tailStart(lengthBytes: number): number {
  return Math.max(0, Math.floor(lengthBytes / BLOCK_BYTES) - 1) * BLOCK_BYTES;
}

/** Hashes bytes incrementally. Only the tail is held, with which a later run can continue. */
export type Chain = {
  add(bytes: Buffer): void;
  digest(): ChainedDigest;
};

/** @param chain of the bytes before the first one that will be added; empty at the beginning */
export function beginChain(chain = ''): Chain {
  let [sealed, end] = [chain, Buffer.alloc(0)];
  return {
    add: (bytes) => {
      end = Buffer.concat([end, bytes]);
      let done = 0;
      for (; end.length - done >= 2 * BLOCK_BYTES; done += BLOCK_BYTES) {
        sealed = linked(sealed, end.subarray(done, done + BLOCK_BYTES));
      }
      if (done > 0) end = Buffer.from(end.subarray(done));
    },
    digest: () => ({ chain: sealed, tail: linked(sealed, end) }),
  };
}

function linked(chain: string, bytes: Buffer): string {
  return createHash('sha256').update(chain).update(bytes).digest('base64');
}
