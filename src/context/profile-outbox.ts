import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { ConfigError, DatabaseError, PasError } from '../base/errors.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import { cmd, msg } from '../base/message.ts';
import { isEmptyOutbox } from '../outbox/backup-copy.ts';
import {
  findKnownAccount,
  findKnownUsername,
  isAccountOfUser,
  isSameUser,
} from '../outbox/bound-account.ts';
import { hasEvent } from '../outbox/entries.ts';
import { type Journal, openJournal } from '../outbox/journal.ts';
import { type MergeResult, mergeJournal, NOTHING_MERGED } from '../outbox/merge.ts';
import {
  type Binding,
  isSameBinding,
  type Outbox,
  openOutbox,
  readHeader,
} from '../outbox/open-outbox.ts';
import { copyToTempFolder, isWriteRefused } from '../store/database-file.ts';
import type { Terminal } from '../ui/terminal.ts';
import { assignOutbox, findSimilarProfiles, freeProfileName } from './change-config.ts';
import {
  type ConfigFile,
  listProfilesOfOutbox,
  makeInitCommand,
  type Profile,
  type ProfileSettings,
} from './config.ts';
import type { JournalPlaces, OutboxPlaces, Places } from './places.ts';

/** Parts of the context that the outboxes of a profile need. */
export type ProfileSources = {
  readonly clock: Clock;
  readonly places: Places;
  readonly terminal: Terminal;
  getMachineId(): string;
  getConfig(): ConfigFile;
  getProfile(): Profile;
  onClose(close: () => void): void;
};

type OutboxSources = ProfileSources & {
  /** Current UUID of the profile's outbox in config.toml. */
  findOutboxId(): string | undefined;
  getOutboxPlaces(id: string): OutboxPlaces;
  getJournalPlaces(id: string): JournalPlaces;
};

/** A push waits for the journal; another command continues without it. */
const JOURNAL_WAIT_MS = { push: 5000, command: 250 } as const;

type Purpose = keyof typeof JOURNAL_WAIT_MS;

/**
 * Opens an outbox with its journal, and creates it where a binding is given. It is closed with the
 * context.
 */
export function openOutboxWithJournal(
  sources: OutboxSources,
  id: string,
  purpose: Purpose,
  binding?: Binding,
): Outbox {
  const { clock, terminal } = sources;
  const { journalFile } = sources.getJournalPlaces(id);
  const outbox = openOutbox(sources.getOutboxPlaces(id).outboxFile, clock, {
    ...(binding === undefined ? {} : { binding, id }),
    journal: () =>
      openJournal(journalFile, {
        machine: sources.getMachineId,
        clock,
        busyTimeoutMs: JOURNAL_WAIT_MS[purpose],
        isChecked: purpose === 'push',
        onSetAside: (aside) =>
          terminal.warn(
            t`The journal ${journalFile} was damaged. It was rebuilt from its readable part; the damaged file is now ${aside}.`,
          ),
      }),
  });
  sources.onClose(() => outbox.close());
  return outbox;
}

/**
 * Opens or recreates the outbox and merges its journal.
 * @throws ConfigError where it is another service's or of several users
 */
export function openProfileOutbox(sources: OutboxSources, purpose: Purpose): Outbox {
  const { clock, places } = sources;
  const profile = sources.getProfile();
  const outboxId = sources.findOutboxId();
  const id = outboxId ?? assignOutbox(places, clock, profile.name);
  const isMissing = profile.outbox === id && !existsSync(sources.getOutboxPlaces(id).outboxFile);
  const outbox = openOutboxWithJournal(sources, id, purpose, getBinding(profile));
  if (!isOutboxOfProfile(outbox, profile)) {
    if (!isUnused(outbox)) assertBinding(outbox, profile);
    // The profile has another service now, and an unused outbox can be left.
    return openOutboxWithJournal(
      sources,
      assignOutbox(places, clock, profile.name, id),
      purpose,
      getBinding(profile),
    );
  }
  assertOneUser(sources.getConfig(), outbox, profile);
  const merged = mergeIfPossible(outbox);
  if (isMissing) warnOfMissing(sources, outbox, merged);
  return outbox;
}

