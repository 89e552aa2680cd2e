import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getErrorMessage } from '../../base/error-message.ts';
import { parseJson, ShapeError } from '../../base/shape.ts';

/** Error of a seed folder; the message has the file, the place in it and the reason. */
export class SeedError extends Error {
  constructor(file: string, place: string, reason: string) {
    super(place === '' ? `${file}: ${reason}` : `${file}, ${place}: ${reason}`);
    this.name = 'SeedError';
  }
}

/** One entry of a seed file, with its position for messages. */
export type SeedRow = {
  readonly file: string;
  /** Such as `entry 3 (HES-000253)`. */
  readonly place: string;
  readonly value: Readonly<Record<string, unknown>>;
};

/**
 * Reads the entries of a file with a list of objects; none where it is missing.
 * @throws SeedError
 */
export function readRows(folder: string, file: string): SeedRow[] {
  const parsed = readJson(folder, file);
  if (parsed === undefined) return [];
  if (!Array.isArray(parsed))
    throw new SeedError(file, '', 'must hold a list of entries, in square brackets');
  return parsed.map((value: unknown, index) => {
    if (!isObject(value))
      throw new SeedError(file, `entry ${index + 1}`, 'must be an object, in braces');
    return { file, place: getPlace(value, index), value };
  });
}

/**
 * Reads a whole file; undefined where it is missing.
 * @throws SeedError
 */
export function readJson(folder: string, file: string): unknown {
  const path = join(folder, file);
  if (!existsSync(path)) return undefined;
  try {
    return parseJson(readFileSync(path, 'utf8'));
  } catch (thrown) {
    throw new SeedError(file, '', `cannot be read as JSON (${getErrorMessage(thrown)})`);
  }
}

/** Lists the JSON files of a subfolder by name; empty where it does not exist. */
export function listJsonFiles(folder: string, subfolder: string): string[] {
  const path = join(folder, subfolder);
  if (!existsSync(path)) return [];
  const names = readdirSync(path).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => join(subfolder, name));
}

/** Runs `work` and adds file and place of the entry to its ShapeError. */
export function runAtRow<T>(row: SeedRow, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof ShapeError) throw new SeedError(row.file, row.place, thrown.message);
    throw thrown;
  }
}

/** Tells if a value of JSON is an object, and no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function getPlace(value: Readonly<Record<string, unknown>>, index: number): string {
  const name = value['ident_cely'] ?? value['kod'] ?? value['username'];
  return typeof name === 'string' ? `entry ${index + 1} (${name})` : `entry ${index + 1}`;
}
