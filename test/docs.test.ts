import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../src/base/errors.ts';
import { readYaml } from './support/read-yaml.ts';

const ROOT = join(import.meta.dirname, '..');
const readText = (page: string): string => readFileSync(join(ROOT, page), 'utf8');
const onOneLine = (text: string): string => text.replace(/\s+/g, ' ');

/** A promise of a page, in its words, with a test of it. */
type Evidence = {
  readonly page: string;
  readonly promise: string;
  readonly file: string;
  readonly title: string;
};
const EVIDENCE = JSON.parse(readText('test/evidence.json')) as Evidence[];
/** The generated table of the mock names a test at the end of each row. */
const MOCK_PAGE = 'docs/mock-faithfulness.md';
const OF_THE_MOCK = [
  ...readText(MOCK_PAGE).matchAll(/^\| (.+) \| `(test\/[\w./-]+\.test\.ts)`: (.+) \|$/gm),
].map(([, promise = '', file = '', title = '']) => ({ page: MOCK_PAGE, promise, file, title }));
/** Sections that promise nothing about what the program does. */
const WITHOUT_PROMISE = [
  'Reporting',
  'What is worth protecting',
  'What is not protected',
  'How it is tested',
];

describe.each(['SECURITY.md', 'docs/reliability.md', MOCK_PAGE])('%s', (page) => {
  const evidence = [...EVIDENCE, ...OF_THE_MOCK].filter((pair) => pair.page === page);

  test('has evidence in tests that exist', () => {
    expect(evidence.length).toBeGreaterThan(30);
    const missing = evidence.filter(({ file, title }) => {
      const path = join(ROOT, file);
      return (
        !existsSync(path) ||
        ![`'${title}'`, `"${title}"`].some((quoted) => readFileSync(path, 'utf8').includes(quoted))
      );
    });
    expect(missing.map(({ file, title }) => `${file}: ${title}`)).toEqual([]);
  });

  test('has evidence for each promise, and for nothing else', () => {
    const isProven = (text: string): boolean =>
      evidence.some(({ promise }) => text.includes(promise));
    const [, ...sections] = readText(page).split(/^##+ /m);
    const unproven = sections.flatMap((section) => {
      const [title = '', ...lines] = section.split('\n');
      if (WITHOUT_PROMISE.includes(title)) return [];
      return [...listPromises(lines), section].filter((promise) => !isProven(onOneLine(promise)));
    });
    expect(unproven).toEqual([]);
    expect(evidence.filter(({ promise }) => !onOneLine(readText(page)).includes(promise))).toEqual(
      [],
    );
  });
});

test('the pages for users name no tests', () => {
  // These are for people who work on pas, or list the tests.
  const otherNames = ['architecture.md', 'languages.md', 'evidence.md', 'mock-faithfulness.md'];
  const inDocs = readdirSync(join(ROOT, 'docs')).filter(
    (name) => name.endsWith('.md') && !otherNames.includes(name),
  );
  const pages = ['README.md', 'SECURITY.md', ...inDocs.map((name) => `docs/${name}`)];
  expect(pages.filter((page) => /`test\/\S+\.test\.ts/.test(readText(page)))).toEqual([]);
});

/** Rows without the head of their table, and bullets with all that stands below them. */
function listPromises(lines: readonly string[]): string[] {
  const promises: string[] = [];
  lines.forEach((line, at) => {
    const isHead = /^\|-/.test(line) || /^\|-/.test(lines[at + 1] ?? '');
    if (/^(?:- |\| )/.test(line) && !isHead) promises.push(line);
    else if (/^ {2}\S/.test(line)) promises.push(`${promises.pop() ?? ''} ${line}`);
  });
  return promises;
}

test('the documentation and the man page together stay under 18,000 words', () => {
  const isCounted = (page: string): boolean =>
    /\.(md|1)$/.test(page) &&
    !/^docs\/(contract\/|(evidence|reference|mock-faithfulness)\.md$)/.test(page);
  // The contract is the service's; the three pages, and the figures of the bench, are generated.
  const pages = ['docs', 'man'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter(isCounted),
  );
  // A word has a letter or a digit: the lines of a table are none.
  const written = (page: string): string =>
    readText(page).replace(/<!-- figures [\s\S]*<!-- end of the figures -->/, '');
  const words = pages.flatMap((page) => written(page).match(/\S*[\p{L}\p{N}]\S*/gu) ?? []);
  expect(words.length).toBeLessThanOrEqual(18_000);
});

test('the page of exit codes matches the program', () => {
  const page = readText('docs/exit-codes.md');
  const rows = [...page.matchAll(/^\| (\d+) \| (.+) \|$/gm)].map(([, code, meaning]) => [
    Number(code),
    meaning,
  ]);
  expect(rows).toEqual(Object.values(EXIT_CODES).map(([code, meaning]) => [code, String(meaning)]));
});

describe('the pages with commands to type', () => {
  test('every command block of README is run, except installations', () => {
    const text = readText('README.md');
    const [before = '', after = ''] = text.split('\n## The first push\n');
    const elsewhere = `${before}${after.slice(after.search(/^## /m))}`;
    const left = [...elsewhere.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
      ([, commands = '']) => commands,
    );
    expect(left.filter((commands) => !/^npm ci\b/.test(commands))).toEqual([]);
  });

  test('each page has its own data home and mock data file, so that another page can be typed after it', () => {
    const pages = [
      'README.md',
      'docs/tutorial-field.md',
      'docs/tutorial-museum.md',
      'docs/tutorial-phone.md',
    ];
    const own = pages.flatMap((page) => {
      const text = readText(page);
      const home = /^export PAS_HOME="\$PWD\/(\S+)"$/m.exec(text)?.[1];
      const mocks = text.match(/^pas-mock-server .*$/gm) ?? [];
      return [home, ...mocks.map((line) => / --data (\S+)/.exec(line)?.[1])];
    });
    expect(own).not.toContain(undefined);
    expect(new Set(own).size).toBe(own.length);
  });

  test('every link between the pages leads to a file', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      'docs/README.md',
      'docs/contract/README.md',
      'docs/tutorial-field.md',
      'docs/tutorial-museum.md',
      'docs/tutorial-phone.md',
      'docs/ci.md',
      'docs/library.md',
      'mock-server/README.md',
    ];
    const dead = pages.flatMap((page) => {
      const text = readText(page);
      const targets = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(
        ([, target = '']) => target,
      );
      return targets
        .filter((target) => !/^https?:/.test(target) && !existsSync(join(ROOT, page, '..', target)))
        .map((target) => `${page}: ${target}`);
    });
    expect(dead).toEqual([]);
  });
});

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

/** Commands of `pas` in a block, across continued lines and variables. */
function listCommands(block: string): string[] {
  return block
    .replace(/ [\\`]\n\s*/g, ' ')
    .split('\n')
    .flatMap((line) => /(?<![\w-])pas(?:-mock-server)?\b(?:\.cmd)?(.*)/.exec(line)?.[1] ?? [])
    .map((rest) =>
      rest
        .replace(/\s+#.*|(?: > \S+)? &$| \|\| .*|; "exit .*/g, '')
        .replace(/ -ArgumentList|[',]/g, '')
        .trim(),
    );
}

test('the PowerShell examples type the same commands as the examples for other shells', () => {
  const pages = [
    'README.md',
    ...readdirSync(join(ROOT, 'docs')).map((name) => join('docs', name)),
  ].filter((name) => name.endsWith('.md'));
  const pairs = pages
    .filter((page) => page !== 'docs/install.md' && page !== 'docs/windows.md')
    .flatMap((page) =>
      [
        ...readText(page).matchAll(
          /^```sh\n([^`]*(?:`(?!``)[^`]*)*)^```\n+(?:```powershell\n([\s\S]*?)^```$)?/gm,
        ),
      ].map(([, sh = '', powershell]) => ({ page, sh, powershell })),
    );
  const differs = (sh: string): boolean =>
    / \\\n|^[A-Z_]+=| &$|^until |\|\| echo|^export /m.test(sh);
  const shown = pairs.filter(({ powershell }) => powershell !== undefined);
  expect(shown.length).toBeGreaterThan(10);
  for (const { sh, powershell = '' } of shown) {
    const typed = listCommands(powershell);
    expect(listCommands(sh).slice(0, typed.length)).toEqual(typed);
  }
  // CI speaks bash on Windows, too; the reference is generated.
  const left = pairs.filter(
    ({ page, sh, powershell }) =>
      !/reference|ci\.md/.test(page) && powershell === undefined && differs(sh),
  );
  expect(left.map(({ page, sh }) => `${page}: ${sh}`)).toEqual([]);
});
