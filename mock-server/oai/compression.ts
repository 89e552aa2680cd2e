import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { SentAnswer } from '../fault-hooks.ts';
import { acceptedTypes } from '../preconditions.ts';

const compress = promisify(gzip);
/** Below this a compressed answer is hardly smaller. */
const WORTHWHILE_BYTES = 1024;

/** Gzips an answer for a client that accepts it, at the cheapest level: harvests are bound by the time of the server. */
export async function compressed(answer: SentAnswer, acceptEncoding: string | string[] | undefined): Promise<SentAnswer> {
  const headers = { ...answer.headers, vary: 'Accept-Encoding' };
  const plain = Buffer.isBuffer(answer.body) ? answer.body : Buffer.from(answer.body);
  if (plain.length < WORTHWHILE_BYTES || !acceptsGzip(acceptEncoding)) return { ...answer, headers, body: plain };
  const body = await compress(plain, { level: constants.Z_BEST_SPEED });
  return { ...answer, headers: { ...headers, 'content-encoding': 'gzip' }, body };
}

/** RFC 9110, section 12.5.3: `gzip`, or `*` where gzip is not named, and not with a weight of zero. */
function acceptsGzip(header: string | string[] | undefined): boolean {
  if (header === undefined) return false;
  const accepted = acceptedTypes(String(header));
  const found = accepted.find(({ type }) => type === 'gzip') ?? accepted.find(({ type }) => type === '*');
  return found !== undefined && found.quality > 0;
}
