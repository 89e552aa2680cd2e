import { type ChildProcess, execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { reasonWithoutBrowser, startBrowser } from '../programs/browser.ts';
import {
  makeClientFolder,
  SERVICE_CLIENT,
  type ServiceClient,
} from '../programs/generated-client.ts';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { contentDigest } from '../support/contract-requests.ts';
import { eventually } from '../support/eventually.ts';
import { startMockProcess } from '../support/mock-process.ts';
import { tinyPng } from '../support/season.ts';
import { tempFolder } from '../support/temp-outbox.ts';

const run = promisify(execFile);
const PYTHON = '/usr/bin/python3';
const MUCH_OUTPUT = { maxBuffer: 64 * 1024 * 1024 };

/** Another program that is missing here; in CI none may be. */
function missing(): string | undefined {
  if (process.env['CI'] !== undefined) return undefined;
  const commands: ReadonlyArray<readonly [command: string, ...args: string[]]> = [
    ['curl', '--version'],
    ['openssl', 'version'],
    ['perl', '-MCarp', '-MHTTP::OAI', '-e1'],
    ['catmandu', '--version'],
    [PYTHON, '-c', 'import lxml, requests'],
  ];
  const [command] =
    commands.find(([program, ...args]) => spawnSync(program, args).status !== 0) ?? [];
  return command ?? reasonWithoutBrowser();
}

/**
 * Everything that docs/ci.md does by the control interface, typed by what the service says of
 * itself.
 */
const CONTROL_CLIENT = `
import createClient from 'openapi-fetch';
import type { paths } from './control.js';

type Client = ReturnType<typeof createClient<paths>>;
const done = async (asked: Promise<{ response: Response }>): Promise<number> => (await asked).response.status;

export const makeTenant = async (baseUrl: string, name: string) =>
  (await createClient<paths>({ baseUrl }).POST('/tenants', { body: { name } })).data;

export function control(baseUrl: string) {
  const client: Client = createClient<paths>({ baseUrl });
  return {
    advance: (ms: number) => done(client.POST('/clock', { body: { advance_ms: ms } })),
    reset: () => done(client.POST('/reset')),
    imports: async () => {
      const { data } = await client.GET('/journal', { params: { query: {} } });
      return data?.filter(({ path }) => path === '/api/pas/import-xml').map(({ status, gap_ms }) => ({ status, gap_ms }));
    },
  };
}
`;

type Addresses = {
  readonly base_url: string;
  readonly oai_base: string;
  readonly schema_base: string;
  readonly control_url: string;
};
type ControlClient = {
  makeTenant(baseUrl: string, name: string): Promise<Addresses | undefined>;
  control(baseUrl: string): {
    advance(ms: number): Promise<number>;
    reset(): Promise<number>;
    imports(): Promise<Array<{ status: number | null; gap_ms: number | null }> | undefined>;
  };
};

/** Prints the identifier of each find whose number the account may read, with the number. */
const PERL_HARVESTER = `
use strict; use Carp; use HTTP::OAI;
my $harvester = HTTP::OAI::Harvester->new(baseURL => $ARGV[0]);
$harvester->default_headers->authorization_basic($ARGV[1], $ARGV[1]) if $ARGV[1];
my $list = $harvester->ListRecords(metadataPrefix => 'oai_svc', set => 'samostatny_nalez');
while (my $record = $list->next) {
  my $xml = $record->metadata ? $record->metadata->dom->toString : '';
  print $record->identifier, " $1\\n" if $xml =~ m{evidencni_cislo>([^<]*)<};
}
die $list->message if $list->is_error;
`;

/** The same in Python, by the libraries that its harvesters are made of. */
const PYTHON_HARVESTER = `
import sys, requests
from lxml import etree
OAI = '{http://www.openarchives.org/OAI/2.0/}'
session = requests.Session()
session.auth = (sys.argv[2], sys.argv[2]) if len(sys.argv) > 2 else None
asked = {'verb': 'ListRecords', 'metadataPrefix': 'oai_svc', 'set': 'samostatny_nalez'}
while asked:
    answer = session.get(sys.argv[1], params=asked)
    answer.raise_for_status()
    page = etree.fromstring(answer.content)
    for record in page.iter(OAI + 'record'):
        for number in record.iter('{*}evidencni_cislo'):
            print(record.findtext(OAI + 'header/' + OAI + 'identifier'), number.text)
    token = page.findtext('.//' + OAI + 'resumptionToken')
    asked = {'verb': 'ListRecords', 'resumptionToken': token} if token else None
`;

/** As docs/ci.md has it. */
const CURL_CLIENT = `
set -e
token=$(curl -s $mock/api/token-auth/ -H 'content-type: application/json' \\
  -d '{"username": "'$user'", "password": "'$user'"}' | sed 's/.*"token": *"\\([^"]*\\)".*/\\1/')
digest=$(openssl dgst -sha512 -binary find.xml | base64 -w 0)
curl -s -o answer.txt -w '%{http_code}' $mock/api/pas/import-xml -H "authorization: Bearer \${with:-$token}" \\
  -H "content-digest: sha-512=:$digest:" -F 'file=@find.xml;type=application/xml'
printf ' %s' "$token"
`;

const clients = makeClientFolder();

test('a generated client, curl, harvesters in Perl and Python, and a browser follow docs/ci.md', async (context) => {
  const lacking = missing();
  if (lacking !== undefined) context.skip(lacking);
  const folder = tempFolder();
  const inFolder = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const flags = ['--min-interval', '0', '--schema-base', 'http://schemas.example/svc'];
  await using mock = await startMockProcess(...flags);
  const curl = async (...args: string[]): Promise<string> =>
    (await run('curl', ['-s', ...args])).stdout;

  // Ready, and described by itself.
  expect(await curl('-f', `${mock.control_url}/health`)).toBe('{"status":"ok"}');
  await clients.describe('control', `${mock.control_url}/openapi.json`);
  const { makeTenant, control } = await clients.load<ControlClient>(
    'control-client',
    CONTROL_CLIENT,
  );
  const tenant = await makeTenant(mock.control_url, 'story');
  if (tenant === undefined) throw new Error('there is no tenant');
  const { advance, reset, imports } = control(tenant.control_url);

  // A find with a number and a photograph.
  await clients.describe('service', `${tenant.base_url}/openapi.json`);
  const { story } = await clients.load<ServiceClient>('service-client', SERVICE_CLIENT);
  const xml = makeDocument({ server: tenant }, smallestFind());
  const photo = tinyPng(2);
  const files = [
    xml,
    contentDigest(xml),
    new Blob([new Uint8Array(photo)]),
    contentDigest(photo),
  ] as const;
  const { statuses, ident } = await story(tenant.base_url, ...files);
  expect(statuses).toEqual([200, 201, 200, 201]);

  // Harvested by two others; anonymous readers see that it is there, and no more.
  const endpoint = `${tenant.oai_base}/2.2/oai`;
  const perl = inFolder('harvest.pl', PERL_HARVESTER);
  const python = inFolder('harvest.py', PYTHON_HARVESTER);
  const named = `${tenant.oai_base}/id/${ident} G 1\n`;
  expect((await run('perl', [perl, endpoint, 'archaeologist'])).stdout).toContain(named);
  expect((await run(PYTHON, [python, endpoint, 'archaeologist'])).stdout).toContain(named);
  expect((await run('perl', [perl, endpoint])).stdout).not.toContain(ident);
  expect((await run(PYTHON, [python, endpoint])).stdout).not.toContain(ident);
  const listed = [
    'convert',
    'OAI',
    '--url',
    endpoint,
    '--metadataPrefix',
    'oai_dc',
    '--set',
    'samostatny_nalez',
  ];

  // Trouble: the first is throttled, the second saved though it is answered by an error.
  inFolder('find.xml', xml);
  const send = async (user = 'archaeologist', withToken = ''): Promise<string[]> => {
    const env = { ...process.env, mock: tenant.base_url, user, with: withToken };
    return (await run('bash', ['-c', CURL_CLIENT], { cwd: folder, env })).stdout.split(' ');
  };
  const [, firstToken = ''] = await send();
  const harvested = async (): Promise<number> => {
    const { stdout } = await run(
      'catmandu',
      [...listed, 'to', 'JSON', '--line_delimited', '1'],
      MUCH_OUTPUT,
    );
    return stdout.trim().split('\n').length;
  };
  const finds = await harvested();
  const rules = [
    { endpoint: 'import', fault: 'throttle', retry_after: 1, when: { nth: 1 } },
    { endpoint: 'import', fault: '500-after-save', when: { nth: 2 } },
  ];
  await curl('-f', '-X', 'PUT', `${tenant.control_url}/faults`, '-d', JSON.stringify(rules));
  expect([(await send())[0], (await send())[0]]).toEqual(['429', '500']);
  expect((await send('blocked'))[0]).toBe('403');
  expect((await imports())?.map(({ status }) => status)).toEqual([201, 201, 429, 500, 403]);

  // Assertions end a job of curl where they do not hold.
  const verify = (count: number): Promise<string> => {
    const question = {
      request: {
        path: '/api/pas/import-xml',
        status: 500,
        request_body: [{ xpath: '//svc:stav', equals: '1' }],
      },
    };
    return curl(
      '-f',
      '-X',
      'POST',
      `${tenant.control_url}/verify`,
      '-d',
      JSON.stringify({ ...question, count }),
    );
  };
  await verify(1);
  await expect(verify(2)).rejects.toMatchObject({ code: 22 });

  await look(tenant.control_url, ident);

  // The find that the error had saved is harvested.
  expect(await harvested()).toBe(finds + 1);
  expect((await send())[0]).toBe('201');

  // A day later the token is over, until one signs in again.
  expect(await advance(90_000_000)).toBe(200);
  expect((await send('archaeologist', firstToken))[0]).toBe('401');
  const [status, nextToken] = await send();
  expect(status).toBe('201');
  expect(nextToken).not.toBe(firstToken);

  // The next test starts from the seed; the server itself was never touched.
  expect(await reset()).toBe(200);
  expect(await imports()).toEqual([]);
  expect(await curl('-f', `${mock.control_url}/journal`)).toBe('[]');
  expect((await run('perl', [perl, endpoint, 'archaeologist'])).stdout).not.toContain(ident);
  mock.child.kill('SIGTERM');
  expect(await ended(mock.child)).toBe(0);
});

/** View of a person who opens both pages in a browser. */
async function look(controlUrl: string, ident: string): Promise<void> {
  await using browser = await startBrowser();
  const { page, complaints, requested } = await browser.open(controlUrl);
  await page.locator(`#find-list button[data-ident="${ident}"]`).click();
  await page.locator('#find-view .photos img').first().waitFor();
  await eventually(() => page.locator('#journal-rows tr').allInnerTexts()).toContainEqual(
    expect.stringMatching(/import-xml[\s\S]*archaeologist[\s\S]*500/),
  );
  await page.getByRole('link', { name: 'What both interfaces take and answer' }).click();
  await page.getByRole('heading', { name: 'Write interface of the finds service' }).waitFor();
  await page.getByText('Create a find').click();
  expect(complaints).toEqual([]);
  expect(requested.filter((address) => new URL(address).host !== new URL(controlUrl).host)).toEqual(
    [],
  );
}

function ended(child: ChildProcess): Promise<number | null> {
  return child.exitCode === null
    ? new Promise((done) => child.once('exit', done))
    : Promise.resolve(child.exitCode);
}
