import { describe, expect, test } from 'vitest';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken, importXml } from '../support/contract-requests.ts';
import { startMock } from '../support/start-mock.ts';

/** Behaviour that a client might rely on although the contract does not promise it. */
async function accidents(seedNumber: number) {
  await using mock = await startMock({ seedNumber });
  const token = await fetchToken(mock, 'archaeologist');
  const refused = await importXml(mock, '', { token });
  const created = await importXml(mock, makeDocument(mock, smallestFind()), { token });
  const settings = (await mock.control('GET', '/settings')).value as { page_size: number };
  expect([refused.status, created.status]).toEqual([400, 201]);
  return {
    detail: refused.json?.['detail'],
    ident: created.headers.get('x-record-id'),
    pageSize: settings.page_size,
  };
}

describe('Seed numbers differ where the contract is silent', () => {
  test('number 0 is like the deployed service: page size 100, identifiers with -N', async () => {
    expect(await accidents(0)).toMatchObject({ pageSize: 100, ident: 'C-202400101-N00009' });
  });

  test('the same number gives the same mock, others give others', async () => {
    const first = await accidents(1);
    const again = await accidents(1);
    const other = await accidents(2);
    const third = await accidents(4);
    expect(again).toEqual(first);
    expect(new Set([first.detail, other.detail, third.detail]).size).toBe(3);
    expect(new Set([first.pageSize, other.pageSize, third.pageSize]).size).toBeGreaterThan(1);
    expect(new Set([first.ident, other.ident]).size).toBe(2);
  });

  test.each([0, 1, 2, 3])(
    'with number %i each find of a project gets an identifier of its own',
    async (seedNumber) => {
      await using mock = await startMock({ seedNumber });
      const token = await fetchToken(mock, 'archaeologist');
      const send = () => importXml(mock, makeDocument(mock, smallestFind()), { token });
      const answers = [await send(), await send(), await send()];
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
      expect(new Set(answers.map(({ headers }) => headers.get('x-record-id'))).size).toBe(3);
    },
  );
});
