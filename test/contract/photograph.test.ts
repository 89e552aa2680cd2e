import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  contentDigest,
  elementText,
  fetchToken,
  type Part,
  postFile,
  type WriteOptions,
} from '../support/contract-requests.ts';
import { expectDetail, useMock } from './contract-import.ts';
import { ARCHIVES, isoMedia, jpeg, png, tiff } from './contract-photographs.ts';

const { mock, token } = await useMock();

const MINE = 'C-202400101-N00007';
const ARCHIVED = 'C-202400101-N00006';
const PHOTO = jpeg(undefined);
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join(
  '',
);

const upload = (bytes: Buffer, options: WriteOptions & { name?: string; find?: string } = {}) => {
  const file: Part = {
    name: 'file',
    fileName: options.name ?? 'IMG_1.jpg',
    type: 'image/jpeg',
    bytes,
  };
  return postFile(mock, `/api/pas/nalez/${options.find ?? MINE}/upload-foto`, file, {
    token: token(),
    ...options,
  });
};
const photos = async () =>
  ((await mock.control('GET', '/state')).value as { counts: { photos: number } }).counts.photos;
const names = (xml: string) => [...xml.matchAll(/<svc:nazev>([^<]*)</g)].map((match) => match[1]);

describe('Upload: refusals before the file is looked at (A-PHOTO-9 to A-PHOTO-11, A-PHOTO-17)', () => {
  test('404 and 403: no such find and no permission come before a missing file', async () => {
    expectDetail(await upload(PHOTO, { find: 'C-202400101-N00999', parts: [] }), 404);
    expectDetail(await upload(PHOTO, { find: 'M-202300316-N00003', parts: [] }), 403);
  });

  test('400: more than one file, whatever the second is called', async () => {
    const parts = ['file', 'other'].map((name) => ({ name, fileName: 'a.jpg', bytes: PHOTO }));
    expectDetail(await upload(PHOTO, { parts }), 400);
    expect(await photos()).toBe(9);
  });

  test('400: malformed multipart', async () => {
    const response = await fetch(`${mock.url}/api/pas/nalez/${MINE}/upload-foto`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token()}`,
        'content-type': 'multipart/form-data; boundary=b',
      },
      body: '--b\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\nabc',
    });
    expect(response.status).toBe(400);
    expect(
      (
        await fetch(response.url, {
          method: 'POST',
          headers: { authorization: `Bearer ${token()}`, 'content-type': 'multipart/form-data' },
          body: 'x',
        })
      ).status,
    ).toBe(400);
  });
});

describe('Upload: the file (A-PHOTO-2, A-PHOTO-12, A-PHOTO-19)', () => {
  test('422: larger than the limit, checked before type and digest', async () => {
    await mock.settings({ photo_max_bytes: 1000 });
    expect(
      (await upload(jpeg(undefined, 'x'.repeat(1000 - PHOTO.length + 'picture'.length)))).status,
    ).toBe(201);
    expectDetail(await upload(Buffer.alloc(1001), { digest: null }), 422);
  });

  test('the default limit is 262,144,000 bytes', async () => {
    expect((await mock.control('GET', '/settings')).value).toMatchObject({
      photo_max_bytes: 262_144_000,
    });
  });

  test.each(ARCHIVES)(
    '422: %s archives; a password has its own detail',
    async (_, plain, encrypted) => {
      const open = await upload(plain, { digest: null });
      const locked = await upload(encrypted, { digest: null });
      expectDetail(open, 422);
      expectDetail(locked, 422);
      expect(locked.json?.['detail']).not.toBe(open.json?.['detail']);
    },
  );

  test.each([
    ['GIF', Buffer.from('GIF89a\x01\0\x01\0')],
    ['PDF', Buffer.from('%PDF-1.7\n')],
    ['BMP', Buffer.from('BM\0\0\0\0')],
    ['WebP', Buffer.from('RIFF\0\0\0\0WEBPVP8 ')],
    ['AVIF', isoMedia('avif')],
    ['a raw picture of Canon', Buffer.from('II*\0\x10\0\0\0CR\x02\0', 'latin1')],
    ['MP4', isoMedia('isom')],
    ['text', Buffer.from('not a picture\n')],
    ['unrecognisable bytes', Buffer.from([0, 1, 2, 3, 4, 250])],
    ['nothing', Buffer.alloc(0)],
  ])('422: %s, whatever type the part declares', async (_, bytes) => {
    expectDetail(await upload(bytes), 422);
    expect(await photos()).toBe(9);
  });

  test('a wrong type is reported before a missing digest, unrecognisable bytes after it', async () => {
    const tar = Buffer.concat([Buffer.from('a.txt'), Buffer.alloc(252), Buffer.from('ustar\0')]);
    for (const bytes of [
      Buffer.from('GIF89a'),
      tar,
      Buffer.from('BZh91AY'),
      Buffer.from('\xfd7zXZ\0', 'latin1'),
    ])
      expectDetail(await upload(bytes, { digest: null }), 422);
    expectDetail(await upload(Buffer.from([0, 1, 2, 250]), { digest: null }), 400);
  });

  test('422: the antivirus test string at any position; accepted with the scanner off', async () => {
    const infected = jpeg(undefined, `${'x'.repeat(1_048_560)}${EICAR}`);
    expectDetail(await upload(infected), 422);
    await mock.settings({ antivirus: false });
    expect((await upload(infected)).status).toBe(201);
  });

  test('500 and nothing stored: the scanner cannot run', async () => {
    await mock.faults({ endpoint: 'photo', fault: 'antivirus-down', times: 1 });
    expectDetail(await upload(PHOTO), 500);
    expect(await photos()).toBe(9);
  });

  test('422: the scanner reports malware', async () => {
    await mock.faults({ endpoint: 'photo', fault: 'virus', times: 1 });
    expectDetail(await upload(PHOTO), 422);
  });

  test.each(['a.', 'a.j pg', 'a.jpeg2000extension', 'a.jpg.č'])(
    '422: the generated name would be invalid or too long: "%s"',
    async (name) => {
      expectDetail(await upload(PHOTO, { name }), 422);
    },
  );

  test('429 without Retry-After: the record lock is held', async () => {
    await mock.settings({
      record_lock_params: { retry_delay_ms: 5, max_retries: 2 },
    });
    await mock.control('POST', `/records/${MINE}/lock`, { ms: 60_000 });
    const answer = await upload(PHOTO);
    expectDetail(answer, 429);
    expect(answer.headers.get('retry-after')).toBeNull();
    expectDetail(await upload(PHOTO, { digest: contentDigest('other') }), 422);
  });
});

describe('Upload: success (A-PHOTO-8, A-FILE-1, A-FILE-5)', () => {
  test.each([
    ['image/jpeg', jpeg(undefined)],
    ['image/png', png(undefined)],
    ['image/tiff', tiff({ order: 'II', gps: false })],
    ['image/tiff', tiff({ order: 'MM', gps: false })],
    ['image/heic', isoMedia('heic')],
    ['image/heif', isoMedia('mif1')],
  ])('%s is accepted and stored byte for byte', async (mimetype, bytes) => {
    const answer = await upload(bytes);
    expect(answer.status, answer.text).toBe(201);
    expect(elementText(answer.text, 'mimetype')).toBe(mimetype);
    expect(elementText(answer.text, 'sha_512')).toBe(
      createHash('sha512').update(bytes).digest('hex'),
    );
  });

  test('201 with the common headers and one soubor in the service’s form', async () => {
    const answer = await upload(PHOTO, { name: 'Fotka č. 1.JPG' });
    expect(answer.headers.get('content-type')).toBe('application/xml');
    expect(answer.headers.get('x-record-id')).toBe(MINE);
    expect(answer.headers.get('location')).toBe(`${mock.server.oai_base}/id/${MINE}`);
    const file = /<svc:soubor>([\s\S]*)<\/svc:soubor>/.exec(answer.text)?.[1] ?? '';
    expect([...file.matchAll(/<svc:(\w+)[ >]/g)].map((match) => match[1]).slice(0, 10)).toEqual([
      'id',
      'path',
      'nazev',
      'mimetype',
      'rozsah',
      'size_mb',
      'sha_512',
      'url',
      'historie',
      'id',
    ]);
    expect(elementText(file, 'id')).toMatch(/^soub-\d+$/);
    expect(elementText(file, 'nazev')).toBe('C202400101N00007F01.JPG');
    expect(elementText(file, 'rozsah')).toBe('1');
    expect(elementText(file, 'size_mb')).toBe((PHOTO.length / 1_048_576).toFixed(10));
    const uuid = /^rest\/[^/]+\/record\/C-202400101-N00007\/file\/([0-9a-f-]{36})$/.exec(
      elementText(file, 'path') ?? '',
    )?.[1];
    expect(elementText(file, 'url')).toMatch(new RegExp(`^http.*/id/${MINE}/file/${uuid}$`));
    expect(elementText(file, 'typ_zmeny')).toBe('SBR0');
    expect(elementText(file, 'poznamka')).toBe('Fotka č. 1.JPG');
  });

  test('a repeated upload adds a second file; numbers rise, gaps are not filled, files are listed by name', async () => {
    for (let count = 0; count < 2; count += 1) await upload(PHOTO);
    expect(names((await upload(PHOTO, { name: 'x.png' })).text)).toEqual([
      'C202400101N00007F01.jpg',
      'C202400101N00007F02.jpg',
      'C202400101N00007F03.png',
    ]);
  });

  test('a name without an extension keeps none', async () => {
    expect(names((await upload(PHOTO, { name: 'IMG' })).text)).toEqual(['C202400101N00007F01']);
  });

  test('after F99 there is no further name: 422', async () => {
    const file = {
      id: 'soub-1',
      path: 'p',
      nazev: 'C202400101N00007F99.jpg',
      mimetype: 'image/jpeg',
      size_mb: '1',
      sha_512: 'a',
      url: 'http://x/',
    };
    await mock.control('POST', '/records', { ident: MINE, changes: { soubor: [file] } });
    expectDetail(await upload(PHOTO), 422);
  });

  test('a TIFF counts its pages', async () => {
    const answer = await upload(tiff({ order: 'II', gps: false, pages: 3 }), { name: 'scan.tif' });
    expect(elementText(answer.text, 'rozsah')).toBe('3');
  });

  test('an archived find accepts a photograph and is archived again', async () => {
    const answer = await upload(PHOTO, { find: ARCHIVED });
    expect(answer.status, answer.text).toBe(201);
    expect(elementText(answer.text, 'stav')).toBe('4');
    expect(names(answer.text)).toEqual(['C202400101N00006F01.png', 'C202400101N00006F02.jpg']);
    const history = answer.text.split('<svc:soubor>')[0] ?? '';
    expect(
      [...history.matchAll(/<svc:typ_zmeny>([^<]*)</g)].map((match) => match[1]).slice(-2),
    ).toEqual(['SN34', 'SN34']);
  });

  test.each([
    ['a Researcher, own find in state 2', 'researcher', 'C-202400101-N00003', 403],
    ['a colleague of the organisation', 'colleague', MINE, 201],
    ['an Archaeologist elsewhere', 'outsider', MINE, 403],
    ['an Archivist', 'archivist', 'M-202300316-N00003', 201],
  ])('%s', async (_, username, find, status) => {
    expect((await upload(PHOTO, { find, token: await fetchToken(mock, username) })).status).toBe(
      status,
    );
  });

  test('the stored bytes can be fetched at the url of the soubor', async () => {
    const url =
      elementText(
        (await upload(PHOTO, { find: ARCHIVED })).text.split('F02.jpg')[1] ?? '',
        'url',
      ) ?? '';
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(PHOTO)).toBe(true);
    const hidden = elementText((await upload(PHOTO)).text, 'url') ?? '';
    expect((await fetch(hidden)).status).toBe(403);
    const basic = (name: string) => ({
      authorization: `Basic ${Buffer.from(`${name}:${name}`).toString('base64')}`,
    });
    expect((await fetch(hidden, { headers: basic('archaeologist') })).status).toBe(200);
    expect((await fetch(hidden, { headers: basic('outsider') })).status).toBe(403);
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
  });
});
