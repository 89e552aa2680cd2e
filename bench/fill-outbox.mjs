import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { asServerMs, systemClock } from '../dist/src/base/clock.js';
import { passFence } from '../dist/src/flows/outbox/fence.js';
import { hashSha512 } from '../dist/src/http/request-body.js';
import { bindAccount, rememberAccount } from '../dist/src/outbox/bound-account.js';
import { claim, settle } from '../dist/src/outbox/claims.js';
import { addImport, addPhoto } from '../dist/src/outbox/entries.js';
import { findEntryById, findNextClaimable } from '../dist/src/outbox/entry-queries.js';
import { openJournal } from '../dist/src/outbox/journal.js';
import { openOutbox, readHeader, updateHeader } from '../dist/src/outbox/open-outbox.js';
import { insertFind } from '../dist/src/outbox/stored-finds.js';

export const ACCOUNT = {
  identCely: 'U-000001',
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
 * @typedef {{ readonly file: string, readonly journalFile: string, readonly address: string }}
 * Places
 */

/**
 * The outbox of a file with its journal, bound to an account that pushes it from here.
 * @param {Places & { readonly id?: string }} places `id`: of a new outbox
 * @param {(journal: import('../dist/src/outbox/journal.js').Journal) =>
 * import('../dist/src/outbox/journal.js').Journal} [wrapped]
 */
export function openFilled({ file, journalFile, address, id }, wrapped = (journal) => journal) {
  for (const path of [file, journalFile]) mkdirSync(dirname(path), { recursive: true });
  const outbox = openOutbox(file, systemClock, {
    binding: { address, prefix: 'svc', schemaVersion: '2.2' },
    id,
    journal: () => wrapped(openJournal(journalFile, { machine: () => '', clock: systemClock })),
  });
  passFence(outbox, '');
  rememberAccount(outbox, ACCOUNT.email, ACCOUNT);
  bindAccount(outbox, ACCOUNT.identCely);
  return outbox;
}

/**
 * An outbox with this many finds, and with photographs of each by name; nine of ten are accepted.
 * @param {Places} places
 */
export function fillOutbox(places, finds, photosEach = 0) {
  /** Events go into the journal many at once: filling is not measured. */
  const pending = [];
  let append;
  const outbox = openFilled(places, (journal) => {
    append = journal.append;
    return { ...journal, append: (events) => void pending.push(...events) };
  });
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
    append(pending.splice(0));
  }
  append(pending.splice(0));
  // Both files have the same events: the next command is to merge none.
  const seq = Number(outbox.sql('select max(seq) from events').pluck().get());
  const [last] = outbox.journal.listEventsSince(readHeader(outbox).outbox, seq - 1, 1);
  outbox.change(() => updateHeader(outbox, { mergedSeq: seq, mergedEvent: last.event.id }));
  outbox.close();
}

/** Finds with their imports, queued, in one transaction. @returns the entries */
export function addFinds(outbox, from, to) {
  return outbox.change(() =>
    Array.from({ length: to - from }, (_, index) => {
      const n = from + index;
      const elements = {
        projekt: { id: 'C-202400101' },
        hloubka: String(n % 40),
        poznamka: `nález ${n}`,
      };
      const id = insertFind(outbox, {
        localId: `B-${n}`,
        elements,
        source: { file: 'bench.csv', row: n + 2 },
      });
      return addImport(outbox, id, {
        document: DOCUMENT,
        documentSha512: hashSha512(DOCUMENT),
        digest: `${n}`,
        project: 'C-202400101',
        issues: [],
      });
    }),
  );
}

/** Takes what is due and settles it as accepted, one by one, as a push does. @returns how many */
export function claimAndSettle(outbox, most) {
  const query = {
    kinds: /** @type {const} */ (['import', 'number', 'photo']),
    recordKeys: undefined,
    busyRecords: [],
    busyProjects: [],
    openCircuits: [],
  };
  for (let done = 0; done < most; done++) {
    const due = findNextClaimable(outbox, query);
    if (due === undefined) return done;
    accept(outbox, due.id);
  }
  return most;
}

function addPhotograph(outbox, importId, number) {
  const name = `IMG_${importId}_${number}.jpg`;
  const { findId } = findEntryById(outbox, importId);
  const sha512 = hashSha512(Buffer.from(name));
  return addPhoto(
    outbox,
    { findId, identCely: null },
    { name, mediaType: 'image/jpeg', sizeBytes: 4_000_000, sha512, link: `/photos/${name}` },
  );
}

function accept(outbox, id, identCely = `C-${id}`) {
  const now = asServerMs(Date.now());
  const departure = {
    method: 'POST',
    path: '/api/pas/import',
    account: ACCOUNT.identCely,
    settleMs: 600_000,
  };
  const claimed = claim(outbox, id, () => ({ ...departure, serverMs: now, sentByMs: now }));
  settle(
    outbox,
    claimed,
    { state: 'accepted', identCely },
    { outcome: 'accepted', status: 201, serverDateAt: now },
  );
}
