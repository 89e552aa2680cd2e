import { randomUUID } from 'node:crypto';
import type { Message } from '../base/message.ts';
import { createRowParser, isNumber, isText } from '../store/row.ts';
import { assignRecord, eventsOfEntry } from './entries.ts';
import type { Entry, ImportEntry } from './entry.ts';
import { entriesOfFind } from './entry-queries.ts';
import { foldEvents } from './fold-events.ts';
import type { Outbox } from './open-outbox.ts';
import { decisionAbout, recordEvents } from './record-events.ts';

const parseAccepted = createRowParser({ identCely: isText, atMs: isNumber });

/** Returns records that the service accepted since a moment of its clock, with the server time of the answer. */
export function acceptedSince(outbox: Outbox, sinceMs: number): Map<string, number> {
  const rows = outbox
    .sql(
      `select ident_cely as identCely, max(body ->> 'serverDateMs') as atMs
       from entries join events on events.entry = entries.uuid and events.kind = 'answered'
       where entries.kind = 'import' and state = 'accepted' and body ->> 'settles' = 'accepted' and body ->> 'serverDateMs' is not null
       group by entries.id having atMs >= :sinceMs`,
    )
    .all({ sinceMs });
  return new Map(rows.map(parseAccepted).map(({ identCely, atMs }) => [identCely, atMs]));
}

/** Detaches a record that the service gave to another find: the import, and all changes of the record, become uncertain. */
export function releaseRecord(outbox: Outbox, owner: ImportEntry, reason: Message): void {
  const { identCely, findId } = owner;
  const group = randomUUID();
  outbox.change(() => {
    const lost = entriesOfFind(outbox, findId ?? 0).filter(
      (entry) => entry.identCely === identCely && entry.state === 'accepted',
    );
    recordEvents(
      outbox,
      lost.map((entry) =>
        decisionAbout(
          outbox,
          entry,
          { answer: 'release', by: 'service', group, identCely, attempts: attemptsOfRecord(outbox, entry) },
          reason,
        ),
      ),
    );
    const changes = entriesOfFind(outbox, findId ?? 0).filter(
      (entry) => entry.kind !== 'import' && entry.identCely === identCely,
    );
    for (const { id } of changes) assignRecord(outbox, id, null);
  });
}

/** Returns the attempts that made the record, from the answer, evidence or decision. */
function attemptsOfRecord(outbox: Outbox, entry: Entry): readonly string[] {
  const events = eventsOfEntry(outbox, entry.uuid);
  const { accepted } = foldEvents(events);
  const said = events.find(({ id }) => id === accepted?.event);
  if (said?.kind === 'answered') return [said.body.attempt];
  return said?.kind === 'found' || said?.kind === 'decided' ? said.body.attempts : [];
}
