import { hash } from 'node:crypto';

/** Returns the digest by which the contract and pas name content (A-DIGEST-1), hexadecimal. */
export function hashSha512(bytes: Buffer): string {
  return hash('sha512', bytes, 'hex');
}
