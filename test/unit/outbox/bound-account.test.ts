import { describe, expect, test } from 'vitest';
import {
  findKnownAccount,
  findKnownUsername,
  storeKnownAccount,
} from '../../../src/outbox/open-outbox.ts';
import { EVA, tempOutbox, USERNAME } from '../../support/temp-outbox.ts';

describe('the stored account data', () => {
  test('are updated', () => {
    using outbox = tempOutbox();
    expect([findKnownAccount(outbox), findKnownUsername(outbox)]).toEqual([EVA, USERNAME]);
    const promoted = { ...EVA, role: 'archivist', organisation: 'Institute' };
    storeKnownAccount(outbox, 'eva.nova@example.org', promoted);
    expect([findKnownAccount(outbox), findKnownUsername(outbox)]).toEqual([
      promoted,
      'eva.nova@example.org',
    ]);
  });

  test('have no user name after the use of a token alone', () => {
    using outbox = tempOutbox();
    storeKnownAccount(outbox, '', EVA);
    expect(findKnownUsername(outbox)).toBeUndefined();
  });
});
