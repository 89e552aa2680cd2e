import { readFileSync } from 'node:fs';
import { ConfigError } from '../base/errors.ts';
import { writePrivateFile } from './files.ts';

/** What signs a profile in. It is kept apart from the configuration and is never printed. */
export type Secrets = { readonly password?: string; readonly token?: string };

export type SecretStore = {
  get(profile: string): Secrets;
  set(profile: string, secrets: Secrets): void;
  remove(profile: string): void;
};

/** Secrets in one file that only its owner can read. */
export function fileSecrets(path: string): SecretStore {
  const change = (edit: (all: Record<string, Secrets>) => void): void => {
    const all = readAll(path);
    edit(all);
    writePrivateFile(path, `${JSON.stringify(all, null, 2)}\n`);
  };
  return {
    get: (profile) => readAll(path)[profile] ?? {},
    set: (profile, secrets) =>
      change((all) => {
        all[profile] = secrets;
      }),
    remove: (profile) =>
      change((all) => {
        delete all[profile];
      }),
  };
}

function readAll(path: string): Record<string, Secrets> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return {};
    throw new ConfigError(`${path} cannot be read.`, { cause: thrown, hint: 'Check its permissions.' });
  }
  try {
    const all: unknown = JSON.parse(text);
    if (typeof all === 'object' && all !== null) return all as Record<string, Secrets>;
  } catch {
    // The parser's message would quote the file, so it is not passed on.
  }
  throw new ConfigError(`${path} is damaged.`, { hint: 'Delete it and run `pas login` again.' });
}
