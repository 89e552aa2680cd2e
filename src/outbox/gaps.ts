import { msg } from '../base/message.ts';
import { entriesInState, GAP_OF_ACCOUNT, move } from './entries.ts';
import type { Doubt, Entry } from './entry.ts';
import { recordEvidence } from './evidence.ts';
import type { ServiceOutbox } from './open-outbox.ts';

/** A time of which this outbox knows nothing, since an older copy of it was put back. */
export type Gap = Doubt & {
  /** Where a harvest has shown records of that time that nobody here owns; null before anybody looked. */
  readonly project: string | null;
};

/** @param username whose records it concerns; null: those of every account of the service */
export function addGap(
  { sql, serviceId }: Pick<ServiceOutbox, 'sql' | 'serviceId'>,
  { project, fromMs, untilMs }: Gap,
  username: string | null = null,
): void {
  sql('insert into gaps (service_id, project, from_at, until_at, username) values (?, ?, ?, ?, ?)').run(
    serviceId,
    project,
    Math.floor(fromMs),
    Math.ceil(untilMs),
    username,
  );
}

export function gapsOf(outbox: ServiceOutbox): Gap[] {
  return outbox
    .sql(`select project, from_at as fromMs, until_at as untilMs from gaps where ${GAP_OF_ACCOUNT} order by rowid`)
    .all({ serviceId: outbox.serviceId, username: outbox.username }) as Gap[];
}

/** Puts these in the place of all gaps that concern this account. */
export function replaceGaps(outbox: ServiceOutbox, gaps: readonly Gap[]): void {
  outbox.change(() => {
    const { serviceId, username } = outbox;
    outbox.sql('delete from gaps where service_id = ? and username = ?').run(serviceId, username);
    outbox
      .sql(`update gaps set looked = json_insert(looked, '$[#]', :username) where ${GAP_OF_ACCOUNT}`)
      .run({ serviceId, username });
    for (const gap of gaps) addGap(outbox, gap, username);
  });
}

/** It was added after the copy was put back: it is in doubt only because its like may have been sent before. */
export function isHeldByGap({ doubt, createdAt }: Entry): boolean {
  return doubt !== null && createdAt >= doubt.untilMs;
}

/**
 * A person knows that nothing that was added since was sent in a gap: closes them, and queues what they held.
 * @returns what is queued now
 */
export function releaseHeld(outbox: ServiceOutbox): Entry[] {
  return outbox.change(() => {
    outbox.sql('delete from gaps where service_id = ?').run(outbox.serviceId);
    outbox
      .sql(
        `update entries set doubt_from_at = null, doubt_until_at = null
         where service_id = ? and state in ('draft', 'refused') and created_at >= doubt_until_at`,
      )
      .run(outbox.serviceId);
    const held = entriesInState(outbox, 'uncertain').filter(isHeldByGap);
    const reason = msg`a person knows that it was not sent before`;
    for (const entry of held) {
      recordEvidence(outbox, entry.id, { serverAt: null, verdict: 'person', basis: 'release-new', reason, candidates: [] });
      move(outbox, entry, 'queued', { notBeforeAt: 0, reason });
    }
    return held;
  });
}
