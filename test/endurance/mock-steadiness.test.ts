import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken, importXml } from '../support/contract-requests.ts';
import { eventually, PATIENCE_MS } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startMockProcess } from '../support/mock-process.ts';
import { PROJECT } from '../support/run-pas.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { tied } from '../support/tied.ts';

/** Small answers in a row before another request is done. */
async function answersBefore(mock: TestMock, other: Promise<unknown>): Promise<number> {
  let isDone = false;
  const ended = other.finally(() => {
    isDone = true;
  });
  let answers = 0;
  while (!isDone) {
    expect((await fetch(`${mock.server.control_url}/health`)).status).toBe(200);
    answers += 1;
  }
  await ended;
  return answers;
}

async function expectEnd(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  expect((await gone)[0]).toBe(0);
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

const ENDLESS = '^/(.*a)*a*(a|a)*(a+)+b$';

describe('an endless assertion', () => {
  const verify = async (mock: TestMock, request: unknown) => {
    const answer = await fetch(`${mock.server.control_url}/verify`, {
      method: 'POST',
      body: JSON.stringify({ request }),
    });
    return { status: answer.status, text: await answer.text() };
  };

  test('in the expression of a path is refused in time, while other requests are answered', async () => {
    await using mock = await startMock();
    await fetch(`${mock.url}/${'a'.repeat(60)}`);
    const verification = verify(mock, { path_matches: ENDLESS });
    expect(await answersBefore(mock, verification)).toBeGreaterThan(20);
    expect(await verification).toEqual({
      status: 422,
      text: expect.stringContaining('takes longer than 5 s'),
    });
    expect(await verify(mock, { path_matches: '^/a+$' })).toMatchObject({ status: 200 });
  });

  test.each([
    ['xpath', 'request_body', { xpath: `//*[${'count(//*['.repeat(8)}1${'])>0'.repeat(8)}]` }],
    ['json', 'answer_body', { json: `$[?search(@, '(a*)*(a|a)*(a+)+b')]` }],
    [
      'the expression of a body',
      'answer_body',
      { json: '$.detail', matches: '(.*a)*a*(a|a)*(a+)+b$' },
    ],
  ])('in %s is refused as well', async (_name, side, check) => {
    await using mock = await startMock();
    const authorization = `Bearer ${await fetchToken(mock, 'archaeologist')}`;
    await importXml(mock, `<a>${'<b/>'.repeat(500)}</a>`, { token: authorization.slice(7) });
    // The answer repeats the type.
    const headers = { authorization, 'content-type': 'a'.repeat(60) };
    await fetch(`${mock.url}/api/pas/import-xml`, { method: 'POST', headers, body: 'x' });
    const status = side === 'answer_body' ? { status: 415 } : {};
    const verification = verify(mock, {
      method: 'POST',
      path: '/api/pas/import-xml',
      ...status,
      [side]: [check],
    });
    expect(await answersBefore(mock, verification)).toBeGreaterThan(20);
    expect(await verification).toEqual({
      status: 422,
      text: expect.stringContaining('takes longer than 5 s'),
    });
  });

  test('does not keep the server from ending at once', async () => {
    const { child, base_url, control_url } = await startMockProcess();
    await fetch(`${base_url}/${'a'.repeat(60)}`);
    const verification = fetch(`${control_url}/verify`, {
      method: 'POST',
      body: JSON.stringify({ request: { path_matches: ENDLESS } }),
    }).catch(() => 'cut');
    for (let answers = 0; answers < 50; answers += 1)
      await (await fetch(`${control_url}/health`)).arrayBuffer();
    await expectEnd(child);
    // Had the server waited for it, it would be refused.
    expect(await verification).toBe('cut');
  });
});

describe('large data sets', () => {
  test('are filled in steps, so that a signal can end the server meanwhile', async () => {
    const program = join(PROJECT, 'bin', 'pas-mock-server.js');
    const port = await freePort();
    const flags = ['--records', '10000000', '--port', `${port}`];
    const child = tied(spawn(process.execPath, [program, ...flags], { stdio: 'ignore' }));
    // It listens before it fills its stock, and answers afterwards.
    await eventually(() => isListening(port)).toBe(true);
    const endedBy = performance.now() + PATIENCE_MS;
    await expectEnd(child);
    // All of them take minutes.
    expect(performance.now()).toBeLessThan(endedBy);
  });

  test('of a tenant are filled while other tenants are answered, and are limited for all tenants together', async () => {
    await using mock = await startMock();
    const make = (name: string, records: number) =>
      mock.control('POST', '/tenants', { name, records });
    expect(await answersBefore(mock, make('first', 8000))).toBeGreaterThan(5);
    expect(await make('second', 192_001)).toEqual({
      status: 409,
      value: {
        error:
          'all tenants may have 200000 synthetic records together, and have 8000; ask for fewer, or remove a tenant',
      },
    });
    await mock.control('DELETE', '/tenants/first');
    const inUse = await make('second', 1000);
    expect(inUse.status).toBe(200);
  });

  test.each(['ListRecords', 'ListIdentifiers'])(
    'are listed by %s while others are answered',
    async (verb) => {
      await using mock = await startMock({ records: 4000, pageSize: 3000 });
      const page = async () => {
        const answer = await fetch(`${mock.url}/2.2/oai?verb=${verb}&metadataPrefix=oai_svc`);
        const text = await answer.text();
        expect(text.match(/<header/g)).toHaveLength(3000);
      };
      await page();
      expect(await answersBefore(mock, page())).toBeGreaterThan(verb === 'ListRecords' ? 5 : 1);
    },
  );
});

test('a reopened data file with many records is reset while other tenants are answered', async () => {
  const data = join(tempFolder(), 'state.sqlite');
  const options = { data, records: 8000 };
  await (await startMock(options)).close();
  await using mock = await startMock(options);
  await mock.control('POST', '/tenants', { name: 'other' });
  const countListed = async () => {
    const answer = await fetch(
      `${mock.url}/2.2/oai?verb=ListIdentifiers&metadataPrefix=oai_svc&set=samostatny_nalez`,
    );
    return /completeListSize="(\d+)"/.exec(await answer.text())?.[1];
  };
  const before = await countListed();
  const reset = mock.control('POST', '/reset');
  // The service itself answers when it is whole again.
  const listed = countListed();
  let answers = 0;
  let isDone = false;
  const ended = reset.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    expect((await fetch(`${mock.url}/t/other/2.2/oai?verb=Identify`)).status).toBe(200);
    answers += 1;
  }
  expect((await ended).status).toBe(200);
  expect(answers).toBeGreaterThan(5);
  expect([await listed, await countListed()]).toEqual([before, before]);
});

