import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseAst } from 'vitest/node';
import { PROJECT } from './support/run-pas.ts';

/** Messages in the sources, found by parsing them. */

/**
 * A text as it stands in a template: literal parts with, between them, expressions as they are
 * written.
 */
export type Template = {
  readonly parts: readonly string[];
  readonly expressions: readonly string[];
  readonly plain: boolean;
};

/** One t`…` or msg`…`, or the two forms of an ngettext. */
export type SourceText = {
  readonly place: string;
  readonly one: Template;
  readonly many: Template | undefined;
  /** It is put into words while its module loads, in whichever language that happens to be. */
  readonly frozen: boolean;
};

/**
 * A literal that is not part of a t`…`, with what it is given to: `new UsageError`,
 * `terminal.line`, `key:hint`, ….
 */
export type Literal = {
  readonly place: string;
  readonly text: string;
  readonly givenTo: readonly string[];
};

export type Source = {
  readonly path: string;
  readonly texts: readonly SourceText[];
  readonly literals: readonly Literal[];
};

export type Node = {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
};

export function readSources(...folders: readonly string[]): Source[] {
  return folders.flatMap(filesBelow).map(readSource);
}

export function filesBelow(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(PROJECT, folder, name))
    .filter((path) => /\.(ts|js)$/.test(path));
}

function readSource(path: string): Source {
  const code = readFileSync(path, 'utf8');
  const name = relative(PROJECT, path);
  const texts: SourceText[] = [];
  const literals: Literal[] = [];
  const getPlace = ({ start }: Node): string =>
    `${name}:${code.slice(0, start).split('\n').length}`;
  const template = (node: Node): Template => parseTemplate(node, code);

  const visit = (node: Node, givenTo: readonly string[], loading: boolean): void => {
    if (isText(node)) {
      const frozen = loading && getName(node['tag']) === 't';
      texts.push({
        place: getPlace(node),
        one: template(node['quasi'] as Node),
        many: undefined,
        frozen,
      });
    } else if (node.type === 'CallExpression' && getName(node['callee']) === 'ngettext') {
      const [one, many] = (node['arguments'] as Node[]).map((each) =>
        each.type === 'TaggedTemplateExpression' ? (each['quasi'] as Node) : each,
      );
      if (one === undefined || many === undefined)
        throw new Error(`${getPlace(node)}: write ngettext(msgid\`…\`, \`…\`, count)`);
      texts.push({
        place: getPlace(node),
        one: template(one),
        many: template(many),
        frozen: loading,
      });
      return;
    } else if (
      node.type === 'TemplateLiteral' ||
      (node.type === 'Literal' && typeof node['value'] === 'string')
    ) {
      literals.push({ place: getPlace(node), text: template(node).parts.join('…'), givenTo });
    }
    const stillLoading = loading && !/Function/.test(node.type);
    for (const [key, child] of listChildren(node)) {
      if (isText(node) && key === 'quasi') {
        for (const [, inside] of listChildren(child))
          if (inside.type !== 'TemplateElement') visit(inside, [], stillLoading);
      } else if (!isNoText(node, key))
        visit(child, listReceivers(node, key, givenTo), stillLoading);
    }
  };
  visit(parseAst(code, { lang: 'ts' }) as unknown as Node, [], true);
  return { path: name, texts, literals };
}

function isText(node: Node): boolean {
  return node.type === 'TaggedTemplateExpression' && ['t', 'msg'].includes(getName(node['tag']));
}

/** Names of modules, types and properties are no texts. */
function isNoText(node: Node, key: string): boolean {
  if (
    /^(Import|Export(All|Named)|TS(LiteralType|EnumMember|ImportType|ModuleDeclaration))/.test(
      node.type,
    )
  )
    return key === 'source' || node.type.startsWith('TS');
  return (
    (node.type === 'Property' && key === 'key') ||
    (node.type === 'MemberExpression' && key === 'property')
  );
}

/** Receiver of a literal inside: the nearest call, tag or property on the way up. */
function listReceivers(node: Node, key: string, outer: readonly string[]): readonly string[] {
  if ((node.type === 'NewExpression' || node.type === 'CallExpression') && key === 'arguments') {
    return [`${node.type === 'NewExpression' ? 'new ' : ''}${getName(node['callee'])}`];
  }
  if (node.type === 'TaggedTemplateExpression' && key === 'quasi') return [getName(node['tag'])];
  if (node.type === 'Property' && key === 'value') return [`key:${getName(node['key'])}`, ...outer];
  return /^(Binary|Conditional|Logical|Object|Array|Template|TSAs|TSSatisfies|Parenthesized)/.test(
    node.type,
  )
    ? outer
    : [];
}

export function listChildren(node: Node): (readonly [string, Node])[] {
  return Object.entries(node).flatMap(([key, value]) =>
    (Array.isArray(value) ? (value as unknown[]) : [value])
      .filter(isNode)
      .map((child) => [key, child] as const),
  );
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** `terminal.line`, `t`; empty for what has no simple name. */
function getName(value: unknown): string {
  if (!isNode(value)) return '';
  if (value.type === 'Identifier') return String(value['name']);
  if (value.type === 'Literal') return String(value['value']);
  if (value.type !== 'MemberExpression' || value['computed'] === true) return '';
  const object = getName(value['object']);
  return object === '' ? '' : `${object}.${getName(value['property'])}`;
}

function parseTemplate(node: Node, code: string): Template {
  if (node.type !== 'TemplateLiteral')
    return { parts: [String(node['value'])], expressions: [], plain: node.type === 'Literal' };
  const expressions = (node['expressions'] as Node[]).map(
    (each) => getCommand(each, code) ?? code.slice(each.start, each['end'] as number),
  );
  return {
    parts: (node['quasis'] as Node[]).map(
      (quasi) => (quasi['value'] as { readonly cooked: string }).cooked,
    ),
    expressions,
    plain: (node['expressions'] as Node[]).every(
      (each) =>
        getCommand(each, code) !== undefined || (getName(each) !== '' && each.type !== 'Literal'),
    ),
  };
}

/** cmd`pas show ${find}` is called `pas show find` where it stands in a text. */
function getCommand(node: Node, code: string): string | undefined {
  if (node.type !== 'TaggedTemplateExpression' || getName(node['tag']) !== 'cmd') return undefined;
  const { parts, expressions } = parseTemplate(node['quasi'] as Node, code);
  return parts.map((part, index) => `${part}${expressions[index] ?? ''}`).join('');
}
