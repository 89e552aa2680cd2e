import { AuthError, ContractError, UnavailableError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type DocumentProfile, schemaLocationOf } from '../find/find.ts';
import { type Comparison, compareWithBundled, findSchemaProblem, MAX_SCHEMA_BYTES } from '../find/own-schema.ts';
import { type Exchange, type HttpResponse, NoAnswerError } from '../http/exchange.ts';

type UpdateSchemaOptions = {
  readonly profile: DocumentProfile;
  /** Expected to repeat what is worth repeating. */
  readonly exchange: Exchange;
  readonly answerTimeoutMs: number;
  /** Whether an address may be asked: with TLS, or this machine's own. */
  readonly isProtected: (url: string) => boolean;
  /** Keeps a schema that can be used in place of the one before. */
  readonly keep: (url: string, bytes: Buffer) => void;
};

type UpdatedSchema = Comparison & { readonly url: string; readonly bytes: Buffer };

const MOST_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const KEPT = t`The schema that was in use stays in use.`;

/**
 * Fetches the deployment's own schema, and keeps it if documents can be validated with it.
 * @throws UnavailableError where it cannot be had now; ContractError where what came is no schema for this profile
 */
export async function updateSchema(options: UpdateSchemaOptions): Promise<UpdatedSchema> {
  const { profile } = options;
  const url = schemaLocationOf(profile);
  const response = await fetchFollowing(options, url);
  refuseStatus(url, response);
  const charset = /;\s*charset\s*=\s*"?([\w.-]+)/i.exec(response.headers['content-type'] ?? '')?.[1];
  const schema = { url, bytes: response.body };
  const problem = await findSchemaProblem(schema, profile, charset);
  if (problem !== undefined) throw notUsable(url, problem);
  const comparison = await compareWithBundled(schema, profile);
  options.keep(url, response.body);
  return { ...comparison, ...schema };
}

async function fetchFollowing(options: UpdateSchemaOptions, start: string): Promise<HttpResponse> {
  let url = start;
  for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
    if (!options.isProtected(url)) {
      throw new ContractError(t`The schema would come from ${url}, which is not protected by TLS.`, {
        hint: t`Set schema_base to an https:// address, or allow_http = true if the network is your own. ${KEPT}`,
      });
    }
    const response = await get(options, url);
    if (!REDIRECTS.includes(response.status)) return response;
    const location = response.headers['location'];
    if (location === undefined || !URL.canParse(location, url))
      throw notUsable(url, t`the service redirects without saying where to`);
    url = new URL(location, url).href;
  }
  throw notUsable(start, t`the service redirects in a circle`);
}

async function get({ exchange, answerTimeoutMs }: UpdateSchemaOptions, url: string): Promise<HttpResponse> {
  try {
    return await exchange({
      method: 'GET',
      url,
      headers: { accept: '*/*', 'accept-encoding': 'identity' },
      answerTimeoutMs,
      maxAnswerBytes: MAX_SCHEMA_BYTES,
    });
  } catch (thrown) {
    if (!(thrown instanceof NoAnswerError)) throw thrown;
    if (thrown.reason === 'too-large') throw notUsable(url, thrown.message, thrown);
    throw new UnavailableError(t`${url} did not answer: ${thrown.message}.`, {
      cause: thrown,
      hint: t`${KEPT} Try again when there is a network.`,
    });
  }
}

function refuseStatus(url: string, { status }: HttpResponse): void {
  if (status === 200) return;
  if (status === 401 || status === 403) throw new AuthError(t`${url} may not be read (status ${status}).`, { hint: KEPT });
  if (status === 429 || status >= 500) {
    throw new UnavailableError(t`${url} cannot be had at the moment (status ${status}).`, { hint: t`${KEPT} Try again later.` });
  }
  throw notUsable(url, t`the service answered with status ${status}`);
}

function notUsable(url: string, problem: string, cause?: unknown): ContractError {
  return new ContractError(t`${url} is not used: ${problem}.`, {
    cause,
    hint: t`${KEPT} Check schema_base, prefix and schema_version of the profile, or ask the operator of the service.`,
  });
}
