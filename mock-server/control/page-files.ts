import { readFile } from 'node:fs/promises';
import { CONTROL_PATH } from '../base/addresses.ts';
import type { Answer } from '../base/http-message.ts';
import { getPackagePath } from '../base/package-files.ts';
import { makeHtmlPage } from '../base/problem.ts';
import type { Mock } from '../state/mock.ts';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** File name without folders, so that no path leaves the page's folder. */
const PAGE_FILE = /^\/([a-z][a-z-]*\.(css|js|svg))$/;

/** Content security policy: no foreign content, no framing. */
const POLICY = [
  "default-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const GUARDS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

/**
 * Returns the web page of the control interface, its files, or the bytes of a photograph.
 * @param path below the control address
 * @returns undefined for any other path
 */
export async function answerPageFile(mock: Mock, path: string): Promise<Answer | undefined> {
  // Relative addresses of the page need the final slash.
  if (path === '')
    return makeHtmlPage(308, 'Permanent Redirect', {
      location: `${mock.addresses.mount}${CONTROL_PATH}/`,
    });
  if (path === '/') return readPageFile('page.html', 'html');
  if (path === '/docs') return readPageFile('docs.html', 'html');
  const [, name, extension] = PAGE_FILE.exec(path) ?? [];
  if (name !== undefined && extension !== undefined) return readPageFile(name, extension);
  const photograph = mock.photographs.get(/^\/photos\/([^/]+)$/.exec(path)?.[1] ?? '');
  if (photograph === undefined) return undefined;
  return {
    status: 200,
    // Uploads are displayed, never executed.
    headers: {
      ...GUARDS,
      'content-type': photograph.mimetype,
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, max-age=60',
    },
    body: await mock.photographs.readBytes(photograph.uuid),
  };
}

async function readPageFile(name: string, extension: string): Promise<Answer | undefined> {
  const body = await readFile(getPackagePath('mock-server', 'page', name)).catch(
    (thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'ENOENT') return undefined;
      throw thrown;
    },
  );
  if (body === undefined) return undefined;
  return {
    status: 200,
    headers: {
      ...GUARDS,
      'content-type': TYPES[extension] ?? 'application/octet-stream',
      'content-security-policy': POLICY,
      'cache-control': 'no-cache',
    },
    body,
  };
}
