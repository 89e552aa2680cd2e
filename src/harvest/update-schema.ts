import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { hashSha512, listNamesInFolder } from '../base/disk/files.ts';
import { writePrivateFile } from '../base/disk/output-file.ts';
import { AuthError, ConfigError, ContractError } from '../base/errors.ts';
import { cmd, type Message, msg, t } from '../base/message.ts';
import {
  type DocumentProfile,
  findSchemaProblem,
  getSchemaLocation,
  getTargetNamespace,
  MAX_SCHEMA_BYTES,
  readBundledSchema,
} from '../finds/document.ts';
import {
  assertAvailable,
  type Exchange,
  followRedirects,
  type HttpResponse,
  makeNoAnswerError,
  TransportError,
  withRetry,
} from '../service/http/exchange.ts';

/** The schema with which documents are validated. */
export type SchemaInUse = {
  readonly url: string;
  readonly namespace: string;
  /** Undefined where the bundled schema is used. */
  readonly keptSchema: KeptSchema | undefined;
  readonly sha512Hex: string;
};

/**
 * Returns the schema with which documents are validated: the one that was fetched from the
 * deployment and kept, else the bundled one.
 * @param folder of the kept schema
 * @throws ConfigError where the kept schema is damaged, or pas has none of the profile's version
 */
export async function readSchemaInUse(
  profile: DocumentProfile,
  folder: string,
): Promise<SchemaInUse> {
  const keptSchema = readKeptSchema(folder);
  const { bytes } = keptSchema ?? (await readBundledSchema(profile));
  return {
    url: getSchemaLocation(profile),
    namespace: getTargetNamespace(profile),
    keptSchema,
    sha512Hex: hashSha512(bytes),
  };
}

/** Effect of a command on the kept schema. */
export type SchemaChange = 'fetched' | 'updated' | 'unchanged' | 'forgotten';

/**
 * Deletes the kept schema, also a damaged one, so that the bundled one is used.
 * @returns `forgotten`, or `unchanged` where there was none
 */
export function deleteKeptSchema(folder: string): SchemaChange {
  return deleteKeptSchemas(folder) ? 'forgotten' : 'unchanged';
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
 * Fetches the deployment's own schema, and keeps it if documents can be validated with it. After an
 * error the schema in use stays the same.
 * @returns `fetched` where none was kept, or a damaged one; `updated` in place of another one; else
 * `unchanged`
 * @throws UnavailableError where it cannot be fetched; AuthError for status 401 and 403;
 * ContractError where the address is not protected by TLS, a redirect cannot be followed, or the
 * answer is no schema for this profile; DatabaseError where the disk fails
 */
export async function updateSchema(options: UpdateSchemaOptions): Promise<SchemaChange> {
  const { profile, folder } = options;
  const before = readKeptOrUndefined(folder);
  const url = getSchemaLocation(profile);
  const response = await fetchWithRedirects(options, url);
  assertFound(url, response);
  const { body } = response;
  const problem = await findSchemaProblem({ url, bytes: body }, profile);
  if (problem !== undefined) throw makeUnusableError(url, problem);
  if (before?.bytes.equals(body) === true) return 'unchanged';
  storeKeptSchema(folder, body);
  return before === undefined ? 'fetched' : 'updated';
}

/**
 * Returns the kept schema; undefined without one, and for a damaged one, so that it is replaced.
 */
function readKeptOrUndefined(folder: string): KeptSchema | undefined {
  try {
    return readKeptSchema(folder);
  } catch (thrown) {
    if (thrown instanceof ConfigError) return undefined;
    throw thrown;
  }
}

/**
 * Requests an address, and follows redirects within its origin.
 * @throws ContractError where it is not protected by TLS, or leads elsewhere
 */
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
      headers: { accept: '*/*' },
      answerTimeoutMs,
      maxAnswerBytes: MAX_SCHEMA_BYTES,
    });
  } catch (thrown) {
    if (!(thrown instanceof TransportError)) throw thrown;
    if (thrown.reason === 'too-large') throw makeUnusableError(url, thrown.message, thrown);
    throw makeNoAnswerError(url, thrown, t`${KEPT} Try again later.`);
  }
}

function assertFound(url: string, response: HttpResponse): void {
  const { status } = response;
  if (status === 401 || status === 403)
    throw new AuthError(t`${url} is not accessible (status ${status}).`, { hint: KEPT });
  assertAvailable(url, response, t`${KEPT} Try again later.`);
  if (status === 200) return;
  throw makeUnusableError(url, t`the service answered with status ${status}`);
}

function makeUnusableError(url: string, problem: Message, cause?: unknown): ContractError {
  return new ContractError(t`${url} is not used: ${problem}.`, {
    cause,
    hint: t`${KEPT} Check schema_base, prefix and schema_version of the profile, or ask the operator of the service.`,
  });
}

/** A fetched schema on this disk. */
type KeptSchema = {
  /** Its name begins with the digest, so that a change of the file is noticed. */
  readonly path: string;
  readonly bytes: Buffer;
  /** By this machine's clock, in milliseconds since 1970 UTC. */
  readonly fetchedAtMs: number;
};

/**
 * Reads the schema that is kept in a folder; undefined where there is none.
 * @throws ConfigError where the file cannot be read, or was changed since it was fetched
 */
export function readKeptSchema(folder: string): KeptSchema | undefined {
  const [name] = listKeptNames(folder);
  if (name === undefined) return undefined;
  const path = join(folder, name);
  const bytes = readStoredBytes(path);
  if (makeKeptName(bytes) === name)
    return { path, bytes, fetchedAtMs: Math.floor(statSync(path).mtimeMs) };
  throw new ConfigError(t`${path} is damaged.`, {
    hint: t`Fetch it again with \`${cmd`pas schema --update`}\`.`,
  });
}

/**
 * Keeps a schema in a folder, in a file that is named by its digest. The one before is deleted once
 * the new file is complete.
 * @throws DatabaseError where the disk fails
 */
export function storeKeptSchema(folder: string, bytes: Buffer): void {
  const name = makeKeptName(bytes);
  writePrivateFile(join(folder, name), bytes);
  deleteKeptSchemas(folder, name);
}

/**
 * Deletes the schemas that are kept in a folder, also damaged ones.
 * @param except name of a file that stays
 * @returns false where there was nothing to delete
 */
function deleteKeptSchemas(folder: string, except?: string): boolean {
  const names = listKeptNames(folder).filter((name) => name !== except);
  for (const name of names) rmSync(join(folder, name), { force: true });
  return names.length > 0;
}

/** Lists the newest first: a killed process may have left the one before beside it. */
function listKeptNames(folder: string): string[] {
  const getTimeMs = (name: string): number => statSync(join(folder, name)).mtimeMs;
  return listNamesInFolder(folder)
    .filter((name) => /^[\da-f]{16}\.xsd$/.test(name))
    .sort((a, b) => getTimeMs(b) - getTimeMs(a));
}

function makeKeptName(bytes: Buffer): string {
  return `${hashSha512(bytes).slice(0, 16)}.xsd`;
}

function readStoredBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (thrown) {
    throw new ConfigError(t`${path} cannot be read.`, {
      cause: thrown,
      hint: t`Check its permissions.`,
    });
  }
}
