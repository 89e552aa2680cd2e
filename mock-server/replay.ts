import { readFileSync } from 'node:fs';
import { request as askPlain } from 'node:http';
import { request as askSecure } from 'node:https';
import { getErrorMessage } from './base/error-message.ts';
import { parseRecording, type Recorded } from './state/recording.ts';

type Replayed = {
  /** Number of equal answers. */
  readonly same: number;
  /** Requests that cannot be repeated, or that a fault answered. */
  readonly skipped: number;
  readonly others: readonly {
    readonly line: number;
    readonly request: string;
    readonly recorded: number;
    readonly got: number;
  }[];
};

/** Headers of the connection, the length and redacted ones: replaced or omitted. */
const NOT_REPEATED = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'expect',
  'authorization',
  'proxy-authorization',
  'cookie',
  'te',
  'trailer',
]);

/**
 * Repeats the requests of a recording at another server, one after another, as the same users.
 * @param baseUrl of the other server
 * @param getPassword of a user; in the bundled seeds it equals the user name
 * @throws Error where the file or the server cannot be read
 */
export async function replay(
  path: string,
  baseUrl: string,
  getPassword = (user: string) => user,
): Promise<Replayed> {
  const recorded = parseRecording(readFileSync(path, 'utf8'));
  const tokens = new Map<string, string>();
  const others: Array<Replayed['others'][number]> = [];
  let same = 0;
  let skipped = 0;
  for (const [at, line] of recorded.entries()) {
    const { method, request } = line;
    // Credentials are not recorded, so each user signs in again. A shortened body would be another
    // request.
    if (
      request.body.text === null ||
      request.body.cut ||
      line.fault !== null ||
      line.status === 0
    ) {
      skipped += 1;
      continue;
    }
    const { status } = await ask(baseUrl, {
      method,
      path: line.path,
      headers: { ...selectRepeated(request.headers), ...(await makeAuthorization(line)) },
      body: Buffer.from(request.body.text, request.body.base64 ? 'base64' : 'utf8'),
    });
    if (status === line.status) same += 1;
    else
      others.push({
        line: at + 1,
        request: `${method} ${line.path}`,
        recorded: line.status,
        got: status,
      });
  }
  return { same, skipped, others };

  async function makeAuthorization({
    path: asked,
    user,
    request,
  }: Recorded): Promise<Record<string, string>> {
    const [scheme] = request.headers['authorization']?.split(' ') ?? [];
    if (scheme === undefined) return {};
    // For other schemes, not even the name is recorded.
    if (!/^(basic|bearer)$/i.test(scheme)) return { authorization: 'Other unknown' };
    if (user === null) return { authorization: `${scheme} unknown` };
    if (/^basic$/i.test(scheme))
      return { authorization: `Basic ${btoa(`${user}:${getPassword(user)}`)}` };
    const [mount = ''] = /^\/t\/[^/]+/.exec(asked) ?? [];
    const token =
      tokens.get(mount + user) ?? (await signIn(baseUrl + mount, user, getPassword(user)));
    tokens.set(mount + user, token);
    return { authorization: `Bearer ${token}` };
  }
}

type Asked = {
  readonly method: string;
  /** As in the request line, including `*`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};
type Answered = { readonly status: number; readonly body: Buffer };

/**
 * Sends one request with any method and path, which `fetch` cannot. @throws Error where no answer
 * comes
 */
function ask(baseUrl: string, { method, path, headers, body }: Asked): Promise<Answered> {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const target = path.startsWith('/') ? pathname.replace(/\/$/, '') + path : path;
  return new Promise<Answered>((resolve, reject) => {
    const asking = (protocol === 'https:' ? askSecure : askPlain)({
      hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
      port,
      method,
      path: target,
      headers: {
        ...headers,
        ...(body.length === 0 ? {} : { 'content-length': String(body.length) }),
      },
    });
    asking.once('error', reject);
    asking.once('upgrade', ({ statusCode = 0 }, socket) => {
      socket.destroy();
      resolve({ status: statusCode, body: Buffer.alloc(0) });
    });
    asking.once('response', (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.once('error', reject);
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts) }),
      );
    });
    asking.end(body);
  }).catch((thrown: unknown) => {
    throw new Error(`${baseUrl}${target} does not answer: ${getErrorMessage(thrown)}`, {
      cause: thrown,
    });
  });
}

function selectRepeated(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_REPEATED.has(name)));
}

async function signIn(baseUrl: string, username: string, password: string): Promise<string> {
  const { status, body } = await ask(baseUrl, {
    method: 'POST',
    path: '/api/token-auth/',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ username, password })),
  });
  const answer: unknown = status === 200 ? JSON.parse(body.toString('utf8')) : undefined;
  const token: unknown =
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'token') : undefined;
  if (typeof token !== 'string')
    throw new Error(`${username} cannot sign in at ${baseUrl}: ${status}`);
  return token;
}
