import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSources } from './support/source-texts.ts';

/**
 * The words of the glossary, the tests' own among them, and the ones that it stands in place of.
 */
const rows = [
  ...readFileSync('docs/glossary.md', 'utf8').matchAll(/^\|([^|]+)\|[^|]+\|([^|]*)\|$/gm),
]
  .map(([, word = '', instead = '']) => ({ words: splitParts(word), instead: splitParts(instead) }))
  .filter(({ words }) => words[0] !== 'word' && words[0] !== '---');

function splitParts(cell: string): string[] {
  return cell
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** `readsOneFind` → `reads one find` */
const spoken = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('-', ' ')
    .toLowerCase();

const EXPORTED =
  /^export (?:async )?(?:declare )?(?:abstract )?(?:const|function\*?|class|type|interface) (\w+)/gm;
const sources = ['src', 'mock-server']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  )
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path: spoken(path), text: readFileSync(path, 'utf8') }));
const exported = sources.flatMap(({ path, text }) =>
  [...text.matchAll(EXPORTED)].map(([, name = '']) => ({ path, name: spoken(name) })),
);
const everywhere = spoken(
  [...new Set(sources.flatMap(({ text }) => text.match(/[A-Za-z]\w+/g) ?? []))].join('\n'),
);

/** The comments of all sources, a paragraph each, and the English of all messages. */
const COMMENT = /\/\*\*?([\s\S]*?)\*\/|^\s*\/\/ (.*(?:\n\s*\/\/ .*)*)/gm;
const comments = ['src', 'mock-server', 'scripts', 'bench', 'test']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  )
  .filter((path) => /\.(ts|mjs)$/.test(path) && !path.includes('node_modules'))
  .flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(COMMENT)].map(([, block, lines]) => ({
      path,
      text: (block ?? lines ?? '').replaceAll(/^\s*(?:\*|\/\/) ?/gm, '').trim(),
    })),
  );
const messages = readSources('src', 'bin')
  .flatMap(({ texts }) => texts)
  .map(({ place, one, many }) => ({
    path: place,
    text: [...one.parts, ...(many?.parts ?? [])].join(' … '),
  }));

test('a comment begins with a noun or a verb', () => {
  expect(
    comments.filter(({ text }) => /^(What|Whether|Of|How|Who|Whoever|Which) /.test(text)),
  ).toEqual([]);
});

/** The titles of all tests. */
const TITLE =
  /(?:\b(?:describe|test)(?:\.\w+)*\(|\)\()\s*(['"`])((?:\\.|(?!\1).)*)\1\s*,\s*(?:async )?(?:\(|\w+ =>)/gs;
const titles = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .flatMap((path) =>
    [...readFileSync(join('test', path), 'utf8').matchAll(TITLE)].map(([, , text = '']) => ({
      path,
      text,
    })),
  );

test('a test title names the role that acts, and says what it does', () => {
  expect(titles.length).toBeGreaterThan(3000);
  expect(
    titles.filter(({ text }) =>
      /\b(nobody|somebody|whoever|anybody|everybody|(is|are|be) said)\b/i.test(text),
    ),
  ).toEqual([]);
});

describe('the glossary and the names in the code', () => {
  test.each(rows.flatMap(({ words }) => words))('have the word %s in common', (word) => {
    expect(everywhere).toContain(word);
  });

  test.each(
    rows.flatMap(({ words, instead }) =>
      instead.map((other) => [words.join(', '), other] as const),
    ),
  )('say %s, never %s', (_, other) => {
    const pattern = new RegExp(`\\b${other}(?:s|ed|ing)?\\b`);
    expect(exported.filter(({ name, path }) => pattern.test(name) || pattern.test(path))).toEqual(
      [],
    );
    expect(
      [...comments, ...messages, ...titles].filter(({ text }) => pattern.test(text.toLowerCase())),
    ).toEqual([]);
  });
});
