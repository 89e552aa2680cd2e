import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  assignOutbox,
  changeConfigFile,
  findSimilarProfiles,
  setProfilesOutbox,
} from '../../../src/context/change-config.ts';
import { listProfilesOfOutbox, readConfigFile } from '../../../src/context/config.ts';
import { makeOutboxPlaces, makePlaces } from '../../../src/context/places.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tempFolder } from '../../support/temp-outbox.ts';

const PROFILE =
  'base_url = "https://finds.example.org"\nschema_base = "https://finds.example.org/s"\nkind = "training"\n';

function scene(text: string) {
  const places = makePlaces({ PAS_HOME: tempFolder(), PAS_STATE: tempFolder() });
  writeFileSync(places.configFile, text);
  return { places, clock: manualClock(), read: () => readConfigFile(places.configFile) };
}

describe('the outbox of a profile', () => {
  test('is that of a profile with the same service and account, else a new one that both name', () => {
    const { places, clock, read } = scene(
      `[profiles.one]\n${PROFILE}username = "eva"\n[profiles.two]\n${PROFILE}username = "eva"\nprefix = "svc"\n[profiles.jan]\n${PROFILE}username = "jan"\n`,
    );
    const id = assignOutbox(places, clock, 'one');
    expect(listProfilesOfOutbox(read(), id)).toEqual(['one', 'two']);
    expect(assignOutbox(places, clock, 'two')).toBe(id);
    expect(assignOutbox(places, clock, 'jan')).not.toBe(id);
    expect(findSimilarProfiles(read(), 'one', read().profiles.get('one') ?? {})).toEqual(['two']);
    expect(assignOutbox(places, clock, 'one', id)).not.toBe(id);
  });

  test('may be one that another command chose', () => {
    const { places, clock, read } = scene(`[profiles.one]\n${PROFILE}`);
    const id = assignOutbox(places, clock, 'one');
    const other = '0a1b2c3d-0000-4000-8000-000000000001';
    changeConfigFile(places, clock, (config) =>
      setProfilesOutbox(config, listProfilesOfOutbox(config, id), other),
    );
    expect(read().profiles.get('one')).toMatchObject({ outbox: other, kind: 'training' });
  });

  test.each(['../../etc', 'A0000000-0000-4000-8000-000000000000', ''])(
    'never gets the name %j',
    (name) => {
      const { places, read } = scene(`[profiles.one]\n${PROFILE}outbox = "${name}"\n`);
      expect(read).toThrow(/must be a UUID/);
      expect(() => makeOutboxPlaces(places, name)).toThrow(/must be a UUID/);
    },
  );
});

test('a change keeps the rest of the configuration', () => {
  const text = `lang = "cs"\n[profiles.one]\n${PROFILE}[profiles.one.projects]\n"C-1" = "C-2"\n[profiles.one.defaults]\nnalezce = "x"\n`;
  const { places, clock, read } = scene(text);
  const before = read();
  expect(before).toMatchObject({
    projectMaps: new Map([['one', { 'C-1': 'C-2' }]]),
  });
  changeConfigFile(places, clock, (config) => ({ ...config, defaultProfile: 'one' }));
  expect(read()).toEqual({ ...before, defaultProfile: 'one' });
  const written = readFileSync(places.configFile, 'utf8');
  changeConfigFile(places, clock, (config) => config);
  expect(readFileSync(places.configFile, 'utf8')).toBe(written);
});

test.each(['journal = "beside"', `[profiles.one]\n${PROFILE}projects = "C-1"`])(
  '%j is refused',
  (text) => {
    expect(scene(text).read).toThrow(/unknown key journal|projects must be a table/);
  },
);

test('outboxes are stored in the data home', () => {
  const { places } = scene('');
  const id = '0a1b2c3d-0000-4000-8000-000000000001';
  expect(makeOutboxPlaces(places, id).photosFolder).toBe(
    join(places.home, 'outboxes', id, 'photos'),
  );
});
