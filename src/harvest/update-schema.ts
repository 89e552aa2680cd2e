import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { createRowGuard, type GuardedType, isNumber, isText } from '../base/disk/database.ts';
import { hashSha512, listNamesInFolder } from '../base/disk/files.ts';
import { writePrivateFile } from '../base/disk/output-file.ts';
import { AuthError, ConfigError, ContractError, getErrorCode } from '../base/errors.ts';
import { cmd, type Message, msg, t } from '../base/message.ts';
import {
  type DocumentProfile,
  findSchemaProblem,
  getNamespace,
  getSchemaLocation,
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

/** The schema that documents are validated with; its address, and whether pas brought it. */
export type SchemaInUse = {
  readonly url: string;
  readonly namespace: string;
  /** The deployment's own schema; undefined where the bundled one is used. */
  readonly keptFile: KeptFile | undefined;
  readonly sha512Hex: string;
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
  const { bytes } = keptFile ?? (await readBundledSchema(profile));
  return {
    url: getSchemaLocation(profile),
    namespace: getNamespace(profile),
    keptFile,
    sha512Hex: hashSha512(bytes),
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
 * Fetches the deployment's own schema, and stores it if documents can be validated with it; else
 * the stored one stays.
 * @throws UnavailableError where it cannot be fetched; AuthError for status 401 and 403;
 * ContractError where the address or a redirect is not protected by TLS, a redirect cannot be
 * followed, or the answer is no schema for this profile; DatabaseError where the disk fails
 */
export async function updateSchema(options: UpdateSchemaOptions): Promise<SchemaChange> {
  const { profile, folder, clock } = options;
  const before = readKeptOrUndefined(folder);
  const url = getSchemaLocation(profile);
  const response = await fetchWithRedirects(options, url);
  assertFound(url, response);
  const { headers, body } = response;
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

function assertFound(url: string, response: HttpResponse): void {
  const { status } = response;
  if (status === 200) return;
  if (status === 401 || status === 403)
    throw new AuthError(t`${url} is not accessible (status ${status}).`, { hint: KEPT });
  assertAvailable(url, response, t`${KEPT} Try again later.`);
  throw makeUnusableError(url, t`the service answered with status ${status}`);
}

function makeUnusableError(url: string, problem: Message, cause?: unknown): ContractError {
  return new ContractError(t`${url} is not used: ${problem}.`, {
    cause,
    hint: t`${KEPT} Check schema_base, prefix and schema_version of the profile, or ask the operator of the service.`,
  });
}

/** A fetched file and its source. Times are milliseconds since 1970 UTC by this machine's clock. */
export type KeptFile = {
  readonly path: string;
  readonly url: string;
  readonly bytes: Buffer;
  readonly sha512Hex: string;
  readonly fetchedAtMs: number;
  /** Time of the last request to the source, whether it had changed or not. */
  readonly checkedAtMs: number;
};

const isCard = createRowGuard({
  url: isText,
  sha512Hex: isText,
  fetchedAtMs: isNumber,
  checkedAtMs: isNumber,
});
type Card = GuardedType<typeof isCard>;

const CARD = 'current.json';

/**
 * Reads the stored file of a folder; undefined where there is none.
 * @throws ConfigError where it differs from the fetched one
 */
export function readKeptFile(folder: string): KeptFile | undefined {
  const card = readCard(folder);
  if (card === undefined) return undefined;
  const path = getKeptPath(folder, card);
  const bytes = readOrUndefined(path);
  if (bytes === undefined || hashSha512(bytes) !== card.sha512Hex) throw makeDamagedError(path);
  return { ...card, path, bytes };
}

/**
 * Stores a file in place of the previous one. The card that names it by its digest is replaced last
 * and atomically.
 * @throws DatabaseError where the disk fails
 */
export function storeKeptFile(
  folder: string,
  { url, bytes, fetchedAtMs, checkedAtMs }: Omit<KeptFile, 'path' | 'sha512Hex'>,
): void {
  const card: Card = { url, sha512Hex: hashSha512(bytes), fetchedAtMs, checkedAtMs };
  const path = getKeptPath(folder, card);
  writePrivateFile(path, bytes);
  writePrivateFile(join(folder, CARD), `${JSON.stringify(card, null, 2)}\n`);
  removeKeptFiles(folder, basename(path));
}

/**
 * Removes the stored file of a folder, also a damaged one.
 * @returns false where there was none
 */
export function deleteKeptFile(folder: string): boolean {
  const had = existsSync(join(folder, CARD));
  // The card first: without it, the file is not in use.
  rmSync(join(folder, CARD), { force: true });
  removeKeptFiles(folder);
  return had;
}

/** @param except name of the file that the card names; without it, all are removed */
function removeKeptFiles(folder: string, except?: string): void {
  for (const name of listNamesInFolder(folder))
    if (/^[\da-f]{16}\.xsd$/.test(name) && name !== except)
      rmSync(join(folder, name), { force: true });
}

function getKeptPath(folder: string, { sha512Hex }: Card): string {
  return join(folder, `${sha512Hex.slice(0, 16)}.xsd`);
}

function readCard(folder: string): Card | undefined {
  const path = join(folder, CARD);
  const text = readOrUndefined(path);
  if (text === undefined) return undefined;
  try {
    const card: unknown = JSON.parse(String(text));
    if (isCard(card)) return card;
  } catch {
    // Reported below, together with JSON that is no card.
  }
  throw makeDamagedError(path);
}

function readOrUndefined(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(getErrorCode(thrown))) return undefined;
    throw new ConfigError(t`${path} cannot be read.`, {
      cause: thrown,
      hint: t`Check its permissions.`,
    });
  }
}

function makeDamagedError(path: string): ConfigError {
  return new ConfigError(t`${path} is damaged.`, {
    hint: t`Fetch it again with \`${cmd`pas schema --update`}\`.`,
  });
}
