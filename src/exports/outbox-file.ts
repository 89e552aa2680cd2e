import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { ConfigError } from '../base/errors.ts';
import { readConfigFile } from '../context/config.ts';
import { type JournalPlaces, journalLayout, journalPlaces } from '../context/outbox-places.ts';
import { placesFrom } from '../context/places.ts';
import { openJournal } from '../outbox/journal.ts';
import { machineId, thisSystem } from '../outbox/machine-id.ts';
import { mergeJournal } from '../outbox/merge.ts';
import { headerOf, type Outbox, openOutbox } from '../outbox/open-outbox.ts';
import type { acquirePushLock } from '../outbox/push-lock.ts';

type OutboxFile = {
  readonly file: string;
  readonly journalFile?: string;
  readonly service: { readonly prefix?: string; readonly schemaVersion?: string };
};

type Opened = { readonly outbox: Outbox; readonly lock: Parameters<typeof acquirePushLock>[0] };

/** Opens the file with its journal, and merges that. @throws ConfigError where it is for another service */
export function openOutboxFile({ file, service, journalFile }: OutboxFile, address: string): Opened {
  const { prefix = 'svc', schemaVersion = '2.2' } = service;
  const journal = journalOf(file, journalFile);
  const outbox = openOutbox(file, systemClock, {
    binding: { address, prefix, schemaVersion },
    journal: () => openJournal(journal.journalFile, { machine: () => machineId(thisSystem), clock: systemClock }),
  });
  try {
    const header = headerOf(outbox);
    if (header.address !== address || header.prefix !== prefix || header.schemaVersion !== schemaVersion) {
      const [here, there] = [
        `${address} ${prefix} ${schemaVersion}`,
        `${header.address} ${header.prefix} ${header.schemaVersion}`,
      ];
      throw new ConfigError(`${file} is an outbox for ${there}, not for ${here}.`, {
        hint: 'Use another file for another service. Where the service has moved, run pas service moved OLD NEW.',
      });
    }
    mergeJournal(outbox, { withOpen: false });
    return { outbox, lock: lockOf(outbox, journal) };
  } catch (thrown) {
    outbox.close();
    throw thrown;
  }
}

/** Returns the journal of the program `pas`, so that this process and `pas` never push one file at once. */
function journalOf(file: string, given: string | undefined): JournalPlaces {
  const places = placesFrom(process.env);
  if (given !== undefined) return { journalFile: given, locksFolder: join(dirname(given), 'locks'), layout: 'state' };
  return journalPlaces(places, journalLayout(readConfigFile(places.configFile).journal, thisSystem), dirname(file));
}

function lockOf(outbox: Outbox, { locksFolder }: JournalPlaces): Opened['lock'] {
  const holder = { pid: process.pid, host: hostname() };
  return { folder: locksFolder, outboxId: headerOf(outbox).outbox, clock: systemClock, holder };
}
