import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asServerMs, systemClock } from '../dist/src/base/clock.js';
import { hashSha512 } from '../dist/src/base/disk/files.js';
import { claimQueuedEntry, recordAnswer } from '../dist/src/outbox/attempts.js';
import {
  findEntryById,
  findImportOfFind,
  findNextClaimableEntry,
  listPhotographsByDigest,
} from '../dist/src/outbox/entry-queries.js';
import { openLedger } from '../dist/src/outbox/ledger.js';
import { openOutbox, storeKnownAccount } from '../dist/src/outbox/open-outbox.js';
import { getPushPlace, storePushPlace } from '../dist/src/outbox/push-lock.js';
import { uniteWithLedger } from '../dist/src/outbox/unite.js';
import { recordNewFind, recordPhotoWish } from '../dist/src/outbox/wishes.js';
import { PAS } from './measure.mjs';

export const ACCOUNT = {
  identCely: 'U-000001',
  username: 'archivist',
  name: 'Bench',
  email: 'archivist',
  organisation: '',
  role: '',
  prefix: '',
  namespace: '',
};
const BATCH = 10_000;
/** As long as the import document of an ordinary find. */
export const DOCUMENT = Buffer.from(
  `<?xml version="1.0" encoding="UTF-8"?>${'<svc:poznamka>keramika, okraj</svc:poznamka>'.repeat(40)}`,
);

/**
 * @typedef {{ readonly file: string, readonly ledgerFile: string, readonly address: string }} Places
 */

/**
 * Makes the outbox of a home.
 * @returns {Places}
 */
export function makePlaces(env, address) {
  // Opens the outbox, though there is no command to undo.
  spawnSync(process.execPath, [PAS, 'undo'], { env });
  const ledgerFile = join(env.XDG_STATE_HOME, 'pas', 'ledger.sqlite');
  return { file: findOutboxFile(env), ledgerFile, address };
}

/** Returns the path of the only outbox of a home. */
export function findOutboxFile(env) {
  const outboxes = join(env.PAS_HOME, 'outboxes');
  const [name] = readdirSync(outboxes);
  return join(outboxes, name, 'outbox.sqlite');
}

/**
 * The outbox of a file with its ledger, bound to an account that pushes it from here.
 * @param {Places} places
 * @param {(ledger: import('../dist/src/outbox/ledger.js').Ledger) =>
 * import('../dist/src/outbox/ledger.js').Ledger} [wrapped]
 */
export function openFilled({ file, ledgerFile, address }, wrapped = (ledger) => ledger) {
  for (const path of [file, ledgerFile]) mkdirSync(dirname(path), { recursive: true });
  const outbox = openOutbox(file, systemClock, {
    binding: {
      kind: 'training',
      address,
      username: ACCOUNT.email,
    },
    ledger: () => wrapped(openLedger(ledgerFile)),
  });
  storeKnownAccount(outbox, ACCOUNT);
  uniteWithLedger(outbox, ACCOUNT.identCely);
  storePushPlace(outbox, '', getPushPlace(outbox, ''));
  return outbox;
}

/**
 * An outbox with this many finds, and with photographs of each by name; nine of ten are accepted.
 * @param {Places} places
 */
export function fillOutbox(places, finds, photosEach = 0) {
  /** Facts go into the ledger many at once: filling is not measured. */
  const pending = [];
  let append;
  const outbox = openFilled(places, (ledger) => {
    append = ledger.append;
    return {
      ...ledger,
      append: (scope, facts, intents = []) => void pending.push({ scope, facts, intents }),
    };
  });
  const flush = () => {
    if (pending.length === 0) return;
    const calls = pending.splice(0);
    append(
      calls[0].scope,
      calls.flatMap(({ facts }) => facts),
      calls.flatMap(({ intents }) => intents),
    );
  };
  for (let start = 0; start < finds; start += BATCH) {
    outbox.change(() => {
      for (const [index, id] of addFinds(outbox, start, Math.min(finds, start + BATCH)).entries()) {
        const photographs = Array.from({ length: photosEach }, (_, photo) =>
          addPhotograph(outbox, id, photo),
        );
        if (index % 10 === 0) continue;
        accept(outbox, id);
        for (const photograph of photographs) accept(outbox, photograph, `C-${id}`);
      }
    });
    flush();
  }
  // The next command has nothing to unite.
  uniteWithLedger(outbox);
  flush();
  outbox.close();
}

/** Finds with their imports, queued, in one transaction. @returns the entries */
export function addFinds(outbox, from, to) {
  return outbox.change(() =>
    Array.from({ length: to - from }, (_, index) => {
      const n = from + index;
      const elements = {
        projekt: { id: 'C-202400101', text: '' },
        hloubka: n % 40,
        poznamka: `nález ${n}`,
      };
      const localId = `B-${n}`;
      const row = { path: null, file: 'bench.csv', row: n + 2, key: localId, photos: {} };
      const find = { localId, elements, rows: [row] };
      const uuid = recordNewFind(outbox, find, { document: DOCUMENT, issues: [] });
      return findImportOfFind(outbox, uuid).id;
    }),
  );
}

/** Takes what is due and settles it as accepted, one by one, as a push does. @returns how many */
export function claimAndSettle(outbox, most) {
  const query = {
    kinds: /** @type {const} */ (['import', 'number', 'photo']),
    subjects: undefined,
    busyRecords: [],
    closed: [],
  };
  for (let done = 0; done < most; done++) {
    const due = findNextClaimableEntry(outbox, query);
    if (due === undefined) return done;
    accept(outbox, due.id);
  }
  return most;
}

function addPhotograph(outbox, importId, number) {
  const name = `IMG_${importId}_${number}.jpg`;
  const { subject } = findEntryById(outbox, importId);
  const sha512 = hashSha512(Buffer.from(name));
  recordPhotoWish(outbox, subject, {
    name,
    mediaType: 'image/jpeg',
    sizeBytes: 4_000_000,
    sha512,
  });
  return listPhotographsByDigest(outbox, subject, sha512)[0].id;
}

function accept(outbox, id, identCely = `C-${id}`) {
  const now = asServerMs(Date.now());
  const departure = {
    method: 'POST',
    path: '/api/pas/import',
    account: ACCOUNT.identCely,
    settleMs: 600_000,
  };
  const claimed = claimQueuedEntry(outbox, id, () => ({
    ...departure,
    fromMs: now,
    sentByMs: now,
  }));
  recordAnswer(
    outbox,
    claimed,
    { state: 'accepted', identCely },
    { outcome: 'accepted', status: 201, serverDateAt: now },
  );
}