/** Opens the outbox of the profile for reading: a copy where nothing can be written. */
export async function openProfileOutboxReadOnly(
  sources: OutboxSources,
  open: () => Promise<Outbox>,
): Promise<Outbox> {
  try {
    return await open();
  } catch (thrown) {
    const id = sources.findOutboxId();
    const file = id === undefined ? undefined : sources.getOutboxPlaces(id).outboxFile;
    if (!isWriteRefused(thrown) || file === undefined || !existsSync(file)) throw thrown;
    const copy = copyToTempFolder(file);
    sources.onClose(copy.remove);
    sources.terminal.note(
      t`${sources.places.home} is not writable: the outbox is read from a copy.`,
    );
    const outbox = openOutbox(copy.path, sources.clock);
    sources.onClose(() => outbox.close());
    assertBinding(outbox, sources.getProfile());
    return outbox;
  }
}

/** Merges the journal, unless it is busy, read-only or damaged: only a push requires it. */
function mergeIfPossible(outbox: Outbox): MergeResult {
  if (outbox.journal === undefined) return NOTHING_MERGED;
  const failures: unknown[] = [];
  try {
    return mergeJournal(
      { ...outbox, journal: watchOutbox(outbox.journal, failures) },
      { withOpen: false },
    );
  } catch (thrown) {
    const isOfJournal = failures.includes(thrown) && thrown instanceof PasError;
    // Another process may be writing to the outbox: the next command merges.
    if (isOfJournal || (thrown instanceof DatabaseError && thrown.exitReason === 'unavailable'))
      return NOTHING_MERGED;
    throw thrown;
  }
}

/** Wraps the journal and collects its errors, since the outbox throws errors of the same class. */
function watchOutbox(journal: Journal, failures: unknown[]): Journal {
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
  const { append, findEventAt, listEventsSince, has, isAnswered } = journal;
  return {
    ...journal,
    append: watch(append),
    findEventAt: watch(findEventAt),
    listEventsSince: watch(listEventsSince),
    has: watch(has),
    isAnswered: watch(isAnswered),
  };
}

function warnOfMissing(
  { terminal }: OutboxSources,
  outbox: Outbox,
  { restoredFinds }: MergeResult,
): void {
  const restored = ngettext(
    msgid`${restoredFinds} find that was sent is restored from the journal.`,
    `${restoredFinds} finds that were sent are restored from the journal.`,
    restoredFinds,
  );
  const why = outbox.journalProblem === undefined ? '' : ` ${outbox.journalProblem.message}`;
  terminal.warn(
    t`The outbox ${outbox.path} was missing and was recreated. ${restored}${why} Finds that were never sent are only in backups: ${cmd`pas restore`} FILE`,
  );
}

export function getBinding({ baseUrl, prefix, schemaVersion }: Profile): Binding {
  return { address: baseUrl, prefix, schemaVersion };
}

function isOutboxOfProfile(outbox: Outbox, profile: Profile): boolean {
  return isSameBinding(readHeader(outbox), getBinding(profile));
}

/**
 * @throws ConfigError with both remedies, where the outbox is for another service than the
 * profile's
 */
export function assertBinding(outbox: Outbox, profile: Profile): void {
  if (isOutboxOfProfile(outbox, profile)) return;
  const { address, prefix, schemaVersion } = readHeader(outbox);
  const { name, baseUrl } = profile;
  if (address !== baseUrl) {
    throw new ConfigError(
      msg`Profile ${name} has ${baseUrl}, but its outbox ${outbox.path} is for ${address}. Nothing was changed.`,
      {
        hint: msg`If that service has moved: ${cmd`pas service moved ${address} ${baseUrl}`}. If it is another service, set base_url of ${name} back to ${address}, and make a new profile: ${cmd`pas init --base-url ${baseUrl} --name`} NAME`,
      },
    );
  }
  const here = `${profile.prefix} ${profile.schemaVersion}`;
  const there = `${prefix} ${schemaVersion}`;
  const flags = `--prefix ${profile.prefix} --schema-version ${profile.schemaVersion}`;
  throw new ConfigError(
    msg`Profile ${name} has the schema ${here}, but its outbox ${outbox.path} has documents of ${there}. Nothing was changed.`,
    {
      hint: msg`If the service now accepts the other one: ${cmd`pas service moved ${address} ${baseUrl}`} ${flags}. If not, set prefix and schema_version of ${name} back, or make a new profile: ${cmd`pas init --base-url ${baseUrl} --name`} NAME`,
    },
  );
}

