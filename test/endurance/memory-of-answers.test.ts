import { createServer, type RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { listen } from '../support/raw-server.ts';
import { type Home, makeHome, type Service, serviceAt } from '../support/run-pas.ts';
import { oaiXml } from '../support/scripted-oai.ts';
import { importSeason } from '../support/season.ts';
import { EVA } from '../support/temp-outbox.ts';
import { userInfo } from '../unit/push/account-service.ts';
import { ODD_SET, page, startOddService } from './odd-service.ts';
import { MEASURES_MEMORY, type Peak, readPeak } from './peak-memory.ts';

const MEBI = 1024 * 1024;
/** As much as is read of a page. */
const MOST = 64 * MEBI - 4096;
/** Size at which the bound leaves least room for the same size in any page. */
const LITTLE = 16 * MEBI;
/** As much as is read of an answer of the write interface. */
const MAX_WRITTEN = 4 * MEBI - 4096;
const MAX_TIMES = 4;
/** Limit for elements: the heap holds them, their text as JSON, and garbage of V8. */
const NOT_YET_FREED = 224 * MEBI;

async function homeAt(service: Service, more: NodeJS.ProcessEnv = {}): Promise<Home> {
  const home = makeHome(more);
  const account = ['--username', 'eva', '--oai-auth', 'none'];
  await home.init(service, '--name', 'odd', ...account);
  return home;
}

const filled = (piece: string, bytes: number): string =>
  piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));
const numbered = (count: number, make: (nth: number) => string): string =>
  Array.from({ length: count }, (_, nth) => make(nth)).join('');

/** A page with one record, of which the metadata hold this. */
const metadata = (inner: string): string =>
  page(['A-1'], {
    size: 1,
    next: '',
    metadata: `<svc xmlns="urn:svc/2.2/"><projekt>${inner}</projekt></svc>`,
  });
/** The same with enough text in others to have the size. */
const padded = (inner: string, bytes: number): string =>
  metadata(`${inner}${filled(`<b>${'x'.repeat(MEBI)}</b>`, bytes - inner.length - MEBI)}`);

type Make = (bytes: number) => string | Buffer;
type Case = readonly [what: string, make: Make];

/** All of such a page costs memory. */
const HOSTILE: readonly Case[] = [
  ['one huge text', (bytes) => metadata(filled('x', bytes - MEBI))],
  [
    'texts of a few million letters that are no ASCII',
    (bytes) => metadata(filled(`<b>${'č'.repeat(MEBI)}</b>`, bytes - MEBI)),
  ],
  ['line breaks', (bytes) => metadata(filled(`<b>${'a\r\n'.repeat(MEBI)}</b>`, bytes - MEBI))],
  [
    'references to characters',
    (bytes) => metadata(filled(`<b>${'&#352;'.repeat(MEBI / 2)}</b>`, bytes - MEBI)),
  ],
  [
    'prefixes that are declared and not used',
    (bytes) => metadata(numbered(bytes / 40, (nth) => `<a xmlns:p${nth}="urn:${nth}"/>`)),
  ],
  [
    'attributes of references',
    (bytes) => metadata(filled(`<a b="${'&#352;'.repeat(10_000)}"/>`, bytes - MEBI)),
  ],
  [
    'names of which each differs',
    (bytes) => metadata(numbered(bytes / 100, (nth) => `<${'n'.repeat(80)}${nth}/>`)),
  ],
  ['elements in elements', (bytes) => metadata(filled('<a>', bytes - MEBI))],
  ['a comment behind each letter', (bytes) => metadata(filled('x<!---->', bytes - MEBI))],
  [
    'an old encoding',
    (bytes) =>
      metadata(filled(`<b>${'x'.repeat(MEBI)}</b>`, bytes - MEBI)).replace('UTF-8', 'ISO-8859-2'),
  ],
  [
    'an end that is missing',
    (bytes) => metadata(filled(`<b>${'x'.repeat(MEBI)}</b>`, bytes - MEBI)).slice(0, -20),
  ],
  ['a token without end', (bytes) => page(['A-1'], { size: 2, next: filled('x', bytes - MEBI) })],
  [
    'an error without end',
    (bytes) => oaiXml(`<error code="badArgument">${filled('x', bytes - MEBI)}</error>`),
  ],
  ['nothing but zeros', (bytes) => Buffer.alloc(bytes)],
  ['a gzip that bursts', (bytes) => gzipSync(metadata(filled('x', bytes)))],
  [
    'an honest gzip',
    (bytes) =>
      gzipSync(
        metadata(
          filled(
            `<b>${Array.from({ length: 40 }, () => Math.random()).join(' '.repeat(700))}</b>`,
            bytes - MEBI,
          ),
        ),
      ),
  ],
];

/** Something that is as large in any page, and text that fills it up. */
const HOSTILE_IN_PART: readonly Case[] = [
  ['a million small elements', (bytes) => padded('<a/>'.repeat(1_000_000), bytes)],
  ['as many small elements as are read', (bytes) => padded('<a>b</a>'.repeat(147_000), bytes)],
  [
    'a hundred thousand xmlns attributes',
    (bytes) => padded(`<a${numbered(100_000, (nth) => ` xmlns:p${nth}=""`)}/>`, bytes),
  ],
  [
    'a million attributes in a tag',
    (bytes) => padded(`<a${numbered(1_000_000, (nth) => ` p${nth}=""`)}/>`, bytes),
  ],
  [
    'as many attributes as are read',
    (bytes) => padded('<a b="1" c="2" d="3" e="4"/>'.repeat(29_000), bytes),
  ],
  [
    'elements as deep as they may be, again and again',
    (bytes) => padded(`${'<a>'.repeat(200)}${'</a>'.repeat(200)}`.repeat(700), bytes),
  ],
  [
    'thousands of records',
    (bytes) =>
      page(
        Array.from({ length: 20_000 }, (_, nth) => `A-${nth}`),
        {
          size: 20_000,
          next: '',
          metadata: `<p xmlns="urn:p">${'x'.repeat(bytes / 20_000 - 400)}</p>`,
        },
      ),
  ],
];

