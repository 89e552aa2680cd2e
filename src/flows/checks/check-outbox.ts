import { existsSync, statSync } from 'node:fs';
import { momentText, msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { countsAreRight } from '../../outbox/counts.ts';
import { leaseHolder, lifeOf } from '../../outbox/lease.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { unsentPhotoEntries } from '../../outbox/photographs.ts';
import { openContentStore } from '../../store/content-store.ts';
import { type Check, ok, problem, warning } from './check-machine.ts';

/** Whether the counts that are kept are those of what is there. */
export function checkCounts(outbox: ServiceOutbox): Check {
  if (countsAreRight(outbox)) return ok('counts', t`the counts of finds and entries are right`);
  return warning(
    'counts',
    t`The counts that \`${cmd`pas status`}\` shows are not those of the outbox.`,
    t`Count anew: ${cmd`pas status --recount`}`,
  );
}

/** Whether a push could take the outbox now. */
export function checkLease(outbox: ServiceOutbox): Check {
  const held = leaseHolder(outbox);
  if (held === undefined) return ok('lease', t`no other pas holds the outbox`);
  const { pid, host } = held;
  const since = momentText(held.takenAt);
  switch (lifeOf(held, outbox.processes)) {
    case 'alive':
      return ok('lease', t`a push is running: process ${pid}, since ${since}`);
    case 'dead':
      return ok('lease', t`the last push, process ${pid}, stopped in its middle; the next one takes over`);
    case 'unknown':
      return warning(
        'lease',
        t`Process ${pid} on ${host} holds the outbox since ${since}; whether it still runs cannot be seen from here.`,
        t`Look on ${host} whether process ${pid} is a pas (it may be called node). If it is not: ${cmd`pas push --take-over`}`,
      );
  }
}

/**
 * Every photograph that waits is where it was when it was queued. Its bytes are checked when it is sent.
 * @param outbox undefined where there is none yet
 */
export function checkPhotographs(
  outbox: ServiceOutbox | undefined,
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