/** Parts of a data home that are needed to find the outbox of a profile. */
type DataHome = {
  getConfig(): ConfigFile;
  getOutboxPlaces(id: string): { readonly outboxFile: string };
  openOutboxById(id: string): Promise<Outbox>;
};

/**
 * Chooses the outbox of a profile with new settings: its own, else that of another profile of the
 * same account, else a new one.
 * @param profile with the new settings
 * @returns undefined where this is decided at the first use of the outbox
 * @throws ConfigError where its own was used and is for another service or account
 */
export async function chooseOutbox(
  home: DataHome,
  profile: Profile,
  settings: ProfileSettings,
): Promise<string | undefined> {
  const { name, outbox: outboxId } = profile;
  const username = settings.username?.toString();
  const openExisting = async (id: string) =>
    existsSync(home.getOutboxPlaces(id).outboxFile) ? home.openOutboxById(id) : undefined;
  if (outboxId !== undefined) {
    const outbox = await openExisting(outboxId);
    const isShared =
      listProfilesOfOtherUsers(home.getConfig(), outboxId, name, username).length > 0;
    if (outbox !== undefined && !isUnused(outbox)) {
      assertBinding(outbox, profile);
      if (!isShared && !isAccountOfUser(outbox, username))
        throw makeOtherUserError(home.getConfig(), outbox, name, settings);
    }
    const isOwn =
      outbox !== undefined &&
      readHeader(outbox).account !== null &&
      isAccountOfUser(outbox, username);
    if (!isShared || isOwn) return outboxId;
  }
  const alike = findSimilarProfiles(home.getConfig(), name, settings);
  const shared = alike.flatMap(
    (other) => home.getConfig().profiles.get(other)?.outbox?.toString() ?? [],
  );
  for (const id of shared) {
    const outbox = await openExisting(id);
    if (outbox === undefined || isAccountOfUser(outbox, username)) return id;
  }
  return shared.length === 0 ? undefined : randomUUID();
}

function listProfilesOfOtherUsers(
  config: ConfigFile,
  id: string,
  name: string,
  username: string | undefined,
): string[] {
  return listProfilesOfOutbox(config, id).filter((other) => {
    const its = config.profiles.get(other)?.username?.toString();
    return (
      other !== name && its !== undefined && username !== undefined && !isSameUser(its, username)
    );
  });
}

/**
 * @throws ConfigError where profiles of several users use the outbox, which sends as one account
 */
function assertOneUser(config: ConfigFile, outbox: Outbox, { name, outbox: id }: Profile): void {
  const username = config.profiles.get(name)?.username?.toString();
  const otherProfiles =
    id === undefined ? [] : listProfilesOfOtherUsers(config, id, name, username);
  if (otherProfiles.length === 0) return;
  const getSettings = (each: string): ProfileSettings => config.profiles.get(each) ?? {};
  const isBound = readHeader(outbox).account !== null;
  const strangers = [name, ...otherProfiles].filter(
    (each) => !isBound || !isAccountOfUser(outbox, getSettings(each).username?.toString()),
  );
  const [first = otherProfiles[0] ?? name] = strangers;
  const names = [name, ...otherProfiles].join(', ');
  const command = makeInitCommand(first, getSettings(first));
  throw new ConfigError(
    msg`Profiles ${names} belong to several users but share one outbox, ${outbox.path}.`,
    {
      hint: msg`An outbox sends as one account. Give ${first} its own outbox: ${command}`,
    },
  );
}

function makeOtherUserError(
  config: ConfigFile,
  outbox: Outbox,
  name: string,
  settings: ProfileSettings,
): ConfigError {
  const account = readHeader(outbox).account ?? '';
  const username = settings.username?.toString() ?? '';
  const before = findKnownUsername(outbox) ?? findKnownAccount(outbox)?.email ?? '';
  const command = makeInitCommand(freeProfileName(config, username), settings);
  return new ConfigError(
    msg`Profile ${name} would be for the user ${username}, but its outbox ${outbox.path} sends as ${before} (${account}). Nothing was changed.`,
    {
      hint: msg`If that account now has the user name ${username}: ${cmd`pas login --profile ${name} --username ${username}`}. If it is another account, make a profile for it: ${command}`,
    },
  );
}

/** Tells if the outbox is empty and no attempt was made from it. */
export function isUnused(outbox: Outbox): boolean {
  return isEmptyOutbox(outbox) && !hasEvent(outbox);
}