const HARVEST = ['harvest', ODD_SET, '--out', 'out.jsonl'];
const HARVEST_TERMS = ['harvest-vocab', 'heslo'];
/** Pages are read by the same code for both commands; what differs is how a record is kept. */
const KEPT_AS_TERMS = [...HOSTILE, ...HOSTILE_IN_PART].filter(([what]) =>
  /^(one huge|line breaks|as many small|thousands)/.test(what),
);

describe.skipIf(!MEASURES_MEMORY)('the memory for an answer is bounded', () => {
  /** Requests above the limit. */
  function mebibytesBeyond(bytes: number, base: number, { run, peakBytes }: Peak): number {
    expect(run.stderr).not.toMatch(/\n\s+at |heap/);
    expect(run.stderr.length).toBeLessThan(100_000);
    expect(run.code).not.toBe(1);
    return Math.round((peakBytes - base - MAX_TIMES * bytes - NOT_YET_FREED) / MEBI);
  }

  async function beyond(
    make: (bytes: number) => string | Buffer,
    bytes: number,
    base: number,
    command: readonly string[],
  ) {
    await using service = await startOddService();
    const home = await homeAt(service);
    const answer = Buffer.from(make(bytes));
    const sane = page(['A-1'], { size: 1, next: '' });
    // A refused request is repeated: the second meets what the first has left.
    service.odd((response, asked) =>
      response.writeHead(200, { 'content-type': 'text/xml' }).end(asked < 2 ? answer : sane),
    );
    const peak = await readPeak(home, ...command);
    expect(service.pagesAsked).toBeGreaterThan(0);
    return mebibytesBeyond(bytes, base, peak);
  }

  // A refused request is repeated after seconds in which nothing happens.
  describe.concurrent.each([
    ['harvest', HOSTILE, [MOST], HARVEST],
    ['harvest', HOSTILE_IN_PART, [LITTLE, MOST], HARVEST],
    ['harvest-vocab', KEPT_AS_TERMS, [MOST], HARVEST_TERMS],
  ])('at %s:', (_name, cases, sizes, command) => {
    let base = 0;
    beforeAll(async () => {
      await using service = await startOddService();
      service.sane(['A-1']);
      base = (await readPeak(await homeAt(service), ...command)).peakBytes;
    });

    test.each(cases)('%s', async (_what, make) => {
      const over = await Promise.all(sizes.map((bytes) => beyond(make, bytes, base, command)));
      expect(over.filter((mebibytes) => mebibytes > 0)).toEqual([]);
    });
  });

  const SAID: readonly Case[] = [
    ['a text', (bytes) => JSON.stringify({ detail: 'x'.repeat(bytes) })],
    ['lists in lists', (bytes) => '['.repeat(bytes)],
    ['findings', (bytes) => `{"errors":[${filled('{"line":1,"message":"x"},', bytes)}1]}`],
    ['a page of an error', (bytes) => filled('<p>Traceback</p>\n', bytes)],
  ];
  const LOGIN = ['login'];
  const PUSH = ['push', '--yes'];

  describe.each([201, 400, 500])('of the write interface with status %i:', (status) => {
    /** Each write is answered with the next of these. */
    async function peakAt(
      answers: readonly (string | Buffer)[],
      command: readonly string[],
    ): Promise<Peak> {
      let askedCount = 0;
      await using service = await startWriteService((request, response) => {
        request.resume().on('end', () => {
          const { status: fine, headers, body } = userInfo(EVA);
          if (request.url?.includes('uzivatel-info') === true)
            response.writeHead(fine, headers).end(body);
          else if (request.url?.includes('verb=') === true) response.writeHead(404).end();
          else
            response
              .writeHead(status, { 'content-type': 'application/json' })
              .end(answers[askedCount++ % answers.length]);
        });
      });
      const secret =
        command === LOGIN ? { PAS_PASSWORD: 'planted-Pa55word' } : { PAS_TOKEN: 'planted-token' };
      const home = await homeAt(service, secret);
      if (command === PUSH) await importSeason(home, 2 * answers.length);
      const peak = await readPeak(home, ...command);
      expect(askedCount).toBeGreaterThanOrEqual(answers.length);
      return peak;
    }

    const oneByOne = SAID.map((one) => [one]);
    test.each([
      ['to a sign-in', LOGIN, oneByOne],
      // A success that names no record ends the push.
      ['to what a push sends', PUSH, status === 201 ? oneByOne : [SAID]],
    ])('%s', async (_what, command, given) => {
      const { peakBytes: base } = await peakAt(['{}'], command);
      const over = async (bytes: number, cases: readonly Case[]): Promise<number> => {
        const bodies = cases.map(([, make]) => make(bytes));
        return mebibytesBeyond(bytes, base, await peakAt(bodies, command));
      };
      const overs = await Promise.all([
        ...given.map((cases) => over(MAX_WRITTEN, cases)),
        over(64 * MEBI, SAID.slice(0, 1)),
      ]);
      expect(overs.filter((mebibytes) => mebibytes > 0)).toEqual([]);
    });
  });
});

async function startWriteService(answer: RequestListener): Promise<Service & AsyncDisposable> {
  const { url, ...listening } = await listen(createServer(answer));
  return { ...listening, ...serviceAt(url) };
}
