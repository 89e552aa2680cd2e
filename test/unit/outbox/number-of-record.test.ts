import { expect, test } from 'vitest';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import { findByUuid } from '../../../src/outbox/stored-finds.ts';
import {
  findSentFind,
  getElementsAtService,
} from '../../../src/outbox/views/records-at-service.ts';
import { acceptEntry, queueImport, queueNumber, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';

test('a number that was set by the identifier of the record is shown with its find', () => {
  const outbox = tempOutbox();
  const { entryId, findId } = queueImport(outbox, 'K-1');
  acceptEntry(outbox, entryId, IDENT);
  const find = findByUuid(outbox, findId);
  if (find === undefined) throw new Error('the find is gone');
  const number = queueNumber(outbox, makeRecordSubject(IDENT), 'INV 1');
  expect(getElementsAtService(outbox, find).evidencni_cislo).toBe('INV 1');
  acceptEntry(outbox, number, IDENT);
  expect(findSentFind(outbox, find)?.elements.evidencni_cislo).toBe('INV 1');
});
