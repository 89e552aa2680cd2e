import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../dist/src/base/clock.js';
import { sha512Of } from '../dist/src/http/digest.js';
import { rememberAccount } from '../dist/src/outbox/accounts.js';
import { claim, nextDue, settle } from '../dist/src/outbox/claims.js';
import { recount } from '../dist/src/outbox/counts.js';
import { addImport } from '../dist/src/outbox/entries.js';
import { openOutbox } from '../dist/src/outbox/open-outbox.js';
import { openService } from '../dist/src/outbox/services.js';
import { insertFind } from '../dist/src/outbox/stored-finds.js';

const ACCOUNT = { identCely: 'U-000001', name: 'Bench', email: 'archivist', organisation: '', role: '' };
const BATCH = 10_000;
/** As long as the import document of an ordinary find. */
export const DOCUMENT = Buffer.from(
  `<?xml version="1.0" encoding="UTF-8"?>${'<svc:poznamka>keramika, okraj</svc:poznamka>'.repeat(40)}`,
);

/** The outbox of a data home, as an account of the service at this address sees it. */
export function openFilled(home, address) {
  return openService(openOutbox(join(home, 'outbox.sqlite'), systemClock), { address, username: ACCOUNT.email });
}

/** An outbox with this many finds for the service at this address; nine of ten are accepted. */
export async function fillOutbox(home, address, finds) {
  mkdirSync(home, { recursive: true });
  const outbox = openFilled(home, address);
  // What the triggers count is counted once at the end: filling is not what is measured.
  const found = outbox.sql(`select name, sql from sqlite_master where type = 'trigger'`).all();
  const triggers = /** @type {{ name: string, sql: string }[]} */ (found);
  for (const { name } of triggers) outbox.sql(`drop trigger ${name}`).run();
  for (let start = 0; start < finds; start += BATCH) addFinds(outbox, start, Math.min(finds, start + BATCH));
  outbox.sql(`update entries set state = 'accepted', ident_cely = 'C-' || id where id % 10 <> 0`).run();
  for (const { sql } of triggers) outbox.sql(sql).run();
  recount(outbox);
  outbox.close();
}

/** Finds with their imports, queued, in one transaction. */
export function addFinds(outbox, from, to) {
  outbox.change(() => {
    for (let n = from; n < to; n++) {
      const elements = { projekt: { id: 'C-202400101' }, hloubka: String(n % 40), poznamka: `nález ${n}` };
      const id = insertFind(outbox, { localId: `B-${n}`, elements, source: { file: 'bench.csv', row: n + 2 } });
      addImport(outbox, id, {
        document: DOCUMENT,
        documentSha512: sha512Of(DOCUMENT),
        project: 'C-202400101',
        issues: [],
      });
    }
  });
}

/** Takes what is due and settles it as accepted, one by one, as a push does. @returns how many */
export function claimAndSettle(outbox, most) {
  const accountId = rememberAccount(outbox, ACCOUNT);
  const query = {
    kinds: /** @type {const} */ (['import', 'number', 'photo']),
    anyAccount: false,
    recordKeys: undefined,
    busyRecords: [],
    busyProjects: [],
    leftOut: [],
  };
  for (let done = 0; done < most; done++) {
    const due = nextDue(outbox, query);
    if (due === undefined) return done;
    const claimed = claim(outbox, due.id, () => ({ method: 'POST', path: '/api/pas/import', accountId }));
    settle(outbox, claimed, { state: 'accepted', identCely: `C-${due.id}` }, { outcome: 'accepted', status: 201 });
  }
  return most;
}
