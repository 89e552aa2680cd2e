import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Recognition } from '../../src/flows/push/recognise-outbox.ts';
import { sha512Of } from '../../src/http/digest.ts';
import { rememberAccount } from '../../src/outbox/accounts.ts';
import { addImport } from '../../src/outbox/entries.ts';
import { openMemory } from '../../src/outbox/history.ts';
import { openOutbox, type ServiceOutbox } from '../../src/outbox/open-outbox.ts';
import { openService } from '../../src/outbox/services.ts';
import { insertFind } from '../../src/outbox/stored-finds.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';

export const ADDRESS = 'https://finds.example.org';
export const USERNAME = 'eva@example.org';
/** Row of the account that {@link tempOutbox} knows from the beginning. */
export const ACCOUNT_ID = 1;

export function tempFolder(): string {
  return mkdtempSync(join(tmpdir(), 'pas-test-'));
}

export type TempOutbox = ServiceOutbox & { readonly [Symbol.dispose]: () => void };

/** An outbox in a new folder, bound to a service and an account that is known there. */
export function tempOutbox(clock: ManualClock = manualClock()): TempOutbox {
  const outbox = openOutbox(join(tempFolder(), 'outbox.sqlite'), clock);
  const bound = openService(outbox, { address: ADDRESS, username: USERNAME });
  rememberAccount(bound, { identCely: 'U-000001', name: 'Eva', email: USERNAME, organisation: 'Museum', role: 'archaeologist' });
  return { ...bound, [Symbol.dispose]: () => outbox.close() };
}

/** The same outbox as another service, or another account, sees it. */
export function asSeenBy(outbox: ServiceOutbox, other: { readonly address?: string; readonly username?: string }): ServiceOutbox {
  return openService(outbox, { address: other.address ?? outbox.address, username: other.username ?? outbox.username });
}

/** A queued import, and the row of its find. */
export function queueImport(
  outbox: ServiceOutbox,
  localId: string,
  project = 'C-202400101',
): { findId: number; entryId: number } {
  const findId = insertFind(outbox, { localId, elements: { poznamka: localId } });
  const document = Buffer.from(`<document>${localId}</document>`);
  const entryId = addImport(outbox, findId, { document, documentSha512: sha512Of(document), project, issues: [] });
  return { findId, entryId };
}

/** A machine that has never seen an outbox, and has no name of its own. */
export function newMachine(): Recognition {
  return { memory: openMemory(join(tempFolder(), 'outboxes.sqlite')), machine: '', wasMoved: async () => false };
}
