import { readFileSync } from 'node:fs';
import { type Recorded, readRecording } from './recording.ts';
import { messageOf } from './thrown.ts';

/** What a replay came to. */
type Replayed = {
  /** Answered as recorded. */
  readonly same: number;
  /** What cannot be asked again, or had an answer by a fault. */
  readonly skipped: number;
  readonly others: readonly {
    readonly line: number;
    readonly request: string;
    readonly recorded: number;
    readonly got: number;
  }[];
};

/** The connection's own, the length, and who asks: made anew. */
const NOT_REPEATED = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'expect',
  'authorization',
]);

/**
 * Asks another server what a recording holds, one request after the other, in the name of the same users.
 * @param baseUrl of the server that is asked
 * @param passwordOf of a user; in the bundled seeds it is the user's name
 * @throws Error where the file or the server cannot be read
 */
export async function replay(path: string, baseUrl: string, passwordOf = (user: string) => user): Promise<Replayed> {
  const recorded = readRecording(readFileSync(path, 'utf8'));
  const tokens = new Map<string, string>();
  const others: Array<Replayed['others'][number]> = [];
  let same = 0;
  let skipped = 0;
  for (const [at, line] of recorded.entries()) {
    const { method, request } = line;
    // What was signed in with is not kept: each user signs in anew. Half a body would be another request.
    if (request.body.text === null || request.body.cut || line.fault !== null || line.status === 0) {
      skipped += 1;
      continue;
    }
    const { status, body } = await ask(baseUrl + line.path, {
      method,
      redirect: 'manual',
      headers: { ...repeated(request.headers), ...(await authorization(line)) },
      ...(request.body.size_bytes === 0 ? {} : { body: Buffer.from(request.body.text, request.body.base64 ? 'base64' : 'utf8') }),
    });
    // What is not read keeps its connection.
    await body?.cancel();
    if (status === line.status) same += 1;
    else others.push({ line: at + 1, request: `${method} ${line.path}`, recorded: line.status, got: status });
  }
  return { same, skipped, others };

  async function authorization({ path: asked, user, request }: Recorded): Promise<Record<string, string>> {
    const [scheme] = request.headers['authorization']?.split(' ') ?? [];
    if (scheme === undefined) return {};
    if (user === null) return { authorization: `${scheme} unknown` };
    if (/^basic$/i.test(scheme)) return { authorization: `Basic ${btoa(`${user}:${passwordOf(user)}`)}` };
    const [mount = ''] = /^\/t\/[^/]+/.exec(asked) ?? [];
    const token = tokens.get(mount + user) ?? (await signIn(baseUrl + mount, user, passwordOf(user)));
    tokens.set(mount + user, token);
    return { authorization: `Bearer ${token}` };
  }
}

/** @throws Error that says who does not answer, and why */
async function ask(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (thrown) {
    const { cause = thrown } = thrown as { cause?: unknown };
    throw new Error(`${url} does not answer: ${messageOf(cause)}`, { cause: thrown });
  }
}

function repeated(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_REPEATED.has(name)));
}

async function signIn(baseUrl: string, username: string, password: string): Promise<string> {
  const answer = await ask(`${baseUrl}/api/token-auth/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  const said: unknown = answer.ok ? await answer.json() : undefined;
  const token: unknown = typeof said === 'object' && said !== null ? Reflect.get(said, 'token') : undefined;
  if (typeof token !== 'string') throw new Error(`${username} cannot sign in at ${baseUrl}: ${answer.status}`);
  return token;
}
