import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

/** The words of the glossary, the tests' own among them, and the ones that it stands in place of. */
const rows = [...readFileSync('docs/glossary.md', 'utf8').matchAll(/^\|([^|]+)\|[^|]+\|([^|]*)\|$/gm)]
  .map(([, word = '', instead = '']) => ({ words: partsOf(word), instead: partsOf(instead) }))
  .filter(({ words }) => words[0] !== 'word' && words[0] !== '---');

function partsOf(cell: string): string[] {
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

const EXPORTED = /^export (?:async )?(?:declare )?(?:abstract )?(?:const|function\*?|class|type|interface) (\w+)/gm;
const sources = ['src', 'mock-server']
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)))
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path: spoken(path), text: readFileSync(path, 'utf8') }));
const exported = sources.flatMap(({ path, text }) =>
  [...text.matchAll(EXPORTED)].map(([, name = '']) => ({ path, name: spoken(name) })),
);
const everywhere = spoken([...new Set(sources.flatMap(({ text }) => text.match(/[A-Za-z]\w+/g) ?? []))].join('\n'));

describe('the glossary and the names in the code', () => {
  test.each(rows.flatMap(({ words }) => words))('have the word %s in common', (word) => {
    expect(everywhere).toContain(word);
  });

  test.each(rows.flatMap(({ words, instead }) => instead.map((other) => [words.join(', '), other] as const)))(
    'say %s, never %s',
    (_, other) => {
      const said = new RegExp(`\\b${other}(?:s|ed|ing)?\\b`);
      expect(exported.filter(({ name, path }) => said.test(name) || said.test(path))).toEqual([]);
    },
  );
});
