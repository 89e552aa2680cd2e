import type { Answer } from '../../base/http-message.ts';
import { trimText } from '../../base/white-space.ts';
import { mayEditNumber } from '../../rules/permission.ts';
import { makeRefusal } from '../../rules/refusal.ts';
import { lockRecord, type WriteRequest } from '../../rules/write-request.ts';
import type { Mock } from '../../state/mock.ts';
import { orderChildren } from '../../state/records/child-order.ts';
import { makeHistoryEntry } from '../../state/records/history.ts';
import { type ArchiveRecord, getList, getText } from '../../state/records/record.ts';
import { isXmlText } from '../../state/records/render.ts';
import { makeFindAnswer } from './find-answer.ts';

const MAX_CHARACTERS = 255;

/**
 * Answers `PATCH /api/pas/nalez/{ident_cely}/evidencni-cislo`, with the checks of A-NUMBER-16 in
 * order: length and emptiness precede the record's existence, and the record is read before it is
 * locked.
 */
export async function changeRegistrationNumber(
  mock: Mock,
  request: WriteRequest,
  ident: string,
): Promise<Answer> {
  const { say, account, hooks } = request;
  const rawValue = request.incoming.query.getAll('evidencni_cislo').at(-1);
  if (rawValue === undefined) throw makeRefusal(400, say('number-missing'));
  const value = trimText(rawValue);
  if (value === '') throw makeRefusal(422, say('number-empty'));
  if (Array.from(value).length > MAX_CHARACTERS) throw makeRefusal(422, say('number-long'));
  const find = mock.archive.findLive('samostatny_nalez', ident);
  if (find === undefined) throw makeRefusal(404, say('find-unknown', ident));
  if (!mayEditNumber(mock, account, find)) throw makeRefusal(403, say('find-refused', ident));
  if (getText(find.body['evidencni_cislo']) === value) throw makeRefusal(422, say('number-same'));
  const release = await lockRecord(mock, request, ident);
  try {
    await hooks.beforeSave();
    if (!isXmlText(value)) throw makeRefusal(500, say('storage-failed'));
    const saved = save(mock, request, ident, value);
    request.incoming.change = { kind: 'number-changed', ident };
    hooks.afterSave();
    return makeFindAnswer(request.incoming.addresses, 200, saved);
  } finally {
    release();
  }
}

/**
 * Saves the number. An archived find is archived again: its state stays, its history gets an entry.
 */
function save(
  mock: Mock,
  { account, say }: WriteRequest,
  ident: string,
  value: string,
): ArchiveRecord {
  return mock.database.transaction(() => {
    const find = mock.archive.findLive('samostatny_nalez', ident);
    if (find === undefined) throw makeRefusal(404, say('find-unknown', ident));
    const atMs = mock.clock.now();
    const note = `${say('number-label')}: ${getText(find.body['evidencni_cislo']) ?? 'None'} -> ${value}`;
    const entries = [makeHistoryEntry(mock.counters, 'SN-UPD', account.user, atMs, note)];
    if (find.stav === 4) entries.push(makeHistoryEntry(mock.counters, 'SN34', account.user, atMs));
    const historie = [...getList(find.body['historie']), ...entries];
    const body = orderChildren('samostatny_nalez', {
      ...find.body,
      evidencni_cislo: value,
      historie,
    });
    return mock.archive.put({ entity: 'samostatny_nalez', body });
  })();
}
