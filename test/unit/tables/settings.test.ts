import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import { makeReferenceResolver } from '../../../src/finds/resolve-references.ts';
import type { Setting } from '../../../src/tables/columns/column-rule.ts';
import {
  mergeDefaults,
  parseFindDefaults,
  parseSettings,
  parseSettingText,
  parseSettingTexts,
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
  test('is read like a table cell, by the contract’s name or the English one', () => {
    expect(read('object_type=spona', 'hloubka=35', 'lon=14,42', 'lat=50,08', 'note=a = b')).toEqual(
      {
        elements: {
          hloubka: 35,
          druh_nalezu: { id: 'HES-000605', text: 'spona' },
          poznamka: 'a = b',
          geom_system: '4326',
          geom_wkt: 'POINT (14.42 50.08)',
        },
        photos: [],
        issues: [],
      },
    );
  });

  test('that cannot be read sets no other value either', () => {
    const { elements, issues } = read('depth_cm=deep', 'dating=early', 'lon=14.42');
    expect(elements).toEqual({ presna_datace: 'early' });
    expect(issues.map(({ rule }) => rule).sort()).toEqual(['coordinate', 'integer']);
  });

  test('given twice is refused, also under both names', () => {
    const { elements, issues } = read('depth_cm=3', 'dating=early', 'hloubka=4');
    expect(issues.map(({ rule, element }) => [rule, element])).toEqual([
      ['setting-twice', 'hloubka'],
    ]);
    expect(elements).toEqual({ presna_datace: 'early' });
    expect(() => parseSettingTexts(['depth_cm=3', 'hloubka=4'])).toThrow('hloubka is given twice');
  });

  test.each([
    ['depth', 'setting-form', 'element=value'],
    ['=3', 'setting-form', 'element=value'],
    ['dept_cm=3', 'element-unknown', 'Did you mean depth_cm'],
    ['dept=3', 'element-unknown', 'Did you mean depth_cm'],
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

  test('of a project take precedence over those of the profile', () => {
    const file = {
      profiles: new Map([
        ['museum', parseFindDefaults('', { context: 'sběr', finder: 'Novák, Jan' })],
      ]),
      projects: new Map([['C-1', parseFindDefaults('', { okolnosti: 'výkop' })]]),
    };
    const values = (project: string | undefined) =>
      Object.fromEntries(
        mergeDefaults(file, 'museum', project).map(({ name, value }) => [name, value]),
      );
    expect(values('C-1')).toEqual({ okolnosti: 'výkop', nalezce: 'Novák, Jan' });
    expect(values('C-2')).toEqual({ okolnosti: 'sběr', nalezce: 'Novák, Jan' });
    expect(mergeDefaults(file, 'other', undefined)).toEqual([]);
  });
});
