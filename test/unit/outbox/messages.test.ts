import { expect, test } from 'vitest';
import { errorIssue } from '../../../src/base/issue.ts';
import { speak } from '../../../src/base/language.ts';
import { type Message, msg } from '../../../src/base/message.ts';
import { entryById, move } from '../../../src/outbox/entries.ts';
import { evidenceOf } from '../../../src/outbox/evidence.ts';
import { attemptsOf } from '../../../src/outbox/journal.ts';
import { issuesText } from '../../../src/outbox/kept-messages.ts';
import { addOldAttempt, addOldEntry, broughtOn } from '../../support/earlier-outbox.ts';

const OLD_WORDS = 'the service is "closed" {"text": 1}';

function oldOutbox() {
  return broughtOn((old) => {
    addOldAttempt(old, addOldEntry(old, { find: 'K-1', profile: 'field', kind: 'import', state: 'queued' }));
    old
      .prepare('update entries set reason = ?, issues = ?')
      .run(OLD_WORDS, JSON.stringify([{ rule: 'x', severity: 'error', message: OLD_WORDS }]));
    old.prepare('update attempts set reason = ?').run(OLD_WORDS);
    old
      .prepare(`insert into evidence (entry_id, found_at, verdict, reason, candidates) values (1, 1, 'person', ?, '[]')`)
      .run(OLD_WORDS);
  });
}

test('what an earlier pas wrote down keeps its words, whatever they look like', () => {
  using outbox = oldOutbox();
  const entry = entryById(outbox, 1);
  const overview = outbox.sql('select reason from outbox_overview where entry = 1').pluck().get();
  expect([entry?.reason, entry?.issues[0]?.message, overview]).toEqual([OLD_WORDS, OLD_WORDS, OLD_WORDS]);
  expect([attemptsOf(outbox, 1)[0]?.reason, evidenceOf(outbox, 1)[0]?.reason]).toEqual([OLD_WORDS, OLD_WORDS]);
});

test('what is written down now is read in the language of whoever reads it, and by programs in English', async () => {
  using outbox = oldOutbox();
  const detail: Message = msg`status ${503} with "${`\${0} $& closed`}"`;
  const entry = entryById(outbox, 1);
  if (entry === undefined) throw new Error('the entry is gone');
  const reason = msg`the request did not reach the service (${detail})`;
  move(outbox, entry, 'queued', { reason, issues: issuesText([errorIssue('x', reason)]) });
  const read = (): unknown => [String(entryById(outbox, 1)?.reason), entryById(outbox, 1)?.issues[0]?.message];
  const english = `the request did not reach the service (status 503 with "\${0} $& closed")`;
  expect(read()).toEqual([english, english]);
  try {
    await speak('cs');
    const czech = `požadavek se do služby nedostal (stavový kód 503 s textem „\${0} $& closed“)`;
    expect(read()).toEqual([czech, czech]);
  } finally {
    await speak('en');
  }
  expect(outbox.sql('select reason from outbox_overview where entry = 1').pluck().get()).toContain(
    'the request did not reach the service',
  );
});
