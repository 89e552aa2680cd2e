import { type Addresses, getRecordAddress } from '../../base/addresses.ts';
import type { Answer } from '../../base/http-message.ts';
import { makeXmlAnswer } from '../../base/problem.ts';
import type { ArchiveRecord } from '../../state/records/record.ts';
import { renderRecord } from '../../state/records/render.ts';

/**
 * Makes the answer of a success: the whole find as XML, unmasked, with the common headers
 * (A-ANSWER-1, A-ANSWER-8).
 */
export function makeFindAnswer(
  addresses: Addresses,
  status: 200 | 201,
  find: ArchiveRecord,
): Answer {
  const body = renderRecord(find.body, 'samostatny_nalez', '2.2', addresses, {
    pretty: true,
    declaration: true,
  });
  return makeXmlAnswer(status, body, {
    'x-record-id': find.ident,
    location: getRecordAddress(addresses, find.ident),
  });
}
