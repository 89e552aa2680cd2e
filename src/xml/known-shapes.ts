import { isUtf8 } from 'node:buffer';
import { SCHEMA_NAMESPACE, XML_NAMESPACE } from './element.ts';

/**
 * Local names of elements and attributes that a schema declares as any text, wherever it declares
 * them.
 */
type AnyTexts = {
  readonly elements: ReadonlySet<string>;
  readonly attributes: ReadonlySet<string>;
};

/**
 * Shapes of documents that a schema has accepted: a document of such a shape needs no validation.
 */
export type KnownShapes = {
  /** Tells if an accepted document differs from this one only in texts that are certainly valid. */
  isAccepted(document: Buffer): boolean;
  /** Remembers the shape and the texts of a valid document. */
  add(document: Buffer): void;
};

/**
 * A piece of markup that is equal in all documents of a shape, and precedes a variable text: of an
 * element without children, or of an attribute. The type of that text follows from what stands
 * before it, so shapes share their first pieces.
 */
type Piece = {
  readonly fixed: string;
  /** Accepted texts; undefined where any text is valid. */
  readonly accepted: Set<string> | undefined;
  readonly next: Piece[];
  /** A document may end with this piece. */
  isLast: boolean;
};

/** Larger documents are rare, and would use too much memory. */
const MAX_BYTES = 32 * 1024;
const MAX_PIECES = 5000;
const MAX_TEXTS = 1000;

/**
 * Plain text of a document in UTF-8, read as Latin-1. `\xef` begins the characters that XML
 * excludes; `>` may end `]]>`.
 */
const PLAIN = /^[\t\n\r\u0020-\u0025\u0027-\u003b\u003d\u003f-\u00ee\u00f0-\u00ff]*$/;

/** @param schemas the schema and its imports */
export function createKnownShapes(schemas: readonly Buffer[]): KnownShapes {
  const anyTexts = findAnyTexts(schemas);
  const root: Piece = { fixed: '', accepted: undefined, next: [], isLast: false };
  let pieces = 0;
  const addPiece = (before: Piece, fixed: string, isAny: boolean): Piece | undefined => {
    const existing = before.next.find((piece) => piece.fixed === fixed);
    if (existing !== undefined || pieces >= MAX_PIECES) return existing;
    pieces += 1;
    const piece = {
      fixed,
      accepted: isAny ? undefined : new Set<string>(),
      next: [],
      isLast: false,
    };
    before.next.push(piece);
    return piece;
  };
  return {
    isAccepted: (document) =>
      pieces > 0 &&
      document.length <= MAX_BYTES &&
      isUtf8(document) &&
      isKnown(root, document.toString('latin1')),
    add(document) {
      if (anyTexts === undefined || document.length > MAX_BYTES || !isUtf8(document)) return;
      const text = document.toString('latin1');
      let piece: Piece | undefined = root;
      let at = 0;
      for (const { start, end, isAny } of findTexts(text, anyTexts) ?? []) {
        piece = addPiece(piece, text.slice(at, start), isAny);
        if (piece === undefined) return;
        if (piece.accepted !== undefined && piece.accepted.size < MAX_TEXTS)
          piece.accepted.add(text.slice(start, end));
        at = end;
      }
      const last = at === 0 ? undefined : addPiece(piece, text.slice(at), false);
      if (last !== undefined) last.isLast = true;
    },
  };
}

function isKnown(root: Piece, text: string): boolean {
  let piece = root;
  let at = 0;
  for (;;) {
    const next = piece.next.find(({ fixed }) => text.startsWith(fixed, at));
    if (next === undefined) return false;
    at += next.fixed.length;
    if (at === text.length) return next.isLast;
    const mark = text[at - 1] ?? '';
    const end = text.indexOf(mark === '>' ? '<' : mark, at);
    const value = text.slice(at, end);
    if (end === -1 || !(next.accepted === undefined ? PLAIN.test(value) : next.accepted.has(value)))
      return false;
    at = end;
    piece = next;
  }
}

type PlacedText = { readonly start: number; readonly end: number; readonly isAny: boolean };

