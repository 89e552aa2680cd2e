import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOutboxName, readConfigFile } from '../../src/cli/context/config.ts';

import { everythingIn } from './hostile-disk.ts';
import type { Home, Run } from './run-pas.ts';

/** The name of a profile's outbox. */
export function getOutboxName(home: Home, profile = 'mock'): string {
  const settings = readConfigFile(configFile(home)).profiles.get(profile);
  return findOutboxName(settings ?? {}) ?? '';
}

/** The folder of a profile's outbox. */
export function outboxFolder(home: Home, profile = 'mock'): string {
  return join(home.folder, 'pas', 'outboxes', getOutboxName(home, profile));
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
