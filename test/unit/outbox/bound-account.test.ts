import { expect, test } from 'vitest';
import { findKnownAccount, storeKnownAccount } from '../../../src/outbox/open-outbox.ts';
import { EVA, tempOutbox, USERNAME } from '../../support/temp-outbox.ts';

test('the stored data of the account are updated', () => {
  using outbox = tempOutbox();
  const eva = { ...EVA, username: USERNAME };
  expect(findKnownAccount(outbox)).toEqual(eva);
  const promoted = { ...eva, role: 'archivist', username: 'eva.nova@example.org' };
  storeKnownAccount(outbox, promoted);
  expect(findKnownAccount(outbox)).toEqual(promoted);
});
