import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, getErrorCode } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { cmd } from '../base/message.ts';
import { writePrivateFile } from './files.ts';

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

type Card = { file: string; url: string; sha512: string; fetched_at: string; checked_at: string };

const CARD = 'current.json';

/**
 * Reads the stored file of a folder; undefined where there is none.
 * @throws ConfigError where it differs from the fetched one
 */
export function readKept(folder: string): KeptFile | undefined {
  const card = readCard(folder);
  if (card === undefined) return undefined;
  const path = join(folder, card.file);
  const bytes = readOrUndefined(path);
  if (bytes === undefined || hashHex(bytes) !== card.sha512) {
    throw makeDamagedError(
      bytes === undefined ? t`${path} is missing` : t`${path} was changed since it was fetched`,
    );
  }
  return {
    path,
    url: card.url,
    bytes,
    sha512Hex: card.sha512,
    fetchedAtMs: Date.parse(card.fetched_at),
    checkedAtMs: Date.parse(card.checked_at),
  };
}

/**
 * Stores a file in place of the previous one. The card that names it is replaced last and
 * atomically.
 */
export function keep(
  folder: string,
  name: string,
  url: string,
  bytes: Buffer,
  nowMs: number,
): void {
  const before = readCardOrNothing(folder);
  const sha512 = hashHex(bytes);
  const now = new Date(nowMs).toISOString();
  const same = before?.sha512 === sha512;
  const file = `${sha512.slice(0, 16)}-${name}`;
  writePrivateFile(join(folder, file), bytes);
  const card: Card = {
    file,
    url,
    sha512,
    fetched_at: same ? before.fetched_at : now,
    checked_at: now,
  };
  writePrivateFile(join(folder, CARD), `${JSON.stringify(card, null, 2)}\n`);
  if (before !== undefined && before.file !== file)
    rmSync(join(folder, before.file), { force: true });
}

/** @returns false where there was none */
export function forget(folder: string): boolean {
  const card = readCardOrNothing(folder);
  const had = readOrUndefined(join(folder, CARD)) !== undefined;
  // The card first: without it, the file is not in use.
  rmSync(join(folder, CARD), { force: true });
  if (card !== undefined) rmSync(join(folder, card.file), { force: true });
  return had;
}

function readCard(folder: string): Card | undefined {
  const path = join(folder, CARD);
  const text = readOrUndefined(path)?.toString('utf8');
  if (text === undefined) return undefined;
  try {
    const card: unknown = JSON.parse(text);
    if (isCard(card)) return card;
  } catch {
    // Reported below, together with JSON that is no card.
  }
  throw makeDamagedError(t`${path} is damaged`);
}

/** For a replacement, a damaged card counts as missing. */
function readCardOrNothing(folder: string): Card | undefined {
  try {
    return readCard(folder);
  } catch (thrown) {
    if (thrown instanceof ConfigError) return undefined;
    throw thrown;
  }
}

function isCard(value: unknown): value is Card {
  const card = value as Partial<Record<keyof Card, unknown>> | null;
  const texts = [card?.file, card?.url, card?.sha512, card?.fetched_at, card?.checked_at];
  return (
    texts.every((text) => typeof text === 'string') &&
    /^[\w.-]+$/.test(String(card?.file)) &&
    ![card?.fetched_at, card?.checked_at].some((time) => Number.isNaN(Date.parse(String(time))))
  );
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

function makeDamagedError(what: string): ConfigError {
  return new ConfigError(`${what}.`, {
    hint: t`Fetch it again with \`${cmd`pas schema --update`}\`.`,
  });
}

function hashHex(bytes: Buffer): string {
  return createHash('sha512').update(bytes).digest('hex');
}