describe('a writer that keeps the permitted pace', () => {
  /**
   * Sends a request over a connection of its own, which is accepted before the request is read.
   * @returns the answer, and the earliest and the latest moment at which the request left
   */
  const knock = (
    url: string,
    token: string,
  ): Promise<{ readonly status: number; readonly begunMs: number; readonly leftMs: number }> =>
    new Promise((answered, failed) => {
      const begunMs = performance.now();
      let leftMs = 0;
      const asking = request(
        `${url}/api/pas/import-xml`,
        { agent: false, headers: { authorization: `Bearer ${token}` } },
        (answer) => {
          answer
            .resume()
            .once('end', () => answered({ status: answer.statusCode ?? 0, begunMs, leftMs }));
        },
      );
      asking.once('finish', () => {
        leftMs = performance.now();
      });
      asking.once('error', failed).end();
    });

  test('is not refused while the server computes a large page', async () => {
    await using mock = await startMockProcess(
      '--records',
      '20000',
      '--page-size',
      '1000',
      '--min-interval',
      '100',
    );
    const token = await fetchToken({ url: mock.base_url }, 'archaeologist');
    let isOver = false;
    const harvest = async (): Promise<void> => {
      while (!isOver)
        await (
          await fetch(`${mock.oai_base}/2.2/oai?verb=ListRecords&metadataPrefix=oai_svc`)
        ).arrayBuffer();
    };
    const harvesting = [harvest(), harvest()];
    const knocks: ReturnType<typeof knock>[] = [];
    for (let sentCount = 0; sentCount < 40; sentCount += 1) {
      knocks.push(knock(mock.base_url, token));
      await delay(106);
    }
    const answers = await Promise.all(knocks);
    isOver = true;
    await Promise.all(harvesting);
    // This process may have been late itself.
    const refused = answers.filter(
      ({ status, begunMs }, at) => status === 429 && begunMs - (answers[at - 1]?.leftMs ?? 0) > 101,
    );
    expect(refused).toEqual([]);
    expect(answers.filter(({ status }) => status === 405).length).toBeGreaterThan(30);
  });

  test('is refused if it departs too early, however busy the server is', async () => {
    await using mock = await startMockProcess(
      '--records',
      '5000',
      '--page-size',
      '1000',
      '--min-interval',
      '100',
    );
    const token = await fetchToken({ url: mock.base_url }, 'archaeologist');
    const harvesting = fetch(`${mock.oai_base}/2.2/oai?verb=ListRecords&metadataPrefix=oai_svc`);
    const beganMs = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => knock(mock.base_url, token)),
    );
    const mostPassed = 2 + (performance.now() - beganMs) / 100;
    await (await harvesting).arrayBuffer();
    expect(answers.filter(({ status }) => status === 405).length).toBeLessThan(mostPassed);
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(30);
  });
});

test('the journal drops its oldest entries earlier if their paths are long', async () => {
  await using mock = await startMock();
  await mock.control('POST', '/tenants', { name: 'small' });
  const long = `/t/small/${'x'.repeat(12_000)}`;
  for (let sentCount = 0; sentCount < 300; sentCount += 1)
    await (await fetch(mock.url + long)).arrayBuffer();
  const journal = await (await fetch(`${mock.url}/t/small/__mock__/journal`)).text();
  expect(journal.length).toBeLessThan(2.3 * 1024 * 1024);
  expect(journal.length).toBeGreaterThan(1.5 * 1024 * 1024);
  const import_ = await importXml(mock, makeDocument(mock, smallestFind()), {
    token: await fetchToken(mock, 'archaeologist'),
  });
  expect(import_.status).toBe(201);
});
