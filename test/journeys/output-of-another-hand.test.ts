import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectEnded, type Home, type Run, signedIn } from '../support/run-pas.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';
import { served } from './whole-harvest.ts';

const SET = 'heslo:obdobi';
let mock: TestMock;
let signed: Home;
let home: Home;
let expected: ReadonlyMap<string, string>;

beforeAll(async () => {
  mock = await startMock({ pageSize: 7 });
  signed = await signedIn(mock.server);
  expected = await served(mock, SET, 'oai_svc');
});
afterAll(() => mock.close());
beforeEach(() => {
  home = signed.copy();
});

const at = (name: string): string => join(home.folder, name);
const harvest = (out: string, ...flags: string[]): Promise<Run> =>
  home.pas('harvest', SET, '--out', out, ...flags);

function readLines(out: string): string[] {
  return readFileSync(at(out), 'utf8').split('\n').filter(Boolean);
}

/** Gives each test a copy of a home with this output. */
function beginWith(out: string): void {
  let begun: Home;
  beforeAll(async () => {
    home = signed.copy();
    begun = home;
    expect((await harvest(out)).code).toBe(0);
  });
  beforeEach(() => {
    home = begun.copy();
  });
}

function expectWholeLines(out: string): void {
  const idents = readLines(out).map((line) =>
    (JSON.parse(line) as { identifier: string }).identifier.split('/').at(-1),
  );
  expect(idents.sort()).toEqual([...expected.keys()].sort());
}

async function expectRefusal(run: Run, words: RegExp): Promise<void> {
  await expectEnded(run, 2, words);
  expect(run.stderr).toMatch(/--verify|use another --out/i);
}

/** Something of the same length, in the middle of the file. */
function changeInTheMiddle(path: string): void {
  const text = readFileSync(path);
  const place =
    text.indexOf('"datestamp":"2', Math.floor(text.length / 2)) + '"datestamp":"2'.length;
  text[place] = '9'.charCodeAt(0);
  writeFileSync(path, text);
}

describe('a JSON lines file', () => {
  beginWith('out.jsonl');

  test.each<readonly [string, (path: string) => void]>([
    ['was deleted', (path) => rmSync(path)],
    ['was emptied', (path) => truncateSync(path)],
  ])('that %s between two runs is written again in full, with a message', async (_, change) => {
    change(at('out.jsonl'));
    const run = await harvest('out.jsonl');
    await expectEnded(run, 0, /out\.jsonl is missing or empty.*again/);
    expectWholeLines('out.jsonl');
    expect((await harvest('out.jsonl')).stderr).toBe('');
  });

  test.each<readonly [string, RegExp, (path: string) => void]>([
    [
      'got a line of a person’s own',
      /changed, removed or replaced by another program/,
      (path) => appendFileSync(path, '{"mine":1}\n'),
    ],
    [
      'has become a link to another file',
      /changed, removed or replaced by another program/,
      (path) => {
        copyFileSync(path, `${path}.copy`);
        changeInTheMiddle(`${path}.copy`);
        rmSync(path);
        symlinkSync(`${path}.copy`, path);
      },
    ],
  ])('that %s is refused unchanged, and repaired by --verify', async (_, words, change) => {
    change(at('out.jsonl'));
    const changed = readFileSync(at('out.jsonl'));
    const run = await harvest('out.jsonl');
    await expectRefusal(run, words);
    expect(readFileSync(at('out.jsonl'))).toEqual(changed);
    expect((await harvest('out.jsonl', '--full')).code).toBe(2);
    await expectEnded(harvest('out.jsonl', '--verify'), 0, /written again/);
    expectWholeLines('out.jsonl');
    expect(await harvest('out.jsonl')).toMatchObject({ code: 0, stderr: '' });
  });

  test('cannot be standard output for --verify', async () => {
    const run = await harvest('-', '--verify');
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('Name a file with --out.');
  });

  test('without its state file is not written to', async () => {
    rmSync(at('out.jsonl.harvest'));
    await expectRefusal(await harvest('out.jsonl'), /was not written by pas/);
    expectWholeLines('out.jsonl');
  });

  test('that was copied with its state file, moved, linked or given another time is continued silently', async () => {
    for (const name of ['out.jsonl', 'out.jsonl.harvest'])
      copyFileSync(at(name), at(name.replace('out', 'copy')));
    utimesSync(at('copy.jsonl'), 0, 0);
    renameSync(at('copy.jsonl'), at('elsewhere'));
    symlinkSync(at('elsewhere'), at('copy.jsonl'));
    expect(await harvest('copy.jsonl')).toMatchObject({ code: 0, stderr: '' });
    expectWholeLines('copy.jsonl');
  });

  // The last one: its record changes at the service.
  test('that is newer than its state file is not truncated', async () => {
    copyFileSync(at('out.jsonl.harvest'), at('old-notes'));
    await mock.clock({ advance_ms: 3600_000 });
    await mock.control('POST', '/records', {
      ident: 'HES-000253',
      changes: { heslo: { '@lang': 'cs', '#': 'paleolit' } },
    });
    expect((await harvest('out.jsonl')).code).toBe(0);
    expected = await served(mock, SET, 'oai_svc');
    const newer = readFileSync(at('out.jsonl'));
    copyFileSync(at('old-notes'), at('out.jsonl.harvest'));
    await expectRefusal(
      await harvest('out.jsonl'),
      /changed, removed or replaced by another program/,
    );
    expect(readFileSync(at('out.jsonl'))).toEqual(newer);
  });
});

test('a document without its end is refused', async () => {
  expect((await harvest('out.xml')).code).toBe(0);
  truncateSync(at('out.xml'), statSync(at('out.xml')).size - 11);
  await expectRefusal(await harvest('out.xml'), /changed, removed or replaced by another program/);
});
