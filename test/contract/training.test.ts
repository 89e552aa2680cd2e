import { describe, expect, test } from 'vitest';
import { smallestFind } from '../support/contract-find.ts';
import { useMock } from './contract-import.ts';

describe('Training instance (S-SERVICE-7)', async () => {
  const { mock, send } = await useMock({ training: true });

  test('there is no harvesting interface', async () => {
    for (const path of ['/oai?verb=Identify', '/2.2/oai?verb=Identify', '/2.0/oai?verb=ListSets']) {
      expect((await fetch(mock.server.oai_base + path)).status, path).toBe(404);
    }
    expect((await mock.control('GET', '/state')).value).toMatchObject({
      training: true,
      addresses: { oai_base: null },
    });
  });

  test('Location is sent and does not resolve', async () => {
    const location = (await send(smallestFind())).headers.get('location') ?? '';
    expect(location).toMatch(/\/id\/C-202400101-N00009$/);
    expect((await fetch(location)).status).toBe(404);
  });
});
