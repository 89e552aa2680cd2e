import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { QUIRKS } from '../mock-server/rules/quirks.ts';
import { EXIT_CODES } from '../src/base/errors.ts';

const ROOT = join(import.meta.dirname, '..');
const readText = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

test('the pages for users name no tests', () => {
  // These are for people who work on pas.
  const otherNames = ['architecture.md', 'running.md'];
  const inDocs = readdirSync(join(ROOT, 'docs')).filter(
    (name) => name.endsWith('.md') && !otherNames.includes(name),
  );
  const pages = ['README.md', 'SECURITY.md', ...inDocs.map((name) => `docs/${name}`)];
  expect(pages.filter((page) => /`test\/\S+\.test\.ts/.test(readText(page)))).toEqual([]);
});

test('README, documentation and man page together stay under 20,800 words', () => {
  const isCounted = (page: string): boolean =>
    /\.(md|1)$/.test(page) && !/^docs\/(contract\/|(reference|mock-faithfulness)\.md$)/.test(page);
  // The contract and the quirks are the service's; the reference and the bench's figures are generated.
  const pages = ['docs', 'man'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter(isCounted),
  );
  // A word has a letter or a digit: the lines of a table are none.
  const written = (page: string): string =>
    readText(page).replace(/<!-- figures [\s\S]*<!-- end of the figures -->/, '');
  const words = ['README.md', ...pages].flatMap(
    (page) => written(page).match(/\S*[\p{L}\p{N}]\S*/gu) ?? [],
  );
  expect(words.length).toBeLessThanOrEqual(20_800);
});

test('the page of exit codes matches the program', () => {
  const page = readText('docs/running.md');
  const rows = [...page.matchAll(/^\| (\d+) \| (.+) \|$/gm)].map(([, code, meaning]) => [
    Number(code),
    meaning,
  ]);
  expect(rows).toEqual(Object.values(EXIT_CODES).map(([code, meaning]) => [code, String(meaning)]));
});

test('a recipe that names a table of a source file names one that it has', () => {
  const recipes = readText('CONTRIBUTING.md');
  const named = [...recipes.matchAll(/`(src\/\S+\.ts)`: a row of `(\w+)`/g)];
  const missing = named.filter(
    ([, file = '', table]) => !readText(file).includes(`const ${table}`),
  );
  expect(named).not.toEqual([]);
  expect(missing.map(([step]) => step)).toEqual([]);
});

test('the page of quirks matches the mock server', () => {
  const page = readText('docs/mock-faithfulness.md');
  const rows = [...page.matchAll(/^\| `([\w-]+)` \| .+? \| (.+) \|$/gm)];
  expect(rows.map(([, name, text]) => [name, text])).toEqual(Object.entries(QUIRKS));
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

  test('every link between the pages leads to a file and its heading', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
      'CHANGELOG.md',
      'mock-server/README.md',
      ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.md'))
        .map((name) => `docs/${name}`),
    ];
    const dead = pages.flatMap((page) => {
      const text = readText(page);
      const links = [...text.matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)/g)].filter(
        ([, target = '']) => !/^https?:/.test(target),
      );
      return links.flatMap(([link, target = '', anchor]) => {
        const path = target === '' ? page : join(page, '..', target);
        const isThere =
          existsSync(join(ROOT, path)) &&
          (anchor === undefined || listAnchors(readText(path)).includes(anchor));
        return isThere ? [] : [`${page}: ${link}`];
      });
    });
    expect(dead).toEqual([]);
  });
});

/** Anchors of a page's headings, as the site that shows it makes them. */
function listAnchors(text: string): string[] {
  // A comment in a block is no heading.
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

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
  const pages = [...readdirSync(join(ROOT, 'docs')).map((name) => join('docs', name))].filter(
    (name) => name.endsWith('.md'),
  );
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
