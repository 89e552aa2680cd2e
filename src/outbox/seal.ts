import { createHash } from 'node:crypto';
import type { NumberEntry, PhotoEntry } from './entry.ts';

type Sealed = Pick<NumberEntry, 'kind' | 'recordKey' | 'value'> | Pick<PhotoEntry, 'kind' | 'recordKey' | 'photograph'>;

/** A digest over what an entry is to do, and to which record. */
export function sealOf(entry: Sealed): Buffer {
  const { kind, recordKey: key } = entry;
  const content =
    entry.kind === 'number'
      ? [entry.value]
      : [entry.photograph.name, entry.photograph.mediaType, entry.photograph.sha512.toString('hex')];
  return createHash('sha256')
    .update(JSON.stringify([kind, key, ...content]))
    .digest();
}
