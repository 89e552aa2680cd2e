import { describe, expect, test } from 'vitest';
import type { QUIRKS } from '../../mock-server/rules/quirks.ts';
import { findLines, makeDocument, smallestFind } from '../support/contract-find.ts';
import { contentDigest, elementText, postFile } from '../support/contract-requests.ts';
import { useMock } from './contract-import.ts';
import { jpeg } from './contract-photographs.ts';

const wkt = (text: string) =>
  findLines(1, { geom_wkt: `<svc:geom_wkt EPSG="4326">${text}</svc:geom_wkt>` });
/** Those of harvesting have their tests in harvest-deployed.test.ts. */
type WriteQuirk = Exclude<keyof typeof QUIRKS, `oai-${string}`>;

const OTHER_EPSG = '<svc:geom_wkt EPSG="5514">POINT (15.17 49.84)</svc:geom_wkt>';
const BLANK = '<svc:geom_wkt EPSG="4326"> </svc:geom_wkt>';
const twoFiles = [1, 2].map((number) => ({
  name: 'file',
  fileName: `${number}.xml`,
  bytes: '<x/>',
}));

describe('Quirks of the deployed service (--deployed)', async () => {
  const { mock, send, token } = await useMock({ deployed: true });

  const QUIRK_TESTS: Readonly<Record<WriteQuirk, () => Promise<void>>> = {
    'import-repeated-file-part': async () => {
      const xml = makeDocument(mock, smallestFind());
      const last = { name: 'file', fileName: 'b.xml', bytes: xml };
      const answer = await send('', {
        parts: [...twoFiles, last, { name: 'other', fileName: 'c.xml', bytes: 'c' }],
        digest: contentDigest(xml),
      });
      expect(answer.status, answer.text).toBe(201);
    },
    'proxy-limit': async () => {
      expect((await mock.control('GET', '/settings')).value).toMatchObject({
        body_max_bytes: 262_144_000,
        photo_max_bytes: 262_144_000,
      });
      await mock.settings({ body_max_bytes: 5000, photo_max_bytes: 5000 });
      const bytes = jpeg(undefined, 'x'.repeat(4900));
      const answer = await postFile(
        mock,
        '/api/pas/nalez/C-202400101-N00007/upload-foto',
        { name: 'file', fileName: 'a.jpg', bytes },
        { token: token() },
      );
      expect([bytes.length < 5000, answer.status]).toEqual([true, 413]);
    },
    'millisecond-rates': async () => {
      await mock.clock({ frozen: true });
      await mock.settings({
        rate_limits: [{ scope: 'user', value: 'archaeologist@example.org', rate: '1/ms' }],
      });
      for (let count = 0; count < 3; count += 1)
        expect((await send(smallestFind())).status).toBe(201);
    },
    'wkt-copied': async () => {
      for (const text of ['POINT (+15.17 49.84)', 'POINT (1.517e1 49.84)']) {
        const answer = await send(wkt(text));
        expect(answer.status, answer.text).toBe(201);
        expect(elementText(answer.text, 'geom_sjtsk_wkt')).toBe('POINT (15.17 49.84)');
      }
    },
    'wkt-third-number': async () => {
      expect((await send(wkt('POINT Z (15.17 49.84 300)'))).status).toBe(500);
      expect((await send(wkt('POINT M (15.17 49.84 300)'))).status).toBe(422);
    },
    'wkt-epsg-unread': async () => {
      expect((await send(findLines(1, { geom_wkt: OTHER_EPSG }))).status).toBe(201);
    },
    'wkt-blank': async () => {
      const answer = await send(findLines(1, { geom_wkt: BLANK }));
      expect([answer.status, answer.text.includes('geom_wkt')]).toEqual([201, false]);
      expect((await send(findLines(2, { geom_wkt: BLANK }))).status).toBe(422);
    },
  };

  test.each(Object.entries(QUIRK_TESTS))('%s', async (_quirk, run) => {
    await run();
  });
});

describe('The same by the contract', async () => {
  const { mock, send } = await useMock();

  test('the largest allowed photograph passes the proxy with its multipart boundaries', async () => {
    const { body_max_bytes, photo_max_bytes } = (await mock.control('GET', '/settings'))
      .value as Record<string, number>;
    expect(body_max_bytes).toBeGreaterThan((photo_max_bytes ?? 0) + 1000);
  });

  test('a rate per ms is a rate', async () => {
    await mock.clock({ frozen: true });
    await mock.settings({
      rate_limits: [{ scope: 'user', value: 'archaeologist@example.org', rate: '1/ms' }],
    });
    expect([(await send(smallestFind())).status, (await send(smallestFind())).status]).toEqual([
      201, 429,
    ]);
  });
});
