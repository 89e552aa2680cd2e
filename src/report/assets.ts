import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../base/package-root.ts';

/** Style and script of the page, and the content security policy with their digests. */
export type Assets = { readonly style: string; readonly script: string; readonly policy: string };

const STYLES = ['colours.css', 'page.css', 'finds.css', 'views.css', 'map.css', 'print.css'];
const SCRIPTS = ['filters.js', 'photographs.js', 'map-names.js', 'maps.js'];

/**
 * Reads styles and scripts of the page, and makes the Content-Security-Policy with their hashes.
 */
export function readAssets(): Assets {
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
