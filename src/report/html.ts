import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../base/own-files.ts';

/** A symbol, so that no data can pass as markup. */
const MARKUP = Symbol('markup');
/** Markup in which all data are escaped. */
export type Html = { readonly [MARKUP]: string };

/**
 * Value in a template: text is escaped, markup and lists of markup are inserted, undefined is
 * nothing.
 */
export type HtmlPart = string | number | Html | undefined | readonly HtmlPart[];

/**
 * Makes markup from a template literal, whose values are inserted as {@link renderPart} renders
 * them. A value may stand in text or within double quotes; an address only if it is known to be of
 * the web.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return trustMarkup(
    strings
      .map((text, index) => (index === 0 ? text : renderPart(parts[index - 1]) + text))
      .join(''),
  );
}

/**
 * Declares that a text is markup, so that it is never escaped. For texts of this package and for
 * base64, not for data.
 */
export function trustMarkup(markup: string): Html {
  return { [MARKUP]: markup };
}

/** Renders a value as HTML: texts are escaped, markup is kept, undefined gives the empty text. */
export function renderPart(part: HtmlPart): string {
  if (part === undefined) return '';
  if (typeof part === 'string') return escapeHtml(part);
  if (typeof part === 'number') return String(part);
  if (MARKUP in part) return part[MARKUP];
  return part.map(renderPart).join('');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // A bare carriage return would be read as a line feed.
  '\r': '&#13;',
  // HTML cannot hold NUL.
  '\0': '\ufffd',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"'\r\0]/g, (character) => ESCAPES[character] ?? character);
}

/** Style and script of the page, and the content security policy with their digests. */
export type Assets = { readonly style: string; readonly script: string; readonly policy: string };

const STYLES = ['colours.css', 'page.css', 'finds.css', 'photographs.css', 'map.css', 'print.css'];
const SCRIPTS = ['filters.js', 'photographs.js', 'map-names.js', 'maps.js'];

/**
 * Reads style and script of the page from the files of this package, and makes the
 * Content-Security-Policy that allows only these two, by their SHA-256, and pictures as `data:`.
 */
export function readPageAssets(): Assets {
  const style = joinFiles(STYLES);
  const script = joinFiles(SCRIPTS);
  const policy = [
    "default-src 'none'",
    'img-src data:',
    `style-src ${hashForPolicy(style)}`,
    `script-src ${hashForPolicy(script)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return { style, script, policy };
}

function joinFiles(names: readonly string[]): string {
  return names
    .map((name) =>
      readFileSync(join(packageRoot, 'src', 'report', 'page', name), 'utf8').replaceAll(
        '\r\n',
        '\n',
      ),
    )
    .join('\n');
}

function hashForPolicy(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
