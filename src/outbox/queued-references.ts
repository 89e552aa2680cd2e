import { createRowParser, isNumber, isText, parseTexts } from '../store/row.ts';
import type { FindId } from './entry.ts';
import type { Outbox } from './open-outbox.ts';

/** A reference by text in queued finds, such as a finder without an identifier. */
type QueuedReference = { readonly text: string; readonly finds: readonly FindId[] };

type Naming = {
  readonly element: string;
  /** Placeholder of the identifier. */
  readonly id: string;
};

const parseReference = createRowParser({ find: isNumber, text: isText });

/**
 * Returns texts of references in queued imports, in the order of entry. Texts of accepted imports are excluded, since the service
 * knows them.
 * @param recordKeys undefined means all records
 */
export function queuedReferences(outbox: Outbox, { element, id }: Naming, recordKeys?: readonly string[]): QueuedReference[] {
  // An index has the finds with a new person, by this very condition.
  const isNamed = `instr(elements, '${JSON.stringify(id)}') > 0 and elements ->> :id = :wanted`;
  const values = { id: `$.${element}.id`, text: `$.${element}.text`, wanted: id };
  const rows = outbox
    .sql(
      `select finds.id as find, elements ->> :text as text from finds join entries on entries.find_id = finds.id
       where +kind = 'import' and +state = 'queued' and ${isNamed} and finds.hidden_at is null
         and (:recordKeys is null or record_key in (select value from json_each(:recordKeys))) order by finds.id`,
    )
    .all({ ...values, recordKeys: recordKeys === undefined ? null : JSON.stringify(recordKeys) });
  if (rows.length === 0) return [];
  const accepted = outbox
    .sql(
      `select distinct elements ->> :text from finds join entries on entries.find_id = finds.id
       where +kind = 'import' and +state = 'accepted' and ${isNamed}`,
    )
    .pluck()
    .all(values);
  const known = new Set(accepted);
  const found = new Map<string, FindId[]>();
  for (const { find, text } of rows.map(parseReference)) {
    const finds = found.get(text);
    if (finds !== undefined) finds.push(find);
    else if (!known.has(text)) found.set(text, [find]);
  }
  return [...found].map(([text, finds]) => ({ text, finds }));
}

/** Returns the identifiers that elements of unaccepted finds refer to. */
export function referencesOfQueued(outbox: Outbox): string[] {
  const identifiers = outbox
    .sql(
      `select distinct parts.value from finds join entries on entries.find_id = finds.id, json_tree(finds.elements) as parts
       where entries.kind = 'import' and entries.state not in ('accepted', 'dropped') and finds.hidden_at is null
         and parts.key = 'id' and parts.type = 'text'`,
    )
    .pluck()
    .all();
  return parseTexts(identifiers);
}

/** Returns names of new people that a person confirmed. */
export function acceptedPeople(outbox: Outbox): Set<string> {
  return new Set(parseTexts(outbox.sql('select name from accepted_people').pluck().all()));
}

export function acceptPeople(outbox: Outbox, names: readonly string[]): void {
  const now = Math.floor(outbox.clock.now());
  outbox.change(() => {
    for (const name of names)
      outbox.sql('insert or ignore into accepted_people (name, accepted_at) values (?, ?)').run(name, now);
  });
}
