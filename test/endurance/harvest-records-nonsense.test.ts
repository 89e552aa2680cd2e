import { readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectEnded } from '../support/expect-ended.ts';
import { ODD_SET, type OddAnswer, page, send, startOddService } from '../support/odd-service.ts';
import { type Home, makeHome, type Service } from '../support/run-pas.ts';
import { oaiXml } from '../support/scripted-oai.ts';

const IDENTS = ['A-1', 'A-2', 'A-3', 'A-4', 'A-5'];

/** The first page as it should be, then this. */
const then =
  (odd: (response: ServerResponse) => void): OddAnswer =>
  (response, n) =>
    n === 0
      ? send(response, page(IDENTS.slice(0, 2), { size: IDENTS.length, next: 'at-2' }))
      : odd(response);

const good = (idents: readonly string[], next = ''): string =>
  page(idents, { size: IDENTS.length, next });
const FETCH = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/hostname">]><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">&secret;</OAI-PMH>`;

/** Sends a body piece by piece for as long as it is taken. */
function flood(response: ServerResponse, sizeBytes: number): void {
  response.writeHead(200, { 'content-type': 'text/xml' });
  const piece = Buffer.alloc(1024 * 1024, ' ');
  let sentCount = 0;
  const more = (): void => {
    while (sentCount < sizeBytes && !response.destroyed) {
      sentCount += piece.length;
      if (!response.write(piece)) {
        response.once('drain', more);
        return;
      }
    }
    response.end();
  };
  more();
}

async function homeAt(service: Service): Promise<Home> {
  const home = makeHome();
  await home.init(service, '--name', 'odd');
  return home;
}

function idents(home: Home): string[] {
  const text = readFileSync(join(home.folder, 'out.jsonl'), 'utf8');
  return [...text.matchAll(/"identifier":"[^"]*\/([^"/]+)"/g)]
    .map((match) => match[1] ?? '')
    .sort();
}

describe.concurrent('nonsense in the middle of a list is one clear error, and the harvest resumes from what was stored:', () => {
  test.each<readonly [string, number, RegExp, (response: ServerResponse) => void]>([
    [
      'a page of HTML',
      5,
      /web page/,
      (response) => send(response, '<html><body>Error</body></html>', 'text/html'),
    ],
    [
      'a page that is cut on the way',
      5,
      /Waiting for the service/,
      (response) => {
        const body = good(['A-3', 'A-4'], 'at-4');
        response.writeHead(200, { 'content-type': 'text/xml', 'content-length': body.length });
        response.write(body.slice(0, 300), () => response.destroy());
      },
    ],
    ['an external entity', 14, /DTD/, (response) => send(response, FETCH)],
    ['a body of a gigabyte', 14, /larger than/, (response) => flood(response, 1024 ** 3)],
    ['a refusal', 4, /refuses this account/, (response) => response.writeHead(403).end()],
  ])('%s', async (_, code, words, odd) => {
    await using service = await startOddService();
    const home = await homeAt(service);
    service.odd(then(odd));
    // A service that has answered may be starting again: without a limit of its own the harvest
    // would wait for it.
    const waits = code === 5 ? ['--deadline', '15s'] : [];
    const run = await home.pas('harvest', ODD_SET, '--out', 'out.jsonl', ...waits, '--json');
    expect(run.stderr).toMatch(words);
    expect(run.stderr).not.toMatch(/\n\s+at |hostname|this is a bug/);
    expect(run.code).toBe(code);
    expect(JSON.parse(run.stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
      type: 'exit',
      code,
    });
    expect(idents(home)).toEqual(['A-1', 'A-2']);
    service.sane(IDENTS);
    expect(await home.json('harvest', ODD_SET, '--out', 'out.jsonl')).toMatchObject({
      records: 5,
      written: 3,
      held: 5,
    });
    expect(idents(home)).toEqual(IDENTS);
  });
});

test('a broken page is stored as received, and can be skipped record by record', async () => {
  await using service = await startOddService();
  const home = await homeAt(service);
  const nothingSince = oaiXml('<error code="noRecordsMatch"/>');
  service.odd((response, n) => {
    if (n === 0) send(response, good(['A-1', 'A-2'], 'at-2'));
    else
      send(
        response,
        good(['A-3', 'A-4', 'A-5']).replace('<ident_cely>A-4', '<ident_cely>\u0001A-4'),
      );
  });
  await expectEnded(
    home.pas('harvest', ODD_SET, '--out', 'out.jsonl'),
    14,
    /saved in .*malformed-answer.*control character.*A-4/s,
  );
  const keptText = readdirSync(join(home.folder, 'pas')).find((name) =>
    name.startsWith('malformed-answer'),
  );
  expect(readFileSync(join(home.folder, 'pas', keptText ?? ''), 'utf8')).toContain('\u0001A-4');
  service.odd((response, n) => {
    // Asked three times for the page, then for what changed since the harvest began.
    if (n > 2) send(response, nothingSince);
    else
      send(
        response,
        good(['A-3', 'A-4', 'A-5']).replace('<ident_cely>A-4', '<ident_cely>\u0001A-4'),
      );
  });
  await expectEnded(
    home.pas('harvest', ODD_SET, '--out', 'out.jsonl', '--skip-broken'),
    3,
    /Skipped .*A-4/,
  );
  expect(idents(home)).toEqual(['A-1', 'A-2', 'A-3', 'A-5']);
});
