import type { Entity, RecordInput } from './records/record.ts';
import type { Settings } from './settings.ts';

/**
 * An initial state. Roles, organisations, e-mail addresses and cooperations of accounts are in
 * their `uzivatel` records; projects, vocabularies and cadastral areas are records as well.
 */
export type SeedContent = {
  readonly accounts: readonly SeedAccount[];
  /** Users and organisations precede the records that they created. */
  readonly records: readonly SeedRecord[];
  readonly photographs: readonly SeedPhotograph[];
  /** Differences from the default settings. */
  readonly settings: Partial<Settings>;
};

/** An account that can sign in. */
export type SeedAccount = {
  readonly username: string;
  readonly password: string;
  /** Identifier of the account's `uzivatel` record, such as `U-000001`. */
  readonly user: string;
  /**
   * Survey projects that a researcher's active cooperations list; absent: all of the partners'
   * organisations.
   */
  readonly projects?: readonly string[];
};

/** A record of the initial state, with the time of its last change. */
export type SeedRecord = RecordInput & {
  readonly entity: Entity;
  readonly datestampMs: number;
  /** A record that was deleted before the mock started: only its header is listed. */
  readonly deleted?: boolean;
};

/** A photograph whose `soubor` element is in the find's body. */
export type SeedPhotograph = {
  /** The uuid at the end of the `path` and `url` of its `soubor`. */
  readonly uuid: string;
  readonly find: string;
  readonly mimetype: string;
  readonly bytes: Buffer;
};

/** `demo`, `empty`, or a folder of JSON files. */
export type SeedSource = string;
