import { expect, test } from 'vitest';
import { copyFactsToLedger } from '../../../src/outbox/append-facts.ts';
import { queueImport, tempOutbox } from '../../support/temp-outbox.ts';

test('facts that another process makes a matter of the ledger meanwhile are copied, too', () => {
  using outbox = tempOutbox();
  const [older, newer] = ['K-1', 'K-2'].map((name) => queueImport(outbox, name).findId);
  const attempt = (find: string | undefined): void => {
    outbox.sql('update facts set in_ledger = 0 where subject = ?').run(find);
  };
  attempt(newer);
  const copied: string[] = [];
  const { ledger } = outbox;
  const append: typeof ledger.append = (scope, facts, intents) => {
    if (copied.length === 0) attempt(older);
    copied.push(...facts.map(({ subject }) => subject));
    ledger.append(scope, facts, intents);
  };
  copyFactsToLedger({ ...outbox, ledger: { ...ledger, append } });
  expect(copied).toEqual([newer, older]);
});
