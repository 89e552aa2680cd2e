import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import { makeReferenceResolver } from '../../../src/finds/resolve-references.ts';
import type { Setting } from '../../../src/tables/columns/column-meaning.ts';
import {
  parseFindDefaults,
  parseSettings,
  parseSettingText,
} from '../../../src/tables/columns/settings.ts';

const context = {
  resolveReference: makeReferenceResolver((setSpec, cell) =>
    cell === 'spona'
      ? { kind: 'found', term: { id: 'HES-000605', label: 'spona', setSpec } }
      : { kind: 'unknown', nearest: [] },
  ),
  resolvePhoto: (name: string) => ({ value: `/photos/${name}` }),
};

function read(...texts: readonly string[]) {
  const settings = texts.map(parseSettingText);
  for (const setting of settings) if ('rule' in setting) throw new Error(setting.message);
  return parseSettings(settings as Setting[], 'K-1', context);
}

describe('element=value', () => {
  test('that cannot be read sets no other value either', () => {
    const { elements, issues } = read('depth_cm=deep', 'dating=early', 'lon=14.42');
    expect(elements).toEqual({ presna_datace: 'early' });
    expect(issues.map(({ rule }) => rule).sort()).toEqual(['coordinate', 'integer']);
  });

  test.each([
    ['depth', 'setting-form', 'element=value'],
    ['=3', 'setting-form', 'element=value'],
    ['depth_cm>=3', 'setting-form', 'element=value'],
    ['depth_cm!=3', 'setting-form', 'element=value'],
    ['dept_cm=3', 'element-unknown', 'Did you mean depth_cm'],
    ['dept=3', 'element-unknown', 'depth_cm'],
    ['whatever=3', 'element-unknown', 'hloubka, depth_cm'],
  ])('%s is refused', (text, rule, message) => {
    expect(parseSettingText(text)).toMatchObject({
      rule,
      message: expect.stringContaining(message),
    });
  });
});

describe('defaults of config.toml', () => {
  test.each([
    [{ depht_cm: 3 }, 'Did you mean depth_cm'],
    [{ depth_cm: 'deep' }, 'not a whole number'],
    [{ target_state: 4 }, 'no state that an import can reach'],
    [{ local_id: 'K-1' }, 'belongs to a single find'],
    [{ wkt: 'POINT (14 50)' }, 'belongs to a single find'],
    [{ registration_number: 'A 1' }, 'belongs to a single find'],
    [{ note: ['a'] }, 'must be a text'],
    ['spona', 'must be a table'],
  ])('%j are refused', (table, message) => {
    expect(() => parseFindDefaults('config.toml', table)).toThrow(ConfigError);
    expect(() => parseFindDefaults('config.toml', table)).toThrow(message);
  });
});
