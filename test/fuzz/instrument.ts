import type { Plugin } from 'vitest/config';

/**
 * The counters of all modules that were instrumented; a block adds one to its own when it is run.
 */
export const MAX_BLOCKS = 16_384;

/**
 * Counted files: the readers, the libraries that they hand hostile bytes to, and one with a fault
 * on purpose.
 */
const COUNTED =
  /\/src\/(?!language)[^?]*\.ts$|\/node_modules\/(?:csv-parse|smol-toml)\/|\/planted-reader\.ts$/;

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<
  Record<string, unknown>
>;
/** Behind a piece of code, or before one. */
type Insertion = { readonly at: number; readonly text: string; readonly behind: boolean };

/**
 * Has each block of a module count how often it is run, in the array `fuzzedBlocks` of the global
 * object, and puts the texts that it compares with into the set `fuzzedWords`: a fuzzer that knows
 * them need not guess them letter by letter.
 */
export function countBlocks(): Plugin {
  let blocks = 0;
  return {
    name: 'count-blocks',
    enforce: 'post',
    transform(code, id) {
      if (!COUNTED.test(id)) return undefined;
      const words = new Set<string>();
      const inserted = listInsertions(this.parse(code), () => blocks++ % MAX_BLOCKS, words);
      const head = `const counted_=globalThis.fuzzedBlocks??=new Uint8Array(${MAX_BLOCKS});for(const word of ${JSON.stringify([...words])})(globalThis.fuzzedWords??=new Set()).add(word);`;
      return { code: head + withInsertions(code, inserted), map: null };
    },
  };
}

function withInsertions(code: string, insertions: readonly Insertion[]): string {
  const pieces: string[] = [];
  let from = 0;
  // The outer of two was found first: it begins before the inner one and ends behind it.
  const ends = insertions.filter(({ behind }) => behind).reverse();
  const beginnings = insertions.filter(({ behind }) => !behind);
  for (const { at, text } of [...ends, ...beginnings].sort((a, b) => a.at - b.at)) {
    pieces.push(code.slice(from, at), text);
    from = at;
  }
  return pieces.join('') + code.slice(from);
}

function listInsertions(program: unknown, next: () => number, words: Set<string>): Insertion[] {
  const insertions: Insertion[] = [];
  const counter = (): string => `counted_[${next()}]++`;
  const before = (at: number, text: string): void =>
    void insertions.push({ at, text, behind: false });
  const behind = (at: number, text: string): void =>
    void insertions.push({ at, text, behind: true });
  const around = (node: Node, open: string, close: string): void => {
    before(node.start, open);
    behind(node.end, close);
  };
  const block = (node: Node): void => {
    if (node.type === 'BlockStatement') before(node.start + 1, `${counter()};`);
    else around(node, `{${counter()};`, '}');
  };
  const value = (node: Node): void => around(node, `(${counter()},`, ')');
  const visit = (node: Node): void => {
    switch (node.type) {
      case 'IfStatement':
        if (!isNode(node['alternate'])) behind(node.end, `else{${counter()};}`);
        for (const branch of [node['consequent'], node['alternate']])
          if (isNode(branch)) block(branch);
        break;
      case 'ForStatement':
      case 'ForOfStatement':
      case 'ForInStatement':
      case 'WhileStatement':
      case 'DoWhileStatement':
      case 'CatchClause':
        if (isNode(node['body'])) block(node['body']);
        break;
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression': {
        const body = node['body'];
        if (isNode(body)) (body.type === 'BlockStatement' ? block : value)(body);
        break;
      }
      case 'SwitchCase': {
        const first = nodesIn(node['consequent'])[0];
        if (first !== undefined) before(first.start, `${counter()};`);
        break;
      }
      case 'ConditionalExpression':
        for (const branch of [node['consequent'], node['alternate']])
          if (isNode(branch)) value(branch);
        break;
      case 'LogicalExpression':
        if (isNode(node['right'])) value(node['right']);
        break;
      case 'Literal': {
        const text = node['value'];
        if (typeof text === 'string' && /^\S{1,40}$/.test(text)) words.add(text);
        break;
      }
    }
    for (const child of Object.values(node)) for (const each of nodesIn(child)) visit(each);
  };
  for (const node of nodesIn(program)) visit(node);
  return insertions;
}

function nodesIn(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [];
}

function isNode(value: unknown): value is Node {
  return (
    typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
  );
}
