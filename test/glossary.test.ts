import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const words = [...readFileSync('docs/glossary.md', 'utf8').matchAll(/^\|([^|]+)\|[^|]+\|$/gm)]
  .flatMap(([, cell = '']) => cell.split(','))
  .map((word) => word.trim())
  .filter((word) => word !== 'word' && word !== '---');

/** `readsOneFind` → `reads one find` */
const spellOut = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('-', ' ')
    .toLowerCase();

const names = ['src', 'mock-server']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  )
  .filter((path) => path.endsWith('.ts'))
  .flatMap((path) => readFileSync(path, 'utf8').match(/[A-Za-z]\w+/g) ?? []);
const code = spellOut([...new Set(names)].join('\n'));

test.each(words)('the glossary and the names in the code have the word %s in common', (word) => {
  expect(code).toContain(word);
});
