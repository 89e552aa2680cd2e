import { existsSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { DatabaseError, PasError } from '../base/errors.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import { cmd } from '../base/message.ts';
import { type Journal, openJournal } from '../outbox/journal.ts';
import { type Merged, mergeJournal, NOTHING_MERGED } from '../outbox/merge.ts';
import { type Binding, type Outbox, openOutbox } from '../outbox/open-outbox.ts';
import { cannotWrite, copyToTempFolder } from '../store/database-file.ts';
import type { Terminal } from '../ui/terminal.ts';
import { assignOutbox } from './change-config.ts';
import { assertBinding, assertOneUser, bindingOf, fitsProfile, isUnused } from './check-binding.ts';
import type { ConfigFile, Profile } from './config.ts';
import type { JournalPlaces, OutboxPlaces } from './outbox-places.ts';
import type { Places } from './places.ts';

/** Parts of the context that opening an outbox needs. */
type OutboxSources = {
  readonly clock: Clock;
  readonly places: Places;
  readonly terminal: Terminal;
  machine(): string;
  config(): ConfigFile;
  profile(): Profile;
  /** Current UUID of the profile's outbox in config.toml. */
  knownOutboxId(): string | undefined;
  outboxPlaces(id: string): OutboxPlaces;
  journalPlaces(id: string): JournalPlaces;
  onClose(close: () => void): void;
};

/** A push waits for the journal; another command continues without it. */
const JOURNAL_WAIT_MS = { push: 5000, command: 250 } as const;

type Purpose = keyof typeof JOURNAL_WAIT_MS;

/** Opens an outbox with its journal, and creates it where a binding is given. It is closed with the context. */
export function openOutboxOf(sources: OutboxSources, id: string, purpose: Purpose, binding?: Binding): Outbox {
  const { clock, terminal } = sources;
  const { journalFile } = sources.journalPlaces(id);
  const outbox = openOutbox(sources.outboxPlaces(id).outboxFile, clock, {
    ...(binding === undefined ? {} : { binding, id }),
    journal: () =>
      openJournal(journalFile, {
        ...{ machine: sources.machine, clock, busyTimeoutMs: JOURNAL_WAIT_MS[purpose], isChecked: purpose === 'push' },
        onSetAside: (aside) =>
          terminal.warn(
            t`The journal ${journalFile} was damaged. It was rebuilt from what could be read; the damaged one is ${aside}.`,
          ),
      }),
  });
  sources.onClose(() => outbox.close());
  return outbox;
}

/**
 * Opens the outbox of the profile, and merges its journal. A missing outbox is recreated.
 * @throws ConfigError where it is for another service than the profile, or profiles of several users use it
 */
export function openProfileOutbox(sources: OutboxSources, purpose: Purpose): Outbox {
  const { clock, places } = sources;
  const profile = sources.profile();
  const known = sources.knownOutboxId();
  const id = known ?? assignOutbox(places, clock, profile.name);
  const isMissing = profile.outbox === id && !existsSync(sources.outboxPlaces(id).outboxFile);
  const outbox = openOutboxOf(sources, id, purpose, bindingOf(profile));
  if (!fitsProfile(outbox, profile)) {
    if (!isUnused(outbox)) assertBinding(outbox, profile);
    // The profile has another service now, and an unused outbox can be left.
    return openOutboxOf(sources, assignOutbox(places, clock, profile.name, id), purpose, bindingOf(profile));
  }
  assertOneUser(sources.config(), outbox, profile);
  const merged = mergeIfPossible(outbox);
  if (isMissing) warnOfMissing(sources, outbox, merged);
  return outbox;
}

/** Opens the outbox of the profile for reading: a copy where nothing can be written. */
export async function openProfileOutboxReadOnly(sources: OutboxSources, open: () => Promise<Outbox>): Promise<Outbox> {
  try {
    return await open();
  } catch (thrown) {
    const id = sources.knownOutboxId();
    const file = id === undefined ? undefined : sources.outboxPlaces(id).outboxFile;
    if (!cannotWrite(thrown) || file === undefined || !existsSync(file)) throw thrown;
    const copy = copyToTempFolder(file);
    sources.onClose(copy.remove);
    sources.terminal.note(t`Nothing can be written in ${sources.places.home}: the outbox is read from a copy.`);
    const outbox = openOutbox(copy.path, sources.clock);
    sources.onClose(() => outbox.close());
    assertBinding(outbox, sources.profile());
    return outbox;
  }
}

/** Merges the journal, unless it is busy, read-only or damaged: only a push requires it. */
function mergeIfPossible(outbox: Outbox): Merged {
  if (outbox.journal === undefined) return NOTHING_MERGED;
  const failures: unknown[] = [];
  try {
    return mergeJournal({ ...outbox, journal: watched(outbox.journal, failures) }, { withOpen: false });
  } catch (thrown) {
    const isOfJournal = failures.includes(thrown) && thrown instanceof PasError;
    // Another process may be writing to the outbox: the next command merges.
    if (isOfJournal || (thrown instanceof DatabaseError && thrown.exitReason === 'unavailable')) return NOTHING_MERGED;
    throw thrown;
  }
}

/** Wraps the journal and collects its errors, since the outbox throws errors of the same class. */
function watched(journal: Journal, failures: unknown[]): Journal {
  const watch = <Values extends unknown[], T>(work: (...values: Values) => T) => {
    return (...values: Values): T => {
      try {
        return work(...values);
      } catch (thrown) {
        failures.push(thrown);
        throw thrown;
      }
    };
  };
  const { append, eventAt, eventsSince, has } = journal;
  return { ...journal, append: watch(append), eventAt: watch(eventAt), eventsSince: watch(eventsSince), has: watch(has) };
}

function warnOfMissing({ terminal }: OutboxSources, outbox: Outbox, { restoredFinds }: Merged): void {
  const restored = ngettext(
    msgid`${restoredFinds} find that was sent is restored from the journal.`,
    `${restoredFinds} finds that were sent are restored from the journal.`,
    restoredFinds,
  );
  const why = outbox.journalProblem === undefined ? '' : ` ${outbox.journalProblem.message}`;
  terminal.warn(
    t`The outbox ${outbox.path} was missing and is made anew. ${restored}${why} Finds that were never sent are only in backups: ${cmd`pas restore`} FILE`,
  );
}
