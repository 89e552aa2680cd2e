import { existsSync, statSync } from 'node:fs';
import { isLockingReliable } from '../../base/disk/lock-file.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { openContentStore } from '../../outbox/changes/kept-photographs.ts';
import { listUnsentPhotoEntries } from '../../outbox/entry-queries.ts';
import { assertSoundLedger } from '../../outbox/ledger.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { isPushRunning } from '../../outbox/push-lock.ts';
import { assertSoundOutbox, type OutboxDescription } from '../../outbox/repair-outbox.ts';
import { getPushPlace } from '../../outbox/unite.ts';
import {
  type Check,
  checkDatabase,
  makeFailedCheck,
  makePassedCheck,
  makeProblemCheck,
} from './check-machine.ts';

/**
 * Checks each fact of the outbox by its id.
 * @throws DatabaseError where one is damaged
 */
export function checkFacts(outbox: Outbox): Check {
  assertSoundOutbox(outbox);
  return makePassedCheck('rows', t`every fact of the outbox is as it was written`);
}

/** Makes the passing result that shows service, account and counts of the outbox. */
export function makeContentsCheck({ header, user, finds, unsent }: OutboxDescription): Check {
  const { address } = header;
  const account = user ?? t`no account has signed in yet`;
  const found = ngettext(msgid`${finds} find`, `${finds} finds`, finds);
  const left = ngettext(msgid`${unsent} entry not sent`, `${unsent} entries not sent`, unsent);
  return makePassedCheck('contents', t`for ${address} (${account}): ${found}, ${left}`);
}

/** Makes the result that tells if a push of the outbox is running; it always passes. */
export function checkLease(lock: Parameters<typeof isPushRunning>[0]): Check {
  return makePassedCheck(
    'lease',
    isPushRunning(lock)
      ? t`a push of this outbox is running`
      : t`no other pas process is using the outbox`,
  );
}

/**
 * Checks that the file of every unsent photograph exists and has its size; a push verifies its
 * bytes.
 * @param outbox undefined where there is none
 */
export function checkPhotographs(
  outbox: Outbox | undefined,
  photosFolder: string,
  onProgress: (doneCount: number, total: number) => void,
): Check {
  const copies = openContentStore(photosFolder);
  const waiting =
    outbox === undefined ? [] : listUnsentPhotoEntries(outbox).map(({ photograph }) => photograph);
  const count = waiting.length;
  const missing = waiting.filter(({ link, sha512, sizeBytes }, index) => {
    onProgress(index, count);
    const path = link ?? copies.getPath(sha512);
    return !existsSync(path) || statSync(path).size !== sizeBytes;
  });
  if (missing.length === 0) {
    const message = ngettext(
      msgid`${count} is waiting to be sent, and its file is unchanged`,
      `${count} are waiting to be sent, and their files are unchanged`,
      count,
    );
    return makePassedCheck('photographs', message);
  }
  const names = missing
    .slice(0, 3)
    .map(({ name }) => name)
    .join(', ');
  return makeProblemCheck(
    'photographs',
    t`${missing.length} of ${count} queued photographs were removed or changed: ${names}.`,
    t`Queue them again with \`${cmd`pas photo add`} FIND FILE\`.`,
  );
}

/**
 * Checks each fact of the ledger, and reports its size and place; a missing one passes.
 * @param isShared one ledger for all outboxes of this machine
 */
export function checkLedger(file: string, isShared: boolean): Check {
  if (!existsSync(file)) return makePassedCheck('ledger', t`${file} does not exist yet`);
  const todo = t`Move it aside, and make it again from the outboxes: ${cmd`pas doctor --repair`}`;
  const { level, message } = checkDatabase('ledger', file, todo);
  if (level !== 'ok') return makeProblemCheck('ledger', message, todo, 'config');
  try {
    assertSoundLedger(file);
  } catch (thrown) {
    return makeProblemCheck('ledger', makeFailedCheck('ledger', thrown).message, todo, 'config');
  }
  return makePassedCheck(
    'ledger',
    isShared ? t`${message}, for all outboxes of this machine` : t`${message}, beside its outbox`,
  );
}

/** Checks that a lock in the folder excludes another process; a missing folder passes. */
export function checkLocks(folder: string): Check {
  if (!existsSync(folder))
    return makePassedCheck('locks', t`${folder} is created by the first push`);
  if (isLockingReliable(folder))
    return makePassedCheck('locks', t`locking works in ${folder}: only one push can run`);
  return makeProblemCheck(
    'locks',
    t`A lock in ${folder} does not prevent a second push: finds could be sent twice.`,
    t`Move the state folder to a disk of this machine (PAS_STATE), and never start two pushes at once.`,
  );
}

/**
 * Checks that a push from this machine is permitted.
 * @param machine identifier of this machine; empty where it has none
 */
export function checkMachineOfOutbox(outbox: Outbox, machine: string): Check {
  const { ledger, ledgerProblem } = outbox;
  if (ledgerProblem !== undefined) {
    const todo = ledgerProblem.hint ?? t`Correct it and run \`${cmd`pas doctor`}\` again.`;
    return makeProblemCheck('belongs-to', ledgerProblem.message, todo, ledgerProblem.exitReason);
  }
  const place = ledger === undefined ? 'new' : getPushPlace(outbox, machine).kind;
  switch (place) {
    case 'own':
      return makePassedCheck('belongs-to', t`the outbox is pushed from this machine`);
    case 'new':
      return makePassedCheck('belongs-to', t`the outbox has not been pushed yet`);
    case 'lost-ledger':
      return makePassedCheck(
        'belongs-to',
        t`the ledger that the outbox was pushed with is missing; the next push searches the service first`,
      );
    case 'foreign':
      return makeProblemCheck(
        'belongs-to',
        t`The outbox was pushed from another place.`,
        t`If you no longer push from there: ${cmd`pas push --take-over`}`,
      );
  }
}
