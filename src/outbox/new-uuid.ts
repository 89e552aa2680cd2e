import { randomUUID } from 'node:crypto';

/**
 * A UUID of version 7 (RFC 9562): it begins with the time, so that the rows of an import stand beside one another in an index.
 * @param now milliseconds since 1970 UTC
 */
export function newUuid(now: number): string {
  const time = Math.floor(now).toString(16).padStart(12, '0');
  // A random one differs in its first twelve digits and in the version.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
