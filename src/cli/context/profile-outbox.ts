import { existsSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { ConfigError, DatabaseError, PasError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { cmd, msg } from '../../base/message.ts';
import { openLedger } from '../../outbox/ledger.ts';
import {
  type Binding,
  type Outbox,
  openOutbox,
  readHeader,
  updateHeader,
} from '../../outbox/open-outbox.ts';
import { isEmptyOutbox } from '../../outbox/repair-outbox.ts';
import { uniteWithLedger } from '../../outbox/unite.ts';
import type { Terminal } from '../terminal.ts';
import { type ConfigFile, listProfilesOfOutbox, type Profile } from './config.ts';
import { type DataPaths, type LedgerPaths, listOutboxNames, type OutboxPaths } from './places.ts';

/** Parts of the context that open outboxes. */
export type OutboxSources = {
  readonly clock: Clock;
  readonly places: DataPaths;
  readonly terminal: Terminal;
  getMachineId(): string;
  getConfig(): ConfigFile;
  getProfile(): Profile;
  getOutboxPlaces(name?: string): OutboxPaths;
  getLedgerPlaces(name?: string): LedgerPaths;
  onClose(close: () => void): void;
};

/** A push waits for the ledger; another command continues without it. */
const LEDGER_WAIT_MS = { push: 5000, command: 250 } as const;

type Purpose = keyof typeof LEDGER_WAIT_MS;

/**
 * Opens an outbox of the data home with the ledger, without uniting them. The caller closes it.
 * @param name of the outbox, not of a profile
 * @param purpose decides how long the ledger is waited for, and whether it is checked
 * @param binding creates a missing outbox
 */
export function openStoredOutbox(
  sources: Pick<OutboxSources, 'clock' | 'getMachineId' | 'getOutboxPlaces' | 'getLedgerPlaces'>,
  name: string,
  { purpose = 'push', binding }: { readonly purpose?: Purpose; readonly binding?: Binding } = {},
): Outbox {
  const { ledgerFile } = sources.getLedgerPlaces(name);
  return openOutbox(sources.getOutboxPlaces(name).outboxFile, sources.clock, {
    binding,
    ledger: () =>
      openLedger(ledgerFile, {
        machine: sources.getMachineId,
        busyTimeoutMs: LEDGER_WAIT_MS[purpose],
        isChecked: purpose === 'push',
      }),
  });
}

/**
 * Opens or creates the outbox of the profile's service and user, and unites it with the ledger,
 * unless that is busy or has a problem. It is closed with the context. An empty outbox takes over
 * the service of the profile.
 * @throws ConfigError where it has finds for another service
 */
export function openProfileOutbox(sources: OutboxSources, purpose: Purpose): Outbox {
  const profile = sources.getProfile();
  const isNew = !existsSync(sources.getOutboxPlaces().outboxFile);
  const binding = getBinding(profile);
  const outbox = openStoredOutbox(sources, profile.outbox, { purpose, binding });
  sources.onClose(() => outbox.close());
  assertBinding(outbox, profile);
  followProfile(outbox, binding);
  uniteIfPossible(outbox);
  if (isEmptyOutbox(outbox)) warnOfOthers(sources, outbox, isNew);
  return outbox;
}

/** Makes the part of a profile to which an outbox is bound: the service and the user. */
export function getBinding(profile: Profile): Binding {
  const { kind, baseUrl, prefix, schemaVersion, username } = profile;
  return { kind, address: baseUrl, prefix, schemaVersion, username: username ?? null };
}

/**
 * A known address gives its service, so another address of it is no other outbox.
 * @throws ConfigError where the outbox is for another service than the profile's
 */
function assertBinding(outbox: Outbox, profile: Profile): void {
  const { kind, baseUrl } = profile;
  const header = readHeader(outbox);
  const isKnown = (): boolean =>
    outbox.ledger?.listAddresses(header.service).includes(baseUrl) === true;
  if (header.kind === kind && (header.address === baseUrl || isKnown())) return;
  if (isEmptyOutbox(outbox)) {
    outbox.change(() => updateHeader(outbox, { kind, address: baseUrl }));
    return;
  }
  throw makeBindingError(outbox, profile);
}

/**
 * Makes the error that the outbox of the profile is for another service, with the command that
 * sets the profile back.
 */
export function makeBindingError(outbox: Outbox, { name, kind, baseUrl }: Profile): ConfigError {
  const header = readHeader(outbox);
  const back = cmd`pas profile set --profile ${name} base_url=${header.address} kind=${header.kind}`;
  return new ConfigError(
    msg`Profile ${name} is for ${baseUrl} (${kind}), but its outbox ${outbox.path} for ${header.address} (${header.kind}). Nothing was changed.`,
    { hint: msg`Set it back: ${back}` },
  );
}

/**
 * Documents are made by the profile: a new prefix or schema, or another address of the service, is
 * no other outbox.
 */
function followProfile(outbox: Outbox, binding: Binding): void {
  const header = readHeader(outbox);
  const { address, prefix, schemaVersion } = binding;
  const username = header.username ?? binding.username;
  const isSame =
    header.address === address &&
    header.prefix === prefix &&
    header.schemaVersion === schemaVersion &&
    header.username === username;
  if (!isSame)
    outbox.change(() => updateHeader(outbox, { address, prefix, schemaVersion, username }));
}

/** Unites with the ledger, unless it is busy, read-only or damaged: only a push requires it. */
function uniteIfPossible(outbox: Outbox): void {
  try {
    uniteWithLedger(outbox);
  } catch (thrown) {
    const isOfLedger =
      thrown instanceof PasError && thrown.message.startsWith(outbox.ledger?.path ?? '\0');
    // Another process may be writing to the outbox: the next command unites.
    const isBusy = thrown instanceof DatabaseError && thrown.exitReason === 'unavailable';
    if (!isOfLedger && !isBusy) throw thrown;
  }
}

/** Says where finds may be that a person expects in an empty outbox. */
function warnOfOthers(sources: OutboxSources, outbox: Outbox, isNew: boolean): void {
  const { places, terminal } = sources;
  const config = sources.getConfig();
  const { service, address } = readHeader(outbox);
  const unused = listOutboxNames(places)
    .filter((name) => listProfilesOfOutbox(config, name).length === 0)
    .map((name) => sources.getOutboxPlaces(name).folder)
    .join(', ');
  if (unused !== '')
    terminal.warn(
      t`${outbox.path} is empty, and no profile uses ${unused}. If the address or the user name was changed in config.toml, change it back, and then with ${cmd`pas profile set`}.`,
    );
  if (isNew && (outbox.ledger?.listAttemptedFinds(service) ?? []).length > 0)
    terminal.note(
      t`${outbox.path} is new, and this machine has sent finds to ${address}: those of this account come back when you sign in. Finds that were never sent are only in backups: ${cmd`pas restore`} FILE`,
    );
}

/**
 * Opens a copy of the profile's outbox, where the data home cannot be written, and says so. It is
 * closed with the context.
 * @param path of the copy
 * @throws ConfigError where it is for another service
 */
export function openOutboxCopy(sources: OutboxSources, path: string): Outbox {
  sources.terminal.note(t`${sources.places.home} is not writable: the outbox is read from a copy.`);
  const outbox = openOutbox(path, sources.clock);
  sources.onClose(() => outbox.close());
  assertBinding(outbox, sources.getProfile());
  return outbox;
}
