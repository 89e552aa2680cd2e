import { expect, test } from 'vitest';
import { type Message, msg, setLanguage } from '../../../src/base/message.ts';
import { listAttempts, listEvidence, recordAnswer } from '../../../src/outbox/attempts.ts';
import { findEntryById, storeLookup, storeQuestion } from '../../../src/outbox/entry-queries.ts';
import { claimEntry, getEntry, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

test('stored messages are shown in the language of the reader, and to programs in English', async () => {
  using outbox = tempOutbox();
  const { entryId } = queueImport(outbox, 'K-1');
  const detail: Message = msg`status ${503} with "${`\${0} $& closed`}"`;
  const reason = msg`the request did not reach the service (${detail})`;
  recordAnswer(
    outbox,
    claimEntry(outbox, entryId),
    { state: 'uncertain', reason },
    { outcome: 'uncertain' },
  );
  const entry = getEntry(outbox, entryId);
  storeLookup(outbox, entryId, {
    at: outbox.clock.now(),
    serverAt: null,
    basis: 'none',
    candidates: [],
    reason,
  });
  const asked = queueImport(outbox, 'K-2').entryId;
  storeQuestion(outbox, asked, {
    basis: 'equal-record',
    question: reason,
    candidates: [],
  });
  const read = (): unknown => {
    const now = findEntryById(outbox, entryId);
    return [
      now?.reason,
      findEntryById(outbox, asked)?.held?.question,
      listAttempts(outbox, entry)[0]?.reason,
      now === undefined ? undefined : listEvidence(outbox, now)[0]?.reason,
    ].map(String);
  };
  const english = `the request did not reach the service (status 503 with "\${0} $& closed")`;
  expect(read()).toEqual([english, english, english, english]);
  try {
    setLanguage('cs');
    const czech = `požadavek se do služby nedostal (stavový kód 503 s textem „\${0} $& closed“)`;
    expect(read()).toEqual([czech, czech, czech, czech]);
  } finally {
    setLanguage('en');
  }
  expect(outbox.sql('select reason from outbox_overview where entry = 1').pluck().get()).toContain(
    'the request did not reach the service',
  );
});
