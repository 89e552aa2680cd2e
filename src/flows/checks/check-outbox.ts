import { existsSync, statSync } from 'node:fs';
import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { assertSound } from '../../outbox/backup-copy.ts';
import { unsentPhotoEntries } from '../../outbox/entries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { isPushRunning } from '../../outbox/push-lock.ts';
import { openContentStore } from '../../store/content-store.ts';
import { type Check, ok, problem } from './check-machine.ts';

/** Checks each row of the outbox by its checksum. @throws DatabaseError where one is damaged */
export function checkRows(outbox: Outbox): Check {
  assertSound(outbox);
  return ok('rows', t`every find, entry and event of the outbox is as it was written`);
}

/** Reports if a push of the outbox is running. */
export function checkLease(lock: Parameters<typeof isPushRunning>[0]): Check {
  return ok('lease', isPushRunning(lock) ? t`a push of this outbox is running` : t`no other pas holds the outbox`);
}

/**
 * Checks that every unsent photograph exists where it was queued. Its bytes are verified when it is sent.
 * @param outbox undefined where there is none yet
 */
export function checkPhotographs(
  outbox: Outbox | undefined,
  photosFolder: string,
  onProgress: (done: number, total: number) => void,
): Check {
  const copies = openContentStore(photosFolder);
  const waiting = outbox === undefined ? [] : unsentPhotoEntries(outbox).map(({ photograph }) => photograph);
  const count = waiting.length;
  const missing = waiting.filter(({ link, sha512, sizeBytes }, index) => {
    onProgress(index, count);
    const path = link ?? copies.pathOf(sha512);
    return !existsSync(path) || statSync(path).size !== sizeBytes;
  });
  if (missing.length === 0) {
    const message = ngettext(
      msgid`${count} waits to be sent and is in place`,
      `${count} wait to be sent and are in place`,
      count,
    );
    return ok('photographs', message);
  }
  const named = missing
    .slice(0, 3)
    .map(({ name }) => name)
    .join(', ');
  return problem(
    'photographs',
    t`${missing.length} of ${count} queued photographs were removed or changed: ${named}.`,
    t`Queue them again with \`${cmd`pas photo add`} FIND FILE\`.`,
  );
}
