import { chmodSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { everythingIn, getMode, isSuperuser, pasAsOther } from '../support/hostile-disk.ts';
import { listen } from '../support/raw-server.ts';
import {
  expectEnded,
  type Home,
  makeHome,
  PROJECT,
  type Run,
  type Service,
  signedIn,
} from '../support/run-pas.ts';
import { tinyPng, writeSeason } from '../support/season.ts';
import { serve } from '../support/serve.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '10');

async function homeAt(
  addresses: Partial<Service> & { base_url: string },
  more: NodeJS.ProcessEnv,
  ...flags: string[]
): Promise<Home> {
  const home = makeHome(more);
  const { base_url, oai_base = base_url, schema_base = base_url } = addresses;
  await home.init({ base_url, oai_base, schema_base }, '--username', 'eva', ...flags);
  return home;
}

/** Everything that `pas` left on the disk but the one file that is for secrets. */
function written(home: Home): string {
  return everythingIn(home.folder)
    .filter((path) => statSync(path).isFile() && !path.endsWith('secrets.json'))
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

describe('secrets', () => {
  const PASSWORD = 'archaeologist';

  test('are not in anything that pas prints or writes, and not in the process list', async () => {
    const home = await signedIn(mock.service);
    const secrets = JSON.parse(
      readFileSync(join(home.folder, 'pas', 'secrets.json'), 'utf8'),
    ) as Record<string, { token: string }>;
    const [owner = ''] = Object.keys(secrets);
    const token = secrets[owner]?.token ?? '';
    expect(token).toMatch(/^[0-9a-f]{40}$/);
    const homeCopy = makeHome({}, home.folder);
    const runs: Run[] = [];
    const seenArguments: string[] = [];
    const run = async (...args: string[]): Promise<void> => {
      const started = homeCopy.start(...args, '--verbose');
      seenArguments.push(readFileSync(`/proc/${started.child.pid}/cmdline`, 'latin1'));
      runs.push(await started.ended);
    };
    await run('import', writeSeason(home, 4, { photos: true }));
    await mock.service.faults(
      { endpoint: 'import', when: { nth: 1 }, times: 1, fault: '500-after-save' },
      { endpoint: 'import', when: { nth: 2 }, times: 1, fault: 'token-expired' },
      { endpoint: 'photo', when: { nth: 1 }, times: 1, fault: 'malformed' },
    );
    for (const args of [
      ['push', '--json'],
      ['push'],
      ['reconcile'],
      ['status', '--json'],
      ['list'],
      ['show', 'K-1', '--json'],
    ])
      await run(...args);
    for (const args of [
      ['whoami', '--json'],
      ['doctor'],
      ['doctor', '--json'],
      ['profile', 'show', '--json'],
      ['harvest-vocab', 'organizace'],
    ])
      await run(...args);
    await run('backup', 'copy.sqlite', '--photos');
    const renewed =
      (
        JSON.parse(readFileSync(join(home.folder, 'pas', 'secrets.json'), 'utf8')) as typeof secrets
      )[owner]?.token ?? '';
    expect(renewed).not.toBe(token);
    const all = [
      ...runs.flatMap(({ stdout, stderr }) => [stdout, stderr]),
      ...seenArguments,
      written(home),
    ].join('\n');
    for (const secret of [
      token,
      renewed,
      Buffer.from(`archaeologist:${PASSWORD}`).toString('base64'),
    ]) {
      expect(all.includes(secret)).toBe(false);
    }
    // The account is called like its password, so that is looked for where the name has no
    // business.
    expect(all).not.toMatch(/"?password"?\s*[:=]\s*"?archaeologist/);
  });

  test('that the service repeats in its answers are removed', async () => {
    const planted = 'planted-Pa55word';
    const parrot = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const output = `${Buffer.concat(chunks)} ${JSON.stringify(request.headers)}`;
        const spelt = [output, encodeURIComponent(output)];
        const page = `debug ${spelt.join('<br>')}`;
        response
          .writeHead(418, {
            'content-type': 'text/html',
            'x-you-said': String(request.headers.authorization),
          })
          .end(page);
      });
    });
    const home = await homeAt(
      { base_url: parrot },
      { PAS_PASSWORD: planted },
      '--oai-auth',
      'basic',
    );
    const token = 'planted-token-0123456789abcdef';
    const withToken = home.with({ PAS_TOKEN: token });
    const runs = [
      await home.pas('login', '--verbose', '--json'),
      await withToken.pas('whoami', '--verbose', '--json'),
      await withToken.pas('harvest-vocab', '--verbose', '--json'),
      await withToken.pas('doctor', '--verbose', '--json'),
    ];
    await withToken.pas('import', writeSeason(home, 2));
    runs.push(
      await withToken.pas('push', '--verbose', '--json'),
      await withToken.pas('status'),
      await withToken.pas('show', 'K-1'),
    );
    const all = runs.map(({ stdout, stderr }) => stdout + stderr).join('\n') + written(home);
    expect(all).toContain('status 418');
    expect(all).not.toContain('planted-');
    for (const text of [planted, `eva:${planted}`])
      expect(all).not.toContain(Buffer.from(text).toString('base64'));
  });

  test('are stored in a file that only its owner can read if the keyring hangs, and pas does not hang', async () => {
    const home = makeHome({ PAS_PASSWORD: PASSWORD });
    const bus = join(home.folder, 'bus');
    const silent = createSocketServer(() => {}).listen(bus);
    await new Promise((resolve) => silent.once('listening', resolve));
    const withBus = home.with({
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}`,
      XDG_RUNTIME_DIR: home.folder,
    });
    await withBus.init(mock.service, '--name', 'mock', '--username', 'archaeologist');
    const login = await withBus.do('login', '--json');
    expect(JSON.parse(login.stdout)).toMatchObject({ secrets: 'file' });
    expect(getMode(join(home.folder, 'pas', 'secrets.json'))).toBe('600');
    const whoami = await makeHome({}, home.folder).pas('whoami');
    expect(whoami.stderr).toMatch(/secrets\.json, which only you can read/);
    silent.close();
  });
});

describe('a server that redirects elsewhere', () => {
  async function thief(): Promise<{ address: string; requests: IncomingMessage[] }> {
    const requests: IncomingMessage[] = [];
    const address = await serve((request, response) => {
      requests.push(request);
      request.resume();
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"token":"stolen-token-stolen"}');
    });
    return { address, requests };
  }

  test.each([302, 308])('with %i is not followed by the write interface', async (status) => {
    const { address, requests } = await thief();
    const redirecting = await serve((request, response) => {
      request.resume();
      response.writeHead(status, { location: `${address}${request.url}` }).end();
    });
    const home = await homeAt(
      { base_url: redirecting, schema_base: mock.service.schema_base },
      { PAS_PASSWORD: 'planted' },
    );
    // As behind a network that asks for a sign-in first.
    await expectEnded(home.pas('login'), 5);
    const withToken = home.with({ PAS_TOKEN: 'planted-token' });
    await expectEnded(withToken.pas('whoami'), 5);
    await withToken.pas('import', writeSeason(home, 1));
    await withToken.pas('push');
    // Harvesting may be redirected, but then it is anonymous.
    const told = requests.filter(
      ({ method, url, headers }) =>
        method !== 'GET' || !/\/oai\?/.test(url ?? '') || headers.authorization !== undefined,
    );
    expect(told.map(({ method, url }) => `${method} ${url}`)).toEqual([]);
  });
});

describe('a server with an untrusted certificate', () => {
  test('gets no credential, and is used once its certificate is trusted', async () => {
    const pem = (name: string): string => join(PROJECT, 'test', 'fixtures', 'tls', `${name}.pem`);
    const heard: string[] = [];
    await using server = await listen(
      createSecureServer(
        { key: readFileSync(pem('key')), cert: readFileSync(pem('cert')) },
        (request, response) => {
          heard.push(`${request.method} ${request.url}`);
          request.resume();
          response.writeHead(404).end();
        },
      ),
    );
    const address = server.url.replace('http', 'https');
    const home = await homeAt(
      { base_url: address },
      { PAS_PASSWORD: 'planted' },
      '--oai-auth',
      'basic',
    );
    const withToken = home.with({ PAS_TOKEN: 'planted-token' });
    await withToken.do('import', writeSeason(home, 1));
    const commands = (at: Home): Promise<Run>[] => [
      home.pas('login'),
      at.pas('push'),
      at.pas('harvest-vocab', 'organizace'),
    ];
    const unverified = withToken.with({ NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    for (const run of await Promise.all([
      ...commands(withToken),
      unverified.pas('login'),
      unverified.pas('whoami'),
    ])) {
      await expectEnded(run, 5, /certificate/);
    }
    expect(heard).toEqual([]);
    await withToken.with({ NODE_EXTRA_CA_CERTS: pem('cert') }).pas('whoami');
    expect(heard).not.toEqual([]);
  });
});

describe('NODE_DEBUG, which makes Node print requests with their tokens', () => {
  test.each(['http', 'tls', 'fs,HTTPS', 'h*'])(
    '%s ends each command before anything is read',
    async (value) => {
      const run = await makeHome({ NODE_DEBUG: value }).pas('whoami');
      expect([run.code, run.stdout]).toEqual([12, '']);
      expect(run.stderr).toContain('without NODE_DEBUG');
    },
  );

  test('is honoured only for values that print no request', async () => {
    expect((await makeHome({ NODE_DEBUG: 'timer' }).pas('profile', 'list')).code).not.toBe(12);
  });
});

describe('foreign text cannot control the terminal', () => {
  const STEERING = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e';

  test('whether it comes from the service or from a file name', async () => {
    const hostile = await serve((request, response) => {
      request.resume();
      request.on('end', () => {
        const { status, body } =
          request.url === '/api/token-auth/'
            ? { status: 200, body: { token: 'a'.repeat(40) } }
            : {
                status: 422,
                body: {
                  validation_errors: [
                    { line: 4, column: null, message: `bad ${STEERING} depth`, error_type: 2 },
                  ],
                },
              };
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify(body));
      });
    });
    const home = await homeAt(
      { base_url: hostile, schema_base: mock.service.schema_base },
      { PAS_PASSWORD: 'x', PAS_TOKEN: 'y' },
    );
    const season = writeSeason(home, 2);
    const runs = [await home.pas('import', season)];
    runs.push(await home.pas('photo', 'add', 'K-1', home.file(`pic${STEERING}.png`, tinyPng(1))));
    runs.push(
      await home.pas('photo', 'add', 'K-1', home.file(`text${STEERING}.png`, 'no picture')),
    );
    runs.push(await home.pas('photo', 'add', 'K-1', `gone${STEERING}.png`));
    runs.push(await home.pas('number', 'set', 'K-1', `A ${STEERING} 1`));
    for (const args of [
      ['push', '--verbose'],
      ['push', '--json'],
      ['status'],
      ['status', '--json'],
      ['list'],
      ['show', 'K-1'],
      ['show', 'K-1', '--json'],
      ['whoami'],
      ['doctor'],
    ]) {
      runs.push(await home.pas(...args));
    }
    runs.push(
      await home.pas('show', `K${STEERING}`),
      await home.pas('import', `gone${STEERING}.csv`),
      await home.pas(`no${STEERING}`),
    );
    const all = runs.map(({ stdout, stderr }) => stdout + stderr).join('');
    expect(all).toContain('\\u001b]0;owned');
    expect(
      [...all].filter((character) =>
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(character),
      ),
    ).toEqual([]);
  });
});

describe('a data folder or secrets file that other users can read', () => {
  const open = (home: Home): [folder: string, secrets: string] => {
    const folder = join(home.folder, 'pas');
    const secrets = join(folder, 'secrets.json');
    chmodSync(folder, 0o755);
    chmodSync(secrets, 0o644);
    return [folder, secrets];
  };

  test('is restricted to its owner at the next use, with a message', async () => {
    const home = await signedIn(mock.service);
    const [folder, secrets] = open(home);
    const status = await home.do('status');
    for (const path of [folder, secrets])
      expect(status.stderr).toContain(
        `Others could read ${path} until now; from now on only you can.`,
      );
    expect([getMode(folder), getMode(secrets)]).toEqual(['700', '600']);
    expect((await home.do('status')).stderr).not.toContain('Others');
  });

  test('that also contains other files is left as it is', async () => {
    const home = makeHome();
    mkdirSync(join(home.folder, 'pas'), { mode: 0o755 });
    chmodSync(join(home.folder, 'pas'), 0o755);
    await home.pas('status');
    expect(getMode(join(home.folder, 'pas'))).toBe('755');
  });

  test.skipIf(!isSuperuser)(
    'and whose mode cannot be changed is named, and its secrets are not used',
    async () => {
      const home = await signedIn(mock.service);
      const [folder, secrets] = open(home);
      chmodSync(home.folder, 0o777);
      rmSync(join(folder, 'outboxes'), { recursive: true, force: true });
      for (const path of everythingIn(folder))
        chmodSync(path, statSync(path).isDirectory() ? 0o777 : 0o666);
      const list = pasAsOther(home, 'profile', 'list');
      await expectEnded(list, 0, `Others may read ${folder}, and its`);
      await expectEnded(list, 0, `Others may read ${secrets}, and its`);
      const whoami = pasAsOther(home, 'whoami');
      await expectEnded(
        whoami,
        12,
        /secrets\.json is not used: others may read it, and its permissions cannot be changed/,
      );
    },
  );
});
