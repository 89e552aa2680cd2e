import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { writeSeason } from '../support/a-season.ts';
import { EVA_SAID, userInfo } from '../support/account-service.ts';
import { envelope, ODD_SET, page, startOddService } from '../support/odd-service.ts';
import { MEASURES_MEMORY, type Peak, peakOf } from '../support/peak-memory.ts';
import { addressFlags, expectDone, type Home, makeHome, type Service } from '../support/run-pas.ts';

const MEBI = 1024 * 1024;
/** The last is as much as is read. */
const SIZES = [16 * MEBI, 64 * MEBI - 4096];
/** The write interface's answers are read up to 4 MiB. */
const WRITE_SIZES = [4 * MEBI - 4096, 64 * MEBI];
const MOST_TIMES = 4;
/** Of elements there are so many at most that it holds them, and what V8 lets lie that nobody needs any more. */
const NOT_YET_FREED = 128 * MEBI;

async function homeAt(service: Service, more: NodeJS.ProcessEnv = {}): Promise<Home> {
  const home = makeHome(more);
  const account = ['--username', 'eva', '--oai-auth', 'none'];
  await expectDone(home.pas('init', '--name', 'odd', '--kind', 'training', ...account, ...addressFlags(service)));
  return home;
}

const filled = (piece: string, bytes: number): string => piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));
const numbered = (count: number, make: (nth: number) => string): string =>
  Array.from({ length: count }, (_, nth) => make(nth)).join('');

/** A page with one record, of which the metadata hold this. */
const metadata = (inner: string): string =>
  page(['A-1'], { size: 1, next: '', metadata: `<svc xmlns="urn:svc/2.2/"><projekt>${inner}</projekt></svc>` });
/** The same with enough text in others to have the size. */
const padded = (inner: string, bytes: number): string =>
  metadata(`${inner}${filled(`<b>${'x'.repeat(MEBI)}</b>`, bytes - inner.length - MEBI)}`);

type Case = readonly [what: string, make: (bytes: number) => string | Buffer];

const HOSTILE: readonly Case[] = [
  ['one huge text', (bytes) => metadata(filled('x', bytes - MEBI))],
  ['texts of a few million letters that are no ASCII', (bytes) => metadata(filled(`<b>${'č'.repeat(MEBI)}</b>`, bytes - MEBI))],
  ['line breaks', (bytes) => metadata(filled(`<b>${'a\r\n'.repeat(MEBI)}</b>`, bytes - MEBI))],
  ['references to characters', (bytes) => metadata(filled(`<b>${'&#352;'.repeat(MEBI / 2)}</b>`, bytes - MEBI))],
  ['a million small elements', (bytes) => padded('<a/>'.repeat(1_000_000), bytes)],
  ['as many small elements as are read', (bytes) => padded('<a>b</a>'.repeat(245_000), bytes)],
  ['a hundred thousand xmlns attributes', (bytes) => padded(`<a${numbered(100_000, (nth) => ` xmlns:p${nth}=""`)}/>`, bytes)],
  [
    'prefixes that are declared and not used',
    (bytes) => metadata(numbered(bytes / 40, (nth) => `<a xmlns:p${nth}="urn:${nth}"/>`)),
  ],
  ['a million attributes in a tag', (bytes) => padded(`<a${numbered(1_000_000, (nth) => ` p${nth}=""`)}/>`, bytes)],
  ['as many attributes as are read', (bytes) => padded('<a b="1" c="2" d="3" e="4"/>'.repeat(49_000), bytes)],
  ['attributes of references', (bytes) => metadata(filled(`<a b="${'&#352;'.repeat(10_000)}"/>`, bytes - MEBI))],
  ['names of which each differs', (bytes) => metadata(numbered(bytes / 100, (nth) => `<${'n'.repeat(80)}${nth}/>`))],
  ['elements in elements', (bytes) => metadata(filled('<a>', bytes - MEBI))],
  [
    'elements as deep as they may be, again and again',
    (bytes) => padded(`${'<a>'.repeat(200)}${'</a>'.repeat(200)}`.repeat(1200), bytes),
  ],
  ['a comment behind each letter', (bytes) => metadata(filled('x<!---->', bytes - MEBI))],
  ['an old encoding', (bytes) => metadata(filled(`<b>${'x'.repeat(MEBI)}</b>`, bytes - MEBI)).replace('UTF-8', 'ISO-8859-2')],
  ['an end that is missing', (bytes) => metadata(filled(`<b>${'x'.repeat(MEBI)}</b>`, bytes - MEBI)).slice(0, -20)],
  ['a token without end', (bytes) => page(['A-1'], { size: 2, next: filled('x', bytes - MEBI) })],
  ['an error without end', (bytes) => envelope(`<error code="badArgument">${filled('x', bytes - MEBI)}</error>`)],
  [
    'thousands of records',
    (bytes) =>
      page(
        Array.from({ length: 20_000 }, (_, nth) => `A-${nth}`),
        { size: 20_000, next: '', metadata: `<p xmlns="urn:p">${'x'.repeat(bytes / 20_000 - 400)}</p>` },
      ),
  ],
  ['nothing but zeros', (bytes) => Buffer.alloc(bytes)],
  ['a gzip that bursts', (bytes) => gzipSync(metadata(filled('x', bytes)))],
  [
    'an honest gzip',
    (bytes) =>
      gzipSync(metadata(filled(`<b>${Array.from({ length: 40 }, () => Math.random()).join(' '.repeat(700))}</b>`, bytes - MEBI))),
  ],
];

