import type { MessageKey } from './messages.ts';

type DigestFault = Extract<
  MessageKey,
  'digest-missing' | 'digest-malformed' | 'digest-base64' | 'digest-mismatch'
>;

/**
 * Parses one `Content-Digest: sha-512=:<base64>:` (RFC 9530).
 * @returns the bytes, or the fault of the header
 */
export function parseContentDigest(header: string | undefined): Buffer | DigestFault {
  if (header === undefined || header.trim() === '') return 'digest-missing';
  const match = /^sha-512=:(.*):$/s.exec(header.trim());
  const encoded = match?.[1];
  if (encoded === undefined || encoded.includes(':')) return 'digest-malformed';
  // The service ignores stray characters, but not an impossible length.
  const meaningful = encoded.replace(/[^A-Za-z0-9+/=]/g, '');
  const valid =
    meaningful.length > 0 &&
    meaningful.length % 4 === 0 &&
    /^[A-Za-z0-9+/]+={0,2}$/.test(meaningful);
  return valid ? Buffer.from(meaningful, 'base64') : 'digest-base64';
}

/** Explains why a digest header does not match these bytes; undefined where it does. */
export function findDigestFault(
  header: string | undefined,
  sha512: Buffer,
): DigestFault | undefined {
  const digest = parseContentDigest(header);
  if (typeof digest === 'string') return digest;
  return digest.equals(sha512) ? undefined : 'digest-mismatch';
}
