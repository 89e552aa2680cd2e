import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Image } from './recorded-disk.ts';

const OUTBOX = /^pas\/outboxes\/[\da-f]{32}\/outbox\.sqlite$/;
const LEDGER = /(?:^|\/)ledger\.sqlite$/;

/** The folder of the one outbox that a home has; one that there is not where it has none. */
export function outboxFolder(home: string): string {
  const outboxes = join(home, 'pas', 'outboxes');
  const [id = 'none'] = existsSync(outboxes)
    ? readdirSync(outboxes).filter((name) => !name.startsWith('restoring-'))
    : [];
  return join(outboxes, id);
}

/** The same of what a disk has, relative to its home; undefined where it has no outbox. */
export function outboxIn(image: Image): string | undefined {
  return [...image.keys()].find((path) => OUTBOX.test(path));
}

/** Beside the outbox in a container, and else in the state folder. */
export function ledgerIn(image: Image): string | undefined {
  return [...image.keys()].find((path) => LEDGER.test(path));
}
