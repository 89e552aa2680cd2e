import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import { openLedger } from '../../../src/outbox/ledger.ts';
import {
  assertSameAccount,
  findKnownAccount,
  findKnownUsername,
  openOutbox,
  readHeader,
  storeKnownAccount,
} from '../../../src/outbox/open-outbox.ts';
import { uniteWithLedger } from '../../../src/outbox/unite.ts';
import {
  getPullWatermarkMs,
  storePullWatermark,
} from '../../../src/outbox/views/records-at-service.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  ACCOUNT_ID,
  BINDING,
  EVA,
  MACHINE,
  tempFolder,
  tempOutbox,
  USERNAME,
} from '../../support/temp-outbox.ts';

function unbound() {
  const folder = tempFolder();
  const outbox = openOutbox(join(folder, 'outbox.sqlite'), manualClock(), {
    binding: BINDING,
    ledger: () => openLedger(join(folder, 'ledger.sqlite'), { machine: () => MACHINE }),
  });
  return { ...outbox, [Symbol.dispose]: () => outbox.close() };
}

describe('the stored account data', () => {
  test('are unknown before the first request', () => {
    using outbox = unbound();
    expect([
      findKnownAccount(outbox),
      findKnownUsername(outbox),
      readHeader(outbox).account,
    ]).toEqual([undefined, undefined, null]);
  });

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

  test('have everything pulled again after a change of rights', () => {
    using outbox = tempOutbox();
    storePullWatermark(outbox, 5);
    storeKnownAccount(outbox, USERNAME, { ...EVA, name: 'Eva Nová' });
    expect(getPullWatermarkMs(outbox)).toBe(5);
    storeKnownAccount(outbox, USERNAME, { ...EVA, role: 'archivist' });
    expect(getPullWatermarkMs(outbox)).toBeUndefined();
  });
});

describe('an outbox', () => {
  test('is bound to the first account that sends from it, and refuses every other one', () => {
    using outbox = unbound();
    assertSameAccount(outbox, 'U-000009');
    uniteWithLedger(outbox, ACCOUNT_ID);
    uniteWithLedger(outbox, ACCOUNT_ID);
    assertSameAccount(outbox, ACCOUNT_ID);
    for (const act of [uniteWithLedger, assertSameAccount])
      expect(() => act(outbox, 'U-000009')).toThrow(ConfigError);
    expect(readHeader(outbox)).toMatchObject({ ...BINDING, account: ACCOUNT_ID });
  });
});
