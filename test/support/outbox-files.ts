import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseToml } from '../../src/store/toml.ts';
import { everythingIn } from './hostile-disk.ts';
import type { Home, Run } from './run-pas.ts';

/** UUID of a profile's outbox, as config.toml has it. */
export function getOutboxId(home: Home, profile = 'mock'): string {
  const { profiles } = parseToml(readFileSync(configFile(home), 'utf8')) as {
    profiles?: Record<string, { outbox?: string }>;
  };
  const id = profiles?.[profile]?.outbox;
  if (id === undefined) throw new Error(`profile ${profile} has no outbox yet`);
  return id;
}

/** The folder of a profile's outbox. */
export function outboxFolder(home: Home, profile = 'mock'): string {
  return join(home.folder, 'pas', 'outboxes', getOutboxId(home, profile));
}

export function outboxFile(home: Home, profile = 'mock'): string {
  return join(outboxFolder(home, profile), 'outbox.sqlite');
}

/** The copies of queued photographs, named after their digests. */
export function findPhotographCopies(home: Home): string[] {
  return everythingIn(join(outboxFolder(home), 'photos')).filter((path) =>
    /\/[0-9a-f]{128}$/.test(path),
  );
}

/** Pushes without the search of the service before: the profile does not sign in for harvesting. */
export async function pushUnchecked(home: Home, ...flags: string[]): Promise<Run> {
  const text = readFileSync(configFile(home), 'utf8');
  writeFileSync(configFile(home), text.replaceAll('oai_auth = "basic"', 'oai_auth = "none"'));
  const run = await home.pas('push', ...flags);
  writeFileSync(configFile(home), text);
  return run;
}

export function configFile(home: Home): string {
  return join(home.folder, 'pas', 'config.toml');
}
