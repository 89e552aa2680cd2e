import type { ServiceOutbox } from './open-outbox.ts';

/** How the service's harvest has a record that was sent from here, as one account is shown it. */
export type Standing = 'shown' | 'withheld' | 'deleted' | 'missing';

/** What harvesting last said of a record. Times are milliseconds since 1970 UTC, `datestampMs` by the server's clock. */
export type PulledRecord = {
  readonly identCely: string;
  readonly standing: Standing;
  readonly datestampMs: number | null;
  /** The state and the record as they were last shown, however it stands now. The outbox does not look inside. */
  readonly stav: number | null;
  readonly record: unknown;
  /** Since when it stands so. */
  readonly sinceMs: number;
  readonly seenMs: number;
};

/** A record as one pull met it. */
type PulledStanding = {
  readonly identCely: string;
  readonly standing: Standing;
  readonly datestampMs: number | null;
  readonly shown?: { readonly stav: number; readonly record: unknown };
};

type PulledRow = Omit<PulledRecord, 'record'> & { readonly record: string | null };

const COLUMNS = `ident_cely as identCely, standing, datestamp_at as datestampMs, stav, record, since_at as sinceMs, seen_at as seenMs`;

export function pulledRecord(outbox: ServiceOutbox, identCely: string): PulledRecord | undefined {
  const row = outbox
    .sql(`select ${COLUMNS} from pulled where service_id = ? and username = ? and ident_cely = ?`)
    .get(outbox.serviceId, outbox.username, identCely) as PulledRow | undefined;
  return row === undefined ? undefined : { ...row, record: row.record === null ? null : (JSON.parse(row.record) as unknown) };
}

/** Notes how a record stands; what it was last shown as is kept while it is not shown. */
export function rememberStanding(outbox: ServiceOutbox, { identCely, standing, datestampMs, shown }: PulledStanding): void {
  outbox
    .sql(
      `insert into pulled (service_id, username, ident_cely, standing, datestamp_at, stav, record, since_at, seen_at)
       values (:serviceId, :username, :identCely, :standing, :datestampMs, :stav, :record, :now, :now)
       on conflict (service_id, username, ident_cely) do update set
         since_at = case when standing = excluded.standing then since_at else excluded.since_at end,
         standing = excluded.standing, datestamp_at = excluded.datestamp_at, stav = coalesce(excluded.stav, stav),
         record = coalesce(excluded.record, record), seen_at = excluded.seen_at`,
    )
    .run({
      serviceId: outbox.serviceId,
      username: outbox.username,
      identCely,
      standing,
      datestampMs,
      stav: shown?.stav ?? null,
      record: shown === undefined ? null : JSON.stringify(shown.record),
      now: Math.floor(outbox.clock.now()),
    });
}

/** A complete pull that did not list a record says that it is as it was. */
export function noteUnchanged(outbox: ServiceOutbox, identCely: string): void {
  outbox
    .sql('update pulled set seen_at = ? where service_id = ? and username = ? and ident_cely = ?')
    .run(Math.floor(outbox.clock.now()), outbox.serviceId, outbox.username, identCely);
}

/** The server's time up to which everything is pulled as this account is shown it. */
export function pullWatermarkMs(outbox: ServiceOutbox): number | undefined {
  const watermark = outbox
    .sql('select watermark_at from pulls where service_id = ? and username = ?')
    .pluck()
    .get(outbox.serviceId, outbox.username);
  return typeof watermark === 'number' ? watermark : undefined;
}

export function completePull(outbox: ServiceOutbox, watermarkMs: number): void {
  outbox
    .sql(
      `insert into pulls (service_id, username, watermark_at, completed_at) values (:serviceId, :username, :watermarkMs, :now)
       on conflict (service_id, username) do update set watermark_at = :watermarkMs, completed_at = :now`,
    )
    .run({ serviceId: outbox.serviceId, username: outbox.username, watermarkMs, now: Math.floor(outbox.clock.now()) });
}
