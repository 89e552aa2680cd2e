import {
  type Addresses,
  FILE_BASE,
  getNamespace,
  getXsdAddress,
  type SchemaVersion,
} from '../../base/addresses.ts';
import { type Body, type BodyValue, type Entity, getList, isList } from './record.ts';
import { reduceToVersion } from './render-version.ts';

type RenderOptions = {
  /** Line breaks and two spaces of indentation. */
  readonly pretty?: boolean;
  /** Starts with an XML declaration. */
  readonly declaration?: boolean;
};

/** Placeholder for a value that the caller may not see (B-SEE-2). */
export const FORBIDDEN = 'HTTP/1.1 403 Forbidden';

/**
 * Renders a record as a document of a schema version, `svc:svc` by default, without newer elements.
 */
export function renderRecord(
  body: Body,
  entity: Entity,
  version: SchemaVersion,
  addresses: Addresses,
  options: RenderOptions = {},
): string {
  const declaration =
    options.declaration === true ? "<?xml version='1.0' encoding='utf-8'?>\n" : '';
  const depth = options.pretty === true ? 1 : undefined;
  const lineEnd = options.pretty === true ? '\n' : '';
  const { prefix } = addresses;
  const element = renderElement(
    prefix,
    entity,
    reduceToVersion(entity, body, version),
    depth,
  ).replaceAll(FILE_BASE, addresses.fileBase);
  return `${declaration}${renderRootStart(version, addresses)}${lineEnd}${element}</${prefix}:${prefix}>${lineEnd}`;
}

/** Renders the document of a record that the caller may not see. */
export function renderForbidden(version: SchemaVersion, addresses: Addresses): string {
  return `${renderRootStart(version, addresses)}${FORBIDDEN}</${addresses.prefix}:${addresses.prefix}>`;
}

function renderRootStart(version: SchemaVersion, addresses: Addresses): string {
  const namespace = getNamespace(addresses, version);
  const { prefix } = addresses;
  return (
    `<${prefix}:${prefix} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:gml="http://www.opengis.net/gml/3.2"` +
    ` xmlns:${prefix}="${namespace}" xsi:schemaLocation="${namespace} ${getXsdAddress(addresses, version)}">`
  );
}

/** @param depth indentation, or undefined for none */
function renderElement(
  prefix: string,
  name: string,
  value: string | Body,
  depth: number | undefined,
): string {
  const indent = depth === undefined ? '' : '  '.repeat(depth);
  const lineEnd = depth === undefined ? '' : '\n';
  const tag = name.includes(':') ? name : `${prefix}:${name}`;
  if (typeof value === 'string') return `${indent}<${tag}>${escapeText(value)}</${tag}>${lineEnd}`;
  let start = tag;
  let inner = '';
  let text: string | undefined;
  for (const key of Object.keys(value)) {
    const child = value[key];
    if (key === '#') text = typeof child === 'string' ? child : undefined;
    else if (!key.startsWith('@'))
      inner += renderChildren(prefix, key, child, depth === undefined ? undefined : depth + 1);
    else if (typeof child === 'string')
      start += ` ${key === '@lang' ? 'xml:lang' : key.slice(1)}="${escapeAttribute(child)}"`;
  }
  if (inner !== '') return `${indent}<${start}>${lineEnd}${inner}${indent}</${tag}>${lineEnd}`;
  if (text === undefined) return `${indent}<${start}/>${lineEnd}`;
  return `${indent}<${start}>${escapeText(text)}</${tag}>${lineEnd}`;
}

function renderChildren(
  prefix: string,
  name: string,
  value: BodyValue | undefined,
  depth: number | undefined,
): string {
  if (value !== undefined && !isList(value)) return renderElement(prefix, name, value, depth);
  let rendered = '';
  for (const child of getList(value)) rendered += renderElement(prefix, name, child, depth);
  return rendered;
}

const SPECIAL_IN_TEXT = /[&<>\r]/g;
const SPECIAL_IN_ATTRIBUTES = /[&<>"\r\n\t]/g;
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
  '\n': '&#10;',
  '\t': '&#9;',
};
/** Characters that XML 1.0 cannot hold, not even escaped (section 2.2). */
const NOT_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/**
 * Characters that the expressions above could change, or a lone surrogate; most texts have none.
 */
const UNUSUAL = /[^\t\u0020-\u0025\u0027-\u003b\u003d\u003f-\ud7ff\ue000-\ufffd]/;
const UNUSUAL_IN_ATTRIBUTES =
  /[^\u0020\u0021\u0023-\u0025\u0027-\u003b\u003d\u003f-\ud7ff\ue000-\ufffd]/;

/** Tells if a record with this text can be written as XML. */
export function isXmlText(text: string): boolean {
  return text.search(NOT_XML) === -1;
}

/** Escapes the text of an element; a character that XML 1.0 excludes becomes U+FFFD. */
export function escapeText(text: string): string {
  if (!UNUSUAL.test(text)) return text;
  return text
    .replace(NOT_XML, '\uFFFD')
    .replace(SPECIAL_IN_TEXT, (character) => ESCAPES[character] ?? character);
}

/** Escapes a value between double quotes; a character that XML 1.0 excludes becomes U+FFFD. */
export function escapeAttribute(text: string): string {
  if (!UNUSUAL_IN_ATTRIBUTES.test(text)) return text;
  return text
    .replace(NOT_XML, '\uFFFD')
    .replace(SPECIAL_IN_ATTRIBUTES, (character) => ESCAPES[character] ?? character);
}