const DECLARATION = /^(?:<\?xml version=(["'])1\.0\1 encoding=(["'])UTF-8\2 ?\?>)?/i;
const COMMENT = /<!--[^-]*(?:-[^-]+)*-->/y;
const TAG = /<(\/?)([\w.:-]+)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<&]*"|'[^'<&]*'))*)\s*(\/?)>/y;
const ATTRIBUTE = /(?<![\w.:-])(([\w.:-]+)\s*=\s*)(?:"([^"]*)"|'([^']*)')/g;
/** Attributes that change the type of their element, or must be unique, have other prefixes. */
const KNOWN_PREFIXED = /^(?:xml:lang|xmlns(?::.*)?|[^:]*:schemaLocation)$/;

/** Returns the variable texts of a well-formed document; undefined where it has unusual parts. */
function findTexts(text: string, any: AnyTexts): PlacedText[] | undefined {
  const texts: PlacedText[] = [];
  let at = DECLARATION.exec(text)?.[0].length ?? 0;
  for (let open = text.indexOf('<', at); open !== -1; open = text.indexOf('<', at)) {
    COMMENT.lastIndex = open;
    TAG.lastIndex = open;
    if (COMMENT.test(text)) {
      at = COMMENT.lastIndex;
      continue;
    }
    const [tag, close, name = '', attributes = '', empty] = TAG.exec(text) ?? [];
    if (tag === undefined) return undefined;
    for (const attribute of attributes.matchAll(ATTRIBUTE)) {
      const [, before = '', called = '', value = attribute[4] ?? ''] = attribute;
      const start = open + '<'.length + name.length + attribute.index + before.length + 1;
      if (!called.includes(':') && called !== 'xmlns')
        texts.push({ start, end: start + value.length, isAny: any.attributes.has(called) });
      else if (!KNOWN_PREFIXED.test(called)) return undefined;
    }
    at = open + tag.length;
    if (close !== '' || empty !== '') continue;
    const end = text.indexOf('<', at);
    if (text.startsWith('</', end))
      texts.push({ start: at, end, isAny: any.elements.has(name.slice(name.indexOf(':') + 1)) });
  }
  return texts;
}

/**
 * Constraints between the parts of a document, so that a valid text in one document may be invalid
 * in another.
 */
const CONSTRAINTS = ['key', 'keyref', 'unique', 'assert', 'alternative'];
const LINKED_TYPES = /\b(?:ID|IDREFS?|ENTITY|ENTITIES|NOTATION)\b/;

/**
 * Finds the names whose text may be anything; undefined where the schema has constraints between
 * parts of a document.
 */
function findAnyTexts(schemas: readonly Buffer[]): AnyTexts | undefined {
  const declared = schemas.map(readDeclarations);
  if (declared.includes(undefined)) return undefined;
  const all = declared.flatMap((each) => each ?? []);
  const named = new Map<string, Declaration>();
  for (const type of all) {
    if (type.kind !== 'complexType' && type.kind !== 'simpleType') continue;
    // Two namespaces may have types of one name.
    named.set(type.name, named.has(type.name) ? { ...type, type: undefined } : type);
  }
  const isText = (type: string | undefined): boolean => {
    const declaration = type === undefined ? undefined : named.get(type);
    return type === STRING || (declaration?.kind === 'complexType' && isText(declaration.type));
  };
  const listNames = (kind: string): ReadonlySet<string> => {
    const names = new Set<string>();
    const others = new Set<string>();
    for (const each of all)
      if (each.kind === kind) (isText(each.type) ? names : others).add(each.name);
    for (const name of others) names.delete(name);
    return names;
  };
  return { elements: listNames('element'), attributes: listNames('attribute') };
}

/**
 * `type`: that of an element or an attribute, or the base of a type that adds only attributes;
 * undefined for all others.
 */
type Declaration = { readonly kind: string; readonly name: string; type: string | undefined };

const STRING_PREFIX = 'xs:';
const STRING = `${STRING_PREFIX}string`;

/**
 * Reads the declarations of a schema from its tags, ten times as fast as from a tree. Declarations
 * of other languages in its documentation can only make a name unknown. Undefined for a schema with
 * constraints, or in an unusual notation.
 */
function readDeclarations(schema: Buffer): Declaration[] | undefined {
  const source = schema.toString('utf8').replaceAll(/<!--[^-]*(?:-[^-]+)*-->|<\?[^?]*\?>/g, '');
  const declarations: Declaration[] = [];
  const open: { readonly kind: string; readonly declaration: Declaration | undefined }[] = [];
  let prefix: string | undefined;
  const getTypeName = (type: string | undefined): string | undefined => {
    const [local, own = ''] = type?.split(':').reverse() ?? [];
    return own === prefix && local !== undefined ? `${STRING_PREFIX}${local}` : local;
  };
  for (let at = source.indexOf('<'); at !== -1; at = source.indexOf('<', TAG.lastIndex)) {
    TAG.lastIndex = at;
    const [tag, close, tagName = '', written = '', empty] = TAG.exec(source) ?? [];
    if (tag === undefined) return undefined;
    if (close !== '') {
      open.pop();
      continue;
    }
    const attributes = new Map(
      [...written.matchAll(ATTRIBUTE)].map(([, , name = '', one, two]) => [name, one ?? two ?? '']),
    );
    const kind = tagName.slice(tagName.indexOf(':') + 1);
    if (prefix === undefined) {
      // The attributes of XML itself have a prefix in every document.
      if (attributes.get('targetNamespace') === XML_NAMESPACE) return [];
      const [bound = ''] =
        [...attributes].find(
          ([name, value]) => name.startsWith('xmlns') && value === SCHEMA_NAMESPACE,
        ) ?? [];
      prefix = bound.slice('xmlns:'.length);
    } else if (
      written.includes('xmlns') ||
      CONSTRAINTS.includes(kind) ||
      LINKED_TYPES.test(written)
    )
      return undefined;
    const name = attributes.get('name');
    const type =
      attributes.has('fixed') || kind === 'complexType'
        ? undefined
        : getTypeName(attributes.get('type'));
    const declaration = name === undefined ? undefined : { kind, name, type };
    if (declaration !== undefined) declarations.push(declaration);
    const content = open.at(-1);
    const extended = open.at(-2);
    if (
      kind === 'extension' &&
      content?.kind === 'simpleContent' &&
      extended?.declaration !== undefined
    )
      extended.declaration.type = getTypeName(attributes.get('base'));
    if (empty === '') open.push({ kind, declaration });
  }
  return declarations;
}
