import type { TestMock } from '../support/start-mock.ts';

export const ROLES = ['anonymous', 'researcher', 'archaeologist', 'archivist', 'admin'] as const;

export type AskOptions = {
  /** `2.2` by default; `''` is the generic endpoint. */
  readonly version?: string;
  /** Signs in by HTTP Basic; in the demo seed the password is the user name. */
  readonly as?: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
};

export type HarvestAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

/** One request to the harvesting interface, arguments as they stand in a URL. */
export async function ask(
  mock: TestMock,
  query: string,
  options: AskOptions = {},
): Promise<HarvestAnswer> {
  const { version = '2.2', as, method = 'GET' } = options;
  const path = `${mock.server.oai_base}${version === '' ? '' : `/${version}`}/oai`;
  const signIn: Record<string, string> =
    as === undefined || as === 'anonymous' ? {} : { authorization: basic(as, as) };
  const form: Record<string, string> =
    method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
  const response = await fetch(method === 'GET' ? `${path}?${query}` : path, {
    method,
    redirect: 'manual',
    // Packing and unpacking would cost more than all else here.
    headers: { 'accept-encoding': 'identity', ...signIn, ...form, ...options.headers },
    ...(method === 'POST' ? { body: query } : {}),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

/** The code of the protocol error, or undefined where the answer is none. */
export function parseError(text: string): string | undefined {
  return /<error code="(\w+)">/.exec(text)?.[1];
}

export type RawHeader = {
  readonly ident: string;
  readonly identifier: string;
  readonly datestamp: string;
  readonly sets: readonly string[];
  readonly deleted: boolean;
};

/** The headers of an answer, in order. */
export function parseHeaders(text: string): RawHeader[] {
  return [...text.matchAll(/<header( status="deleted")?\s*>(.*?)<\/header>/gs)].map(
    ([, deleted, content = '']) => {
      const identifier = /<identifier>([^<]*)</.exec(content)?.[1] ?? '';
      return {
        ident: identifier.split('/').at(-1) ?? '',
        identifier,
        datestamp: /<datestamp>([^<]*)</.exec(content)?.[1] ?? '',
        sets: [...content.matchAll(/<setSpec>([^<]*)</g)].map((match) => match[1] ?? ''),
        deleted: deleted !== undefined,
      };
    },
  );
}

/** The records of an answer, each as the text between its tags, by identifier. */
export function parseRecords(text: string): ReadonlyMap<string, string> {
  const records = [...text.matchAll(/<record>(.*?)<\/record>/gs)].map((match) => match[1] ?? '');
  return new Map(records.map((record) => [parseHeaders(record)[0]?.ident ?? '', record]));
}

export type RawToken = {
  readonly text: string;
  readonly size: number;
  readonly cursor: number;
  readonly expires: string | undefined;
};

/** The resumption token of an answer; its text is empty on the last page. */
export function parseToken(text: string): RawToken | undefined {
  const match = /<resumptionToken([^>]*?)(?:\/>|>([^<]*)<\/resumptionToken>)/.exec(text);
  if (match === null) return undefined;
  const attribute = (name: string): string | undefined =>
    new RegExp(`${name}="([^"]*)"`).exec(match[1] ?? '')?.[1];
  return {
    text: (match[2] ?? '').replaceAll('&amp;', '&'),
    size: Number(attribute('completeListSize')),
    cursor: Number(attribute('cursor')),
    expires: attribute('expirationDate'),
  };
}

/** Every page of a list, following its tokens. */
export async function fetchPages(
  mock: TestMock,
  query: string,
  options: AskOptions = {},
): Promise<string[]> {
  const verb = /verb=(\w+)/.exec(query)?.[1] ?? '';
  const pages: string[] = [];
  let next = query;
  for (;;) {
    const { text } = await ask(mock, next, options);
    pages.push(text);
    const token = parseToken(text)?.text ?? '';
    if (token === '') return pages;
    if (pages.length > 10_000) throw new Error('the list does not end');
    next = `verb=${verb}&resumptionToken=${encodeURIComponent(token)}`;
  }
}

/** The headers of a whole list. */
export async function listAll(
  mock: TestMock,
  query: string,
  options: AskOptions = {},
): Promise<RawHeader[]> {
  return (await fetchPages(mock, query, options)).flatMap(parseHeaders);
}
