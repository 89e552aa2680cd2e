import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import { PROJECT } from './support/run-pas.ts';

// Messages are for people: a program that decides by them breaks with the next wording, and in the
// other language.

/** Values that others have in their text alone. */
const ALLOWED: Readonly<Record<string, string>> = {
  'src/http/redis-pace-store.ts':
    'the first word of a Redis error is its code by protocol, and what is ERR has no other than its text',
  'src/store/database.ts': 'SQLite says in its text alone that the words of the schema are damaged',
  'src/find/find-schema.ts':
    'libxml2 says in its text alone what kind of fault it found; the texts are put into plainer words',
  'src/xml/xsd.ts':
    'libxml2 names the element at fault in its text alone, and the namespaces of a schema are taken out of it',
  'src/store/toml.ts': 'what stands beside the fault is cut off; nothing is decided by it',
  'src/tables/zip-entries.ts':
    'yauzl says in its text alone that a name points outside the archive',
  'src/tables/geojson-table.ts': 'JSON.parse says in its text alone at which character it stopped',
};

const SAYING = ['message', 'says', 'hint', 'hintSays'];
const SAYING_CALLS = ['getErrorMessage', 'getLocalizedMessage', 'translateCommanderText'];
const MATCHING = [
  'includes',
  'startsWith',
  'endsWith',
  'match',
  'matchAll',
  'search',
  'indexOf',
  'replace',
  'replaceAll',
  'split',
];
const LOOKING_UP = ['test', 'exec', 'includes', 'indexOf'];

type Node = { readonly type: string; readonly start: number; readonly [key: string]: unknown };
const node = (value: unknown): Node => value as Node;
const nodes = (value: unknown): Node[] =>
  (value as (Node | null)[]).filter((each) => each !== null);

function listChildren(parent: Node): Node[] {
  return Object.values(parent)
    .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter(
      (value): value is Node =>
        typeof value === 'object' && value !== null && 'type' in value && 'start' in value,
    );
}

const getName = (value: unknown): string =>
  String(node(value)['name'] ?? node(value)['value'] ?? '');

/** Tells if a value is a text for people, or made from one; `names` stand for such. */
function isSaid(of: Node, names: ReadonlySet<string>): boolean {
  const isSaidIn = (value: unknown): boolean => isSaid(node(value), names);
  switch (of.type) {
    case 'Identifier':
      return names.has(getName(of));
    case 'MemberExpression':
      return of['computed'] === false && SAYING.includes(getName(of['property']));
    case 'TaggedTemplateExpression':
      return ['t', 'msg'].includes(getName(of['tag']));
    case 'LogicalExpression':
      return isSaidIn(of['left']) || isSaidIn(of['right']);
    case 'ChainExpression':
      return isSaidIn(of['expression']);
    case 'CallExpression': {
      const callee = node(of['callee']);
      if (callee.type === 'Identifier')
        return SAYING_CALLS.includes(getName(callee)) || nodes(of['arguments']).some(isSaidIn);
      return callee.type === 'MemberExpression' && isSaidIn(callee['object']);
    }
    default:
      return false;
  }
}

/** Names that stand for what is said, in the whole file. */
function namesOfSaid(all: readonly Node[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const each of all) {
    if (each.type === 'ObjectPattern') {
      for (const property of nodes(each['properties'])) {
        if (property.type === 'Property' && SAYING.includes(getName(property['key'])))
          names.add(localName(node(property['value'])));
      }
    } else if (
      each.type === 'VariableDeclarator' &&
      each['init'] !== null &&
      isSaid(node(each['init']), names)
    ) {
      const id = node(each['id']);
      for (const part of id.type === 'ArrayPattern' ? nodes(id['elements']) : [id])
        names.add(localName(part));
    }
  }
  return names;
}

function localName(pattern: Node): string {
  return getName(pattern.type === 'AssignmentPattern' ? pattern['left'] : pattern);
}

function decidesByWords(of: Node, names: ReadonlySet<string>): boolean {
  const isSaidIn = (value: unknown): boolean => isSaid(node(value), names);
  if (of.type === 'SwitchStatement') return isSaidIn(of['discriminant']);
  if (of.type === 'BinaryExpression') {
    const [left, right] = [node(of['left']), node(of['right'])];
    const isNothing = (side: Node): boolean =>
      (side.type === 'Identifier' && getName(side) === 'undefined') ||
      (side.type === 'Literal' && ['null', ''].includes(getName(side)));
    return (
      /^[!=]==?$/.test(String(of['operator'])) &&
      (isSaidIn(left) || isSaidIn(right)) &&
      !isNothing(left) &&
      !isNothing(right)
    );
  }
  if (of.type !== 'CallExpression') return false;
  const callee = node(of['callee']);
  if (callee.type !== 'MemberExpression') return false;
  const method = getName(callee['property']);
  if (MATCHING.includes(method) && isSaidIn(callee['object'])) return true;
  return LOOKING_UP.includes(method) && nodes(of['arguments']).some(isSaidIn);
}

function placesIn(code: string): string[] {
  const all: Node[] = [];
  const visit = (each: Node): void => {
    all.push(each);
    listChildren(each).forEach(visit);
  };
  visit(parseAst(code, { lang: 'ts' }) as unknown as Node);
  const names = namesOfSaid(all);
  return all
    .filter((each) => decidesByWords(each, names))
    .map(
      ({ start }) =>
        `${code.slice(0, start).split('\n').length}: ${code.slice(start).split('\n', 1)[0]}`,
    );
}

test.each([
  `if (thrown.message.includes('closed')) stop();`,
  `if (/closed/.test(getErrorMessage(thrown))) stop();`,
  'if (issue.says === msg`closed`) stop();',
  'const said = strike(getErrorMessage(thrown) || code); if (said.startsWith("NO")) stop();',
  'const why = ({ message }: Error) => PATTERN.exec(message);',
  'switch (String(issue.says)) { default: stop(); }',
  'if (KNOWN.includes(t`closed`)) stop();',
])('a decision based on message text would be noticed: %s', (code) => {
  expect(placesIn(code)).toHaveLength(1);
});

test('no decision depends on message text, except on texts from outside that offer nothing else', () => {
  const found = readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({
      path: `src/${name}`,
      places: placesIn(readFileSync(join(PROJECT, 'src', name), 'utf8')),
    }))
    .filter(({ places }) => places.length > 0);
  expect(found.filter(({ path }) => ALLOWED[path] === undefined)).toEqual([]);
  expect(found.map(({ path }) => path).sort()).toEqual(Object.keys(ALLOWED).sort());
});
