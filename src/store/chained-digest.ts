import { createHash } from 'node:crypto';

/** Digest of bytes that are only ever added to: `chain` over all but the end, `tail` over the chain and the end. */
export type ChainedDigest = { readonly chain: string; readonly tail: string };

const BLOCK_BYTES = 64 * 1024;

/** Where the end of so many bytes begins: one or two blocks before it, or at the beginning. */
export function tailStart(lengthBytes: number): number {
  return Math.max(0, Math.floor(lengthBytes / BLOCK_BYTES) - 1) * BLOCK_BYTES;
}

/** Takes bytes one after another. Only the end of them is kept, so that another run can go on with that alone. */
export type Chain = {
  add(bytes: Buffer): void;
  digest(): ChainedDigest;
};

/** @param chain over what stands before the first byte that will be added; empty at the beginning */
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
