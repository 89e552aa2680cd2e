import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  changeConfigFile,
  findOutboxName,
  listProfilesOfOutbox,
  readConfigFile,
} from '../../../src/cli/context/config.ts';
import { makeDataPaths, makeOutboxPaths } from '../../../src/cli/context/places.ts';

import { manualClock } from '../../support/manual-clock.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const PROFILE =
  'base_url = "https://finds.example.org"\nschema_base = "https://finds.example.org/s"\nkind = "training"\n';

function scene(text: string) {
  const places = makeDataPaths({ PAS_HOME: tempFolder(), PAS_STATE: tempFolder() });
  writeFileSync(places.configFile, text);
  return { places, clock: manualClock(), read: () => readConfigFile(places.configFile) };
}

test('profiles of one service and user, however written, have one outbox, in the data home', () => {
  const { places, read } = scene(
    `[profiles.one]\n${PROFILE}username = "eva"\n[profiles.two]\n${PROFILE.replace('https://finds.example.org"', 'HTTPS://Finds.example.org///"')}username = " Eva"\nprefix = "amcr"\n[profiles.jan]\n${PROFILE}username = "jan"\n`,
  );
  const name = findOutboxName(read().profiles.get('one') ?? {}) ?? '';
  expect(listProfilesOfOutbox(read(), name)).toEqual(['one', 'two']);
  expect(makeOutboxPaths(places, name).photosFolder).toBe(
    join(places.home, 'outboxes', name, 'photos'),
  );
});

test('a change keeps the rest of the configuration', () => {
  const text = `lang = "cs"\n[profiles.one]\n${PROFILE}[profiles.one.defaults]\nnalezce = "x"\n`;
  const { places, clock, read } = scene(text);
  const before = read();
  changeConfigFile(places, clock, (config) => ({ ...config, defaultProfile: 'one' }));
  expect(read()).toEqual({ ...before, defaultProfile: 'one' });
  const written = readFileSync(places.configFile, 'utf8');
  changeConfigFile(places, clock, (config) => config);
  expect(readFileSync(places.configFile, 'utf8')).toBe(written);
});
