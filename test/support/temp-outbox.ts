import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha512Of } from '../../src/http/digest.ts';
import { addImport } from '../../src/outbox/entries.ts';
import { insertFind } from '../../src/outbox/finds.ts';
import { type Outbox, openOutbox } from '../../src/outbox/outbox.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';

export const PROFILE = 'test';

export function tempFolder(): string {
  return mkdtempSync(join(tmpdir(), 'pas-test-'));
}

export function tempOutbox(clock: ManualClock = manualClock()): Outbox & { readonly [Symbol.dispose]: () => void } {
  const outbox = openOutbox(join(tempFolder(), 'outbox.sqlite'), clock);
  return { ...outbox, [Symbol.dispose]: () => outbox.close() };
}

/** A queued import, and the row of its find. */
export function queueImport(outbox: Outbox, localId: string, project = 'C-202400101'): { findId: number; entryId: number } {
  const findId = insertFind(outbox, { localId, elements: { poznamka: localId } });
  const document = Buffer.from(`<document>${localId}</document>`);
  const entryId = addImport(outbox, PROFILE, findId, { document, documentSha512: sha512Of(document), project, issues: [] });
  return { findId, entryId };
}
