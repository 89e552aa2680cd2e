import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../src/base/errors.ts';
import { freePort } from './support/free-port.ts';
import { readYaml } from './support/read-yaml.ts';
import { inBash, layOut, runPage } from './support/run-page.ts';
import { makeHome } from './support/run-pas.ts';

test.each(['SECURITY.md', 'docs/reliability.md'])('every test that %s names is there', (page) => {
  const root = join(import.meta.dirname, '..');
  const named = [...readFileSync(join(root, page), 'utf8').matchAll(/(?:\|| -) `(test\/[\w./-]+)`: (.+?)(?: \|)?$/gm)];
  expect(named.length).toBeGreaterThan(5);
  const missing = named.filter(([, file = '', title = '']) => {
    const path = join(root, file);
    return !existsSync(path) || ![`'${title}'`, `"${title}"`].some((quoted) => readFileSync(path, 'utf8').includes(quoted));
  });
  expect(missing.map(([, file, title]) => `${file}: ${title}`)).toEqual([]);
});

/** What these say is no promise of what the program does, or names its tests at the end of the page. */
const WITHOUT_PROMISE = ['Reporting', 'What is worth protecting', 'Against whom'];

test.each(['SECURITY.md', 'docs/reliability.md'])('every section of %s that makes a promise names a test of it', (page) => {
  const [, ...sections] = readFileSync(join(import.meta.dirname, '..', page), 'utf8').split(/^## /m);
  const titled = sections.map((text) => ({ title: text.split('\n', 1)[0] ?? '', text }));
  const bare = titled.filter(({ title, text }) => !WITHOUT_PROMISE.includes(title) && !/`test\/[\w./-]+`/.test(text));
  expect(bare.map(({ title }) => title)).toEqual([]);
});

test('every promise of reliability names its test', () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs/reliability.md'), 'utf8');
  const promised = page.split(/^(?=- \*\*|\S)/m).filter((text) => text.startsWith('- **'));
  expect(promised.length).toBeGreaterThan(15);
  expect(promised.filter((text) => !text.includes('\n  - `test/'))).toEqual([]);
});

test('the documentation and the man page together stay under 25,000 words', () => {
  const root = join(import.meta.dirname, '..');
  const pages = ['docs', 'man'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(md|1)$/.test(name))
      .map((name) => join(root, folder, name)),
  );
  const words = pages.flatMap((path) => readFileSync(path, 'utf8').match(/\S+/g) ?? []);
  expect(words.length).toBeLessThan(25_000);
});

test('the page of exit codes says what the program does', () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'exit-codes.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) \| (.+) \|$/gm)].map(([, code, meaning]) => [Number(code), meaning]);
  expect(rows).toEqual(Object.values(EXIT_CODES).map(([code, meaning]) => [code, String(meaning)]));
});

/** What a page shows, word by word, but for what it leaves out with `…`. */
function whereShown(shown: string): RegExp {
  const parts = shown.trim().split('…');
  const said = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${said.join('[\\s\\S]*?')}$`);
}

describe('the pages that a reader types along', () => {
  test.concurrent.each([
    ['docs/ci.md', undefined],
    ['README.md', 'Five minutes'],
    ['docs/tutorial-field.md', undefined],
    ['docs/tutorial-museum.md', undefined],
  ])('%s says what happens', async (page, heading) => {
    const blocks = await runPage(page, heading);
    expect(blocks.length).toBeGreaterThan(0);
    for (const { shown, printed } of blocks) if (shown !== undefined) expect(printed.trim()).toMatch(whereShown(shown));
  });

  test('every link between the pages leads to a file', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      'docs/README.md',
      'docs/tutorial-field.md',
      'docs/tutorial-museum.md',
      'docs/ci.md',
      'docs/library.md',
      'mock-server/README.md',
    ];
    const dead = pages.flatMap((page) => {
      const text = readFileSync(join(import.meta.dirname, '..', page), 'utf8');
      const targets = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
      return targets
        .filter((target) => !/^https?:/.test(target) && !existsSync(join(import.meta.dirname, '..', page, '..', target)))
        .map((target) => `${page}: ${target}`);
    });
    expect(dead).toEqual([]);
  });
});

describe('the jobs for CI services', () => {
  const TESTS = 'curl -sf "$MOCK_URL/__mock__/state" -o state.json';

  test('the shell job runs the tests against the mock, keeps the journal, and ends as they end', async () => {
    const home = makeHome();
    const port = String(await freePort());
    layOut(home.folder, port);
    const env = { ...home.env, MOCK_PORT: port };
    await inBash(home.folder, `sh examples/ci/job.sh sh -c '${TESTS}' && cat journal.json state.json`, env);
    expect(await inBash(home.folder, 'sh examples/ci/job.sh sh -c "exit 7" || echo "ended with $?"', env)).toContain(
      'ended with 7',
    );
  });

  test('the workflow is YAML, and its lines start the mock, run the tests and keep what it uploads', async () => {
    const text = readFileSync(join(import.meta.dirname, '..', 'examples', 'ci', 'github-actions.yml'), 'utf8');
    const { jobs } = readYaml(text) as { jobs: { client: { env: Record<string, string>; steps: Step[] } } };
    const { env, steps } = jobs.client;
    expect(steps.map(({ uses, run }) => [uses, run].filter((each) => each !== undefined).length)).toEqual(steps.map(() => 1));
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used.filter((each) => !/^actions\/[a-z-]+@v\d+$/.test(each))).toEqual([]);
    const uploaded = steps.flatMap(({ with: given }) => given?.['path']?.trim().split('\n') ?? []);
    expect(uploaded).toEqual(['mock.log', 'journal.json']);

    const port = String(await freePort());
    const home = makeHome();
    layOut(home.folder, port);
    const lines = steps.flatMap(({ run }) =>
      run === undefined
        ? []
        : [
            run
              .replaceAll('8099', port)
              .replace(/^npm ci$/, 'true')
              .replace(/^npm test$/, TESTS),
          ],
    );
    expect(lines).toHaveLength(4);
    const script = `set -e\ntrap 'kill $(jobs -p)' EXIT\n${lines.join('\n')}\nls -s ${uploaded.join(' ')}`;
    const here = Object.entries(env).map(([name, value]) => [name, value.replace('8099', port)]);
    await inBash(home.folder, script, { ...home.env, ...Object.fromEntries(here) });
  });
});

type Step = { readonly uses?: string; readonly run?: string; readonly with?: Readonly<Record<string, string>> };

test.each([
  ['a tab', 'on:\n\tpush'],
  ['a key that is there twice', 'name: a\nname: b'],
  ['a key without a value', 'jobs:\nname: a'],
  ['a line that is indented for no reason', 'name: a\n  on: b'],
  ['a value with a colon in it', 'run: echo a: b'],
  ['a list that is not closed', 'on: [push'],
])('a workflow with %s would be noticed', (_what, text) => {
  expect(() => readYaml(text)).toThrow(/^line \d+: /);
});
