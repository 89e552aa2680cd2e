import { request } from 'node:http';
import { beforeEach, expect, test } from 'vitest';
import { expectEnded, type Home, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { sendSeason } from '../support/season.ts';
import { serve } from '../support/serve.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();
const DAY_MS = 86_400_000;

/** Changes answers of the harvesting interface, as a proxy in front of it. */
let rewrite: (xml: string) => string;
const putInFront = () =>
  serve((asking, answering) => {
    const { port } = new URL(mock.service.oai_base);
    // By the address that the client used, the service makes the identifiers.
    const headers = { ...asking.headers, 'accept-encoding': 'identity' };
    request({ port, path: asking.url, headers }, async (answer) => {
      const text = Buffer.concat(await answer.toArray()).toString();
      answering
        .writeHead(answer.statusCode ?? 0, { 'content-type': 'text/xml;charset=UTF-8' })
        .end(rewrite(text));
    })
      .once('error', () => answering.destroy())
      .end();
  });

let home: Home;
beforeEach(async () => {
  rewrite = (xml) => xml;
  home = await signedIn(mock.service, [...WITHOUT_PAUSES, '--oai-base', await putInFront()]);
  await sendSeason(home, 3);
});

type Pulled = {
  readonly finds: readonly { find: string; ident_cely: string; news: boolean }[];
};
const pull = (by = home): Promise<Pulled> => by.json<Pulled>('pull');

/** With another content of one record. */
function withContent(ident: string, content: string): (xml: string) => string {
  return (xml) =>
    xml.replaceAll(/<record>.*?<\/record>/gs, (record) =>
      record.includes(`/id/${ident}<`)
        ? record.replace(/<metadata>.*<\/metadata>/s, content)
        : record,
    );
}

test.each([
  ['without its content', ''],
  ['that is no find', '<metadata><svc xmlns="urn:svc/2.2/"><projekt/></svc></metadata>'],
])(
  'a pull that gets a record %s exits 3, names the find and keeps the old copy',
  async (_, content) => {
    const [first] = (await pull()).finds;
    const ident = first?.ident_cely ?? '';
    await mock.service.control('POST', '/records', { ident, changes: { poznamka: 'changed' } });
    rewrite = withContent(ident, content);
    await expectEnded(home.pas('pull'), 3, `their local copies were not changed: K-1 (${ident})`);
    expect(await home.json('list')).toMatchObject([
      { at_service: { standing: 'shown', stav: 1 } },
      {},
      {},
    ]);
    rewrite = (xml) => xml;
    expect((await pull()).finds.filter(({ news }) => news).map(({ find }) => find)).toEqual([
      'K-1',
    ]);
  },
);

test('a harvest that gets a record without its content exits 3 and names it', async () => {
  const [{ ident_cely: ident } = { ident_cely: '' }] = await home.json('list');
  rewrite = withContent(ident ?? '', '');
  const harvest = home.pas('harvest', 'samostatny_nalez', '--out', 'finds.jsonl');
  await expectEnded(harvest, 3, `${ident} was skipped`);
});

test('a pull finds a second change of one day if datestamps are days', async () => {
  rewrite = (xml) => xml.replaceAll(/(<datestamp>\d{4}-\d\d-\d\d)T[^<]*/g, '$1');
  const [first] = (await pull()).finds;
  const ident = first?.ident_cely ?? '';
  await mock.service.control('POST', '/records', { ident, changes: { poznamka: 'changed' } });
  expect((await pull()).finds.filter(({ news }) => news).map(({ find }) => find)).toEqual(['K-1']);
});

/** The environment in which Node takes the time from a clock that is wrong; timers stay right. */
function withClockAhead(aheadMs: number): { readonly NODE_OPTIONS: string } {
  const shift = `const Right = Date;
    const now = () => Right.now() + ${aheadMs};
    globalThis.Date = new Proxy(Right, {
      construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made),
      get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
    });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}` };
}

test.each([
  ['ahead of', DAY_MS],
  ['behind', -DAY_MS],
])('a laptop whose clock is a day %s the service’s pulls what changed', async (_, aheadMs) => {
  const wrong = home.with(withClockAhead(aheadMs));
  // Both versions have one datestamp.
  rewrite = (xml) => xml.replaceAll(/(<datestamp>[^<]*:)\d\dZ/g, '$100Z');
  await pull(wrong);
  const ident = (await pull(wrong)).finds[1]?.ident_cely ?? '';
  await mock.service.control('POST', '/records', { ident, changes: { poznamka: 'changed' } });
  expect((await pull(wrong)).finds.filter(({ news }) => news).map(({ find }) => find)).toEqual([
    'K-2',
  ]);
});
