import type { Clock } from '../base/clock.ts';
import {
  deleteKeptFile,
  hashSha512,
  type KeptFile,
  readKeptFile,
  storeKeptFile,
} from '../base/disk/files.ts';
import { AuthError, ConfigError, ContractError } from '../base/errors.ts';
import { type Message, msg, t } from '../base/message.ts';
import {
  type DocumentProfile,
  findSchemaProblem,
  getNamespace,
  getSchemaLocation,
  isSameAsBundled,
  MAX_SCHEMA_BYTES,
  readBundledSchema,
} from '../finds/document.ts';
import {
  type Exchange,
  followRedirects,
  type HttpResponse,
  makeClosedError,
  makeNoAnswerError,
  TransportError,
  withRetry,
} from '../service/http/exchange.ts';

/** The schema that documents are validated with; its address, and whether pas brought it. */
export type SchemaInUse = {
  readonly url: string;
  readonly namespace: string;
  /** The deployment's own schema; undefined where the bundled one is used. */
  readonly keptFile: KeptFile | undefined;
  readonly sha512Hex: string;
  readonly sameAsBundled: boolean;
};

/**
 * Returns the schema that documents are validated with.
 * @param folder place of the deployment's own schema
 * @throws ConfigError where that is damaged, or pas has none of the version
 */
export async function findSchemaInUse(
  profile: DocumentProfile,
  folder: string,
): Promise<SchemaInUse> {
  const keptFile = readKeptFile(folder);
  const addresses = { url: getSchemaLocation(profile), namespace: getNamespace(profile) };
  if (keptFile !== undefined) {
    return {
      ...addresses,
      keptFile,
      sha512Hex: keptFile.sha512Hex,
      sameAsBundled: await isSameAsBundled(keptFile.bytes, profile),
    };
  }
  const { bytes } = await readBundledSchema(profile);
  return {
    ...addresses,
    keptFile,
    sha512Hex: hashSha512(bytes),
    sameAsBundled: true,
  };
}

/** Outcome of an update of the stored schema. */
export type SchemaChange = 'fetched' | 'updated' | 'unchanged' | 'forgotten';

/**
 * Removes the stored schema, so that the bundled one is used; `unchanged` where none was stored.
 */
export function removeSchema(folder: string): SchemaChange {
  return deleteKeptFile(folder) ? 'forgotten' : 'unchanged';
}

type UpdateSchemaOptions = {
  readonly profile: DocumentProfile;
  readonly folder: string;
  readonly send: Exchange;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onWait: (waitMs: number, reason: Message) => void;
  readonly answerTimeoutMs: number;
  /** Tells if an address has TLS or belongs to this machine. */
  readonly isProtected: (url: string) => boolean;
};

const MAX_ATTEMPTS = 3;
const KEPT = msg`The current schema stays in use.`;

/**
 * Fetches the deployment's own schema, and stores it if documents can be validated with it.
 * @throws UnavailableError where it cannot be fetched; ContractError where the answer is no schema
 * for this profile
 */
export async function updateSchema(options: UpdateSchemaOptions): Promise<SchemaChange> {
  const { profile, folder, clock } = options;
  const before = readKeptOrUndefined(folder);
  const url = getSchemaLocation(profile);
  const { status, headers, body } = await fetchWithRedirects(options, url);
  assertStatus(url, status);
  const charset = /;\s*charset\s*=\s*"?([\w.-]+)/i.exec(headers['content-type'] ?? '')?.[1];
  const problem = await findSchemaProblem({ url, bytes: body }, profile, charset);
  if (problem !== undefined) throw makeUnusableError(url, problem);
  const isSame = before?.bytes.equals(body) === true;
  const now = clock.now();
  const fetchedAtMs = isSame ? before.fetchedAtMs : now;
  storeKeptFile(folder, { url, bytes: body, fetchedAtMs, checkedAtMs: now });
  if (before === undefined) return 'fetched';
  return isSame ? 'unchanged' : 'updated';
}

/** Returns the stored schema; undefined where it is damaged, so that it is replaced. */
function readKeptOrUndefined(folder: string): KeptFile | undefined {
  try {
    return readKeptFile(folder);
  } catch (thrown) {
    if (thrown instanceof ConfigError) return undefined;
    throw thrown;
  }
}

async function fetchWithRedirects(
  options: UpdateSchemaOptions,
  start: string,
): Promise<HttpResponse> {
  if (!options.isProtected(start)) {
    throw new ContractError(
      t`The schema would come from ${start}, which is not protected by TLS.`,
      {
        hint: t`Set schema_base to an https:// address, or allow_http = true if the network is your own. ${KEPT}`,
      },
    );
  }
  const { response } = await followRedirects(start, {
    send: (url) => sendGet(options, url),
    choose: (from, { origin, pathname, search }) => {
      if (origin === new URL(start).origin) return origin + pathname + search;
      throw makeUnusableError(
        from,
        t`it redirects to another service (${origin}), and pas does not follow that`,
      );
    },
    makeError: makeUnusableError,
  });
  return response;
}

async function sendGet(options: UpdateSchemaOptions, url: string): Promise<HttpResponse> {
  const { send, clock, random, onWait, answerTimeoutMs } = options;
  try {
    return await withRetry(send, { clock, random, onWait, attempts: MAX_ATTEMPTS })({
      method: 'GET',
      url,
      headers: { accept: '*/*', 'accept-encoding': 'identity' },
      answerTimeoutMs,
      maxAnswerBytes: MAX_SCHEMA_BYTES,
    });
  } catch (thrown) {
    if (!(thrown instanceof TransportError)) throw thrown;
    if (thrown.reason === 'too-large') throw makeUnusableError(url, thrown.message, thrown);
    throw makeNoAnswerError(url, thrown, t`${KEPT} Try again later.`);
  }
}

function assertStatus(url: string, status: number): void {
  if (status === 200) return;
  if (status === 401 || status === 403)
    throw new AuthError(t`${url} is not accessible (status ${status}).`, { hint: KEPT });
  if (status === 429 || status >= 500)
    throw makeClosedError(url, status, t`${KEPT} Try again later.`);
  throw makeUnusableError(url, t`the service answered with status ${status}`);
}

function makeUnusableError(url: string, problem: Message, cause?: unknown): ContractError {
  return new ContractError(t`${url} is not used: ${problem}.`, {
    cause,
    hint: t`${KEPT} Check schema_base, prefix and schema_version of the profile, or ask the operator of the service.`,
  });
}
