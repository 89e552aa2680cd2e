import type { FindId } from './entry.ts';
import type { Outbox } from './open-outbox.ts';

/** What an element of queued finds refers to by its text, such as a finder without an identifier. */
type QueuedReference = { readonly text: string; readonly finds: readonly FindId[] };

type Naming = {
  readonly element: string;
  /** What stands in place of an identifier. */
  readonly id: string;
};

/**
 * Texts that queued imports refer by, in the order in which they were entered. A text that an accepted import referred by is known to the
 * service, and left out.
 * @param recordKeys records that are meant; undefined means all
 */
export function queuedReferences(outbox: Outbox, { element, id }: Naming, recordKeys?: readonly string[]): QueuedReference[] {
  // Most finds don't have the identifier anywhere, which is told without taking their JSON apart.
  const isNamed = 'instr(elements, :quoted) > 0 and elements ->> :id = :wanted';
  const values = { id: `$.${element}.id`, text: `$.${element}.text`, wanted: id, quoted: JSON.stringify(id) };
  const rows = outbox
    .sql(
      `select finds.id as find, elements ->> :text as text from finds join entries on entries.find_id = finds.id
       where kind = 'import' and state = 'queued' and ${isNamed} and finds.hidden_at is null
         and (:recordKeys is null or record_key in (select value from json_each(:recordKeys))) order by finds.id`,
    )
    .all({ ...values, recordKeys: recordKeys === undefined ? null : JSON.stringify(recordKeys) }) as {
    readonly find: FindId;
    readonly text: string;
  }[];
  if (rows.length === 0) return [];
  const accepted = outbox
    .sql(
      `select distinct elements ->> :text from finds join entries on entries.find_id = finds.id
       where kind = 'import' and state = 'accepted' and ${isNamed}`,
    )
    .pluck()
    .all(values);
  const known = new Set(accepted);
  const found = new Map<string, FindId[]>();
  for (const { find, text } of rows) {
    const finds = found.get(text);
    if (finds !== undefined) finds.push(find);
    else if (!known.has(text)) found.set(text, [find]);
  }
  return [...found].map(([text, finds]) => ({ text, finds }));
}

/** Names of people whom the service is to make, as a person has said. */
export function acceptedPeople(outbox: Outbox): Set<string> {
  return new Set(outbox.sql('select name from accepted_people').pluck().all() as string[]);
}

export function acceptPeople(outbox: Outbox, names: readonly string[]): void {
  const now = Math.floor(outbox.clock.now());
  outbox.change(() => {
    for (const name of names)
      outbox.sql('insert or ignore into accepted_people (name, accepted_at) values (?, ?)').run(name, now);
  });
}
