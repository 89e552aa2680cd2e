import { hash } from 'node:crypto';

/** Returns the digest by which the contract and pas name content (A-DIGEST-1). */
export function hashSha512(bytes: Buffer): Buffer {
  return hash('sha512', bytes, 'buffer');
}