/** Pages are read by the same code for both commands; what differs is how a record is kept. */
const KEPT_AS_TERMS = HOSTILE.filter(([what]) => /^(one huge|line breaks|as many small|thousands)/.test(what));

describe.skipIf(!MEASURES_MEMORY)('the memory for an answer is bounded', () => {
  /** How many more it takes than it may. */
  function mebibytesBeyond(bytes: number, base: number, { run, peakBytes }: Peak): number {
    expect(run.stderr).not.toMatch(/\n\s+at |heap/);
    expect(run.code).not.toBe(1);
    return Math.round((peakBytes - base - MOST_TIMES * bytes - NOT_YET_FREED) / MEBI);
  }

  async function beyond(make: (bytes: number) => string | Buffer, bytes: number, base: number, ...command: string[]) {
    await using service = await startOddService();
    const home = await homeAt(service);
    const answer = Buffer.from(make(bytes));
    const sane = page(['A-1'], { size: 1, next: '' });
    // What is refused is asked for again: the second of them meets what the first has left lying.
    service.odd((response, asked) => response.writeHead(200, { 'content-type': 'text/xml' }).end(asked < 2 ? answer : sane));
    const peak = await peakOf(home, ...command);
    expect(service.pagesAsked).toBeGreaterThan(0);
    return mebibytesBeyond(bytes, base, peak);
  }

  describe.each([
    ['harvest', HOSTILE, SIZES, ['harvest', ODD_SET, '--out', 'out.jsonl']],
    ['harvest-vocab', KEPT_AS_TERMS, SIZES.slice(-1), ['harvest-vocab', 'heslo']],
  ])('at %s:', (_name, cases, sizes, command) => {
    let base = 0;
    beforeAll(async () => {
      await using service = await startOddService();
      service.sane(['A-1']);
      base = (await peakOf(await homeAt(service), ...command)).peakBytes;
    });

    test.each(cases)('%s', async (_what, make) => {
      const over = await Promise.all(sizes.map((bytes) => beyond(make, bytes, base, ...command)));
      expect(over.filter((mebibytes) => mebibytes > 0)).toEqual([]);
    });
  });

  const SAID: readonly Case[] = [
    ['a text', (bytes) => JSON.stringify({ detail: 'x'.repeat(bytes) })],
    ['lists in lists', (bytes) => '['.repeat(bytes)],
    ['findings', (bytes) => `{"errors":[${filled('{"line":1,"message":"x"},', bytes)}1]}`],
    ['a page of an error', (bytes) => filled('<p>Traceback</p>\n', bytes)],
  ];

  describe.each([201, 400, 500])('of the write interface with status %i:', (status) => {
    async function peakAt(said: string | Buffer, ...command: string[]): Promise<Peak> {
      let asked = 0;
      const answer = (request: IncomingMessage, response: ServerResponse): void => {
        const isQuestion = request.url?.includes('uzivatel-info') === true;
        request.resume().on('end', () => {
          const { status: fine, headers, body } = userInfo(EVA_SAID);
          if (!isQuestion) asked++;
          if (isQuestion) response.writeHead(fine, headers).end(body);
          else response.writeHead(status, { 'content-type': 'application/json' }).end(said);
        });
      };
      await using service = await startWriteService(answer);
      const home = await homeAt(
        service,
        command[0] === 'login' ? { PAS_PASSWORD: 'planted-Pa55word' } : { PAS_TOKEN: 'planted-token' },
      );
      if (command[0] === 'push') await expectDone(home.pas('import', writeSeason(home, 2)));
      const peak = await peakOf(home, ...command);
      expect(asked).toBeGreaterThan(0);
      return peak;
    }

    describe.each([[['login']], [['push', '--yes', '--any-account']]])('to %j:', (command) => {
      let base = 0;
      beforeAll(async () => {
        base = (await peakAt('{}', ...command)).peakBytes;
      });

      test.each(SAID)('%s', async (_what, make) => {
        const peaks = WRITE_SIZES.map(async (bytes) => mebibytesBeyond(bytes, base, await peakAt(make(bytes), ...command)));
        const over = await Promise.all(peaks);
        expect(over.filter((mebibytes) => mebibytes > 0)).toEqual([]);
      });
    });
  });
});

async function startWriteService(answer: RequestListener): Promise<Service & AsyncDisposable> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ base_url: base, oai_base: base, schema_base: base },
    [Symbol.asyncDispose]: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
