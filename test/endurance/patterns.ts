import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseAst } from 'vitest/node';
import { filesBelow, listChildren, type Node } from '../source-texts.ts';
import { PROJECT } from '../support/run-pas.ts';

/** A regular expression of the sources, and the files that have it. */
export type Pattern = {
  readonly source: string;
  readonly flags: string;
  readonly files: readonly string[];
};

/** Stands for an argument of a function, whose value the sources do not have. */
const ARGUMENT = 'x';

/** Finds the literals, and each `new RegExp` with the constants that it is made of. */
export function findPatterns(...folders: readonly string[]): Pattern[] {
  const patterns = new Map<string, Pattern>();
  for (const path of folders.flatMap(filesBelow)) {
    for (const { source, flags } of patternsIn(parseFile(path), path)) {
      const key = `/${source}/${flags}`;
      const files = [...(patterns.get(key)?.files ?? []), relative(PROJECT, path)];
      patterns.set(key, { source, flags, files: [...new Set(files)] });
    }
  }
  return [...patterns.values()];
}

function parseFile(path: string): Node {
  return parseAst(readFileSync(path, 'utf8'), {
    lang: path.endsWith('.ts') ? 'ts' : 'js',
  }) as unknown as Node;
}

function* patternsIn(
  root: Node,
  path: string,
): Generator<{ readonly source: string; readonly flags: string }> {
  for (const node of nodesIn(root)) {
    const { regex, callee } = node as { regex?: { pattern: string; flags: string }; callee?: Node };
    if (regex !== undefined) yield { source: regex.pattern, flags: regex.flags };
    if (callee?.['name'] !== 'RegExp') continue;
    const [source, flags] = node['arguments'] as Node[];
    if (source !== undefined)
      yield {
        source: readText(source, root, path),
        flags: flags ? readText(flags, root, path) : '',
      };
  }
}

function* nodesIn(node: Node): Generator<Node> {
  yield node;
  for (const [, child] of listChildren(node)) yield* nodesIn(child);
}

function readText(node: Node, root: Node, path: string): string {
  const text = (child: unknown): string => readText(child as Node, root, path);
  switch (node.type) {
    case 'Literal':
      return String(node['value']);
    case 'TemplateLiteral':
      return quasiText(node, 'cooked', text);
    case 'TaggedTemplateExpression':
      return quasiText(node['quasi'] as Node, 'raw', text);
    case 'BinaryExpression':
      return text(node['left']) + text(node['right']);
    case 'Identifier':
      return constantText(String(node['name']), root, path);
    case 'CallExpression': {
      const { object, property } = node['callee'] as { object?: Node; property?: Node };
      const [from, to] = (node['arguments'] as Node[]).map(text);
      return property?.['name'] === 'replaceAll'
        ? text(object).replaceAll(from ?? '', to ?? '')
        : ARGUMENT;
    }
    default:
      return ARGUMENT;
  }
}

function quasiText(node: Node, form: 'cooked' | 'raw', text: (child: Node) => string): string {
  const expressions = node['expressions'] as Node[];
  return (node['quasis'] as { value: { cooked: string; raw: string } }[])
    .map(
      ({ value }, index) =>
        value[form] + (expressions[index] === undefined ? '' : text(expressions[index])),
    )
    .join('');
}

function constantText(name: string, root: Node, path: string): string {
  for (const node of root['body'] as Node[]) {
    if (node.type === 'ImportDeclaration') {
      const names = (node['specifiers'] as { local: { name: string } }[]).map(
        ({ local }) => local.name,
      );
      const from = join(dirname(path), String((node['source'] as Node)['value']));
      if (names.includes(name) && from.endsWith('.ts'))
        return constantText(name, parseFile(from), from);
    }
    const declaration = (node['declaration'] ?? node) as {
      declarations?: { id: Node; init?: Node }[];
    };
    for (const { id, init } of declaration.declarations ?? []) {
      if (init === undefined) continue;
      if (id['name'] === name) return readText(init, root, path);
      const at = ((id['elements'] ?? []) as Node[]).findIndex(
        (element) => element['name'] === name,
      );
      if (at !== -1) return readText((init['elements'] as Node[])[at] as Node, root, path);
    }
  }
  return ARGUMENT;
}
