import { describe, expect, test } from 'vitest';
import { FIELDS, type FindElements } from '../../../src/finds/fields.ts';
import type { AreaLookupResult } from '../../../src/finds/find.ts';
import { checkFindByRules, RULES } from '../../../src/finds/rules.ts';
import type { RuleContext } from '../../../src/finds/value-rules.ts';
import { aFind, lookupTerm, nothingHarvested } from './a-find.ts';

const CONTEXT: RuleContext = { today: '2024-11-20', lookupTerm };

type Overrides = { [Name in keyof FindElements]?: FindElements[Name] | undefined };

function judge(overrides: Overrides, context: Partial<RuleContext> = {}) {
  return checkFindByRules(aFind(overrides), { ...CONTEXT, ...context }).map(
    ({ rule, element, severity }) => [rule, element, severity],
  );
}

function getMessage(overrides: Overrides, context: Partial<RuleContext> = {}): string {
  return checkFindByRules(aFind(overrides), { ...CONTEXT, ...context })
    .map((issue) => issue.message)
    .join('\n');
}

test('every rule has its own name', () => {
  expect(new Set(RULES.map((rule) => rule.name)).size).toBe(RULES.length);
});

test('issues carry the place of the find and the header of the column', () => {
  const find = {
    ...aFind({ hloubka: undefined }),
    source: { file: 'season.csv', row: 7 },
    getColumn: (element: string) => (element === 'hloubka' ? 'Depth cm' : undefined),
  };
  expect(checkFindByRules(find, CONTEXT)).toMatchObject([
    {
      rule: 'required',
      severity: 'error',
      element: 'hloubka',
      find: 'K-017',
      file: 'season.csv',
      row: 7,
      column: 'Depth cm',
      message:
        'A find for state 3 needs hloubka (depth in whole centimetres). Fill it in, or choose state 1.',
    },
  ]);
});

describe('what a state needs', () => {
  const withoutPoint = FIELDS.filter(({ kind }) => kind !== 'point');
  test.each(withoutPoint)('$name is required from state $requiredFrom on', (field) => {
    const { name, requiredFrom = 4 } = field;
    for (const stav of [1, 2, 3] as const) {
      const issues = judge({ stav, [name]: undefined });
      if (stav < requiredFrom) expect(issues).toEqual([]);
      else expect(issues).toContainEqual(['required', name, 'error']);
      if (requiredFrom > 1 && stav >= requiredFrom) expect(issues).toHaveLength(1);
    }
  });

  test('a blank text or a reference without an identifier counts as absent', () => {
    expect(judge({ lokalizace: ' \n' })).toEqual([['required', 'lokalizace', 'error']]);
    expect(judge({ obdobi: { id: ' ', text: 'paleolit' } })).toEqual([
      ['required', 'obdobi', 'error'],
    ]);
  });

  test('state 3 needs the handover to be true, state 2 does not', () => {
    expect(judge({ predano: false })).toEqual([['handed-over', 'predano', 'error']]);
    expect(judge({ predano: false, stav: 2 })).toEqual([]);
  });

  test('the point is required from state 2 on, in the element that geom_system selects', () => {
    expect(judge({ stav: 1, geom_wkt: undefined })).toEqual([]);
    expect(judge({ stav: 2, geom_wkt: undefined })).toEqual([
      ['geometry-required', 'geom_wkt', 'error'],
    ]);
    expect(judge({ stav: 2, geom_system: '5514' })).toEqual([
      ['geometry-required', 'geom_sjtsk_wkt', 'error'],
    ]);
    expect(getMessage({ stav: 2, geom_system: '5514' })).toContain(
      'geom_system says 5514, but the point is in geom_wkt',
    );
  });
});

describe('the role', () => {
  test.each(['researcher'])('%s may import into state 1 only', (role) => {
    expect(judge({ stav: 1 }, { role })).toEqual([]);
    expect(judge({ stav: 2 }, { role })).toEqual([['role-state', 'stav', 'error']]);
    expect(judge({ stav: 3 }, { role })).toEqual([['role-state', 'stav', 'error']]);
  });

  test.each(['archaeologist', 'archivist', 'administrator'])(
    '%s may import into all three',
    (role) => {
      expect(judge({ stav: 3 }, { role })).toEqual([]);
    },
  );
});

describe('values', () => {
  test('a second comma in a new finder’s name is a warning: the service makes a person of the rest', () => {
    expect(judge({ nalezce: { id: ':tba', text: 'Novák, Jan, ml.' } })).toEqual([
      ['finder-name', 'nalezce', 'warning'],
    ]);
  });

  test('a date in the future is a warning, not refused', () => {
    expect(judge({ datum_nalezu: '2024-11-21' })).toEqual([
      ['date-plausible', 'datum_nalezu', 'warning'],
    ]);
  });

  test('before the first harvest membership is only a warning', () => {
    const findings = judge({}, { lookupTerm: nothingHarvested });
    expect(new Set(findings.map(([rule, , severity]) => `${rule} ${severity}`))).toEqual(
      new Set(['not-harvested warning']),
    );
    expect(findings).toHaveLength(6);
  });
});

describe('the point', () => {
  const inside: AreaLookupResult = {
    kind: 'inside',
    area: { id: 'ruian-672424', label: 'Všesoky', setSpec: 'ruian_katastr' },
  };

  test('it is looked up in degrees, whatever its system', () => {
    const lookups: [number, number][] = [];
    const lookupArea = (lon: number, lat: number) => {
      lookups.push([lon, lat]);
      return inside;
    };
    expect(judge({ geom_wkt: 'POINT (14.42 50.08)' }, { lookupArea })).toEqual([]);
    const sjtsk = {
      geom_system: '5514',
      geom_wkt: undefined,
      geom_sjtsk_wkt: 'POINT (-743011.72 -1043823.18)',
    } as const;
    expect(judge(sjtsk, { lookupArea })).toEqual([]);
    expect(lookups[0]).toEqual([14.42, 50.08]);
    expect(lookups[1]?.[0]).toBeCloseTo(14.42, 6);
    expect(lookups[1]?.[1]).toBeCloseTo(50.08, 6);
  });

  test('in no harvested cadastral area it is refused', () => {
    const lookupArea = (): AreaLookupResult => ({ kind: 'outside' });
    expect(judge({ stav: 1 }, { lookupArea })).toEqual([['geometry-area', 'geom_wkt', 'error']]);
    expect(getMessage({}, { lookupArea })).toBe(
      'The point 15.17120 49.84050 is not in any known cadastral area. Check the coordinates.',
    );
  });

  test('of whole degrees only is a warning, since its minutes or decimals may be lost', () => {
    expect(judge({ geom_wkt: 'POINT (14 50)' })).toEqual([
      ['geometry-range', 'geom_wkt', 'warning'],
    ]);
  });

  test('without areas a point outside the country is a warning', () => {
    expect(judge({ geom_wkt: 'POINT (11.5 48.1)' })).toEqual([
      ['geometry-area', 'geom_wkt', 'warning'],
    ]);
    expect(
      judge({ geom_wkt: 'POINT (11.5 48.1)' }, { lookupArea: () => ({ kind: 'not-harvested' }) }),
    ).toEqual([['geometry-area', 'geom_wkt', 'warning']]);
  });

  test.each([
    [12, 50.1],
    [18.95, 49.5],
    [15, 48.5],
    [15, 51.1],
  ])('without areas %f %f is inside the country', (lon, lat) => {
    expect(judge({ geom_wkt: `POINT (${lon} ${lat})` })).toEqual([]);
  });

  test.each([
    [11.99, 50],
    [18.96, 49.5],
    [15, 48.49],
    [15, 51.11],
  ])('without areas %f %f is outside the country, on any side', (lon, lat) => {
    expect(getMessage({ geom_wkt: `POINT (${lon} ${lat})` })).toBe(
      `The point ${lon.toFixed(5)} ${lat.toFixed(5)} is outside Czechia. Check the coordinates and their order.`,
    );
  });

  test('blanks around it do not count, and blanks alone are no point', () => {
    const lookups: number[] = [];
    const lookupArea = (lon: number) => {
      lookups.push(lon);
      return inside;
    };
    expect(judge({ geom_wkt: ' POINT (14.42 50.08) ' }, { lookupArea })).toEqual([]);
    expect(lookups).toEqual([14.42]);
    expect(judge({ geom_wkt: '  ' }, { lookupArea })).toEqual([
      ['geometry-required', 'geom_wkt', 'error'],
    ]);
    expect(judge({ geom_system: undefined, geom_wkt: 'nonsense' })).toEqual([
      ['required', 'geom_system', 'error'],
    ]);
  });
});

test('an issue about a state gives advice', () => {
  expect(getMessage({ projekt: undefined })).toBe(
    'Every find needs projekt (survey project). Fill it in.',
  );
  expect(getMessage({ predano: false })).toBe(
    'A find for state 3 must be handed over. Set predano to true, or choose state 2.',
  );
  expect(getMessage({ stav: 2, geom_wkt: undefined })).toBe(
    'A find for state 2 needs a point in geom_wkt. Fill in its coordinates, or choose state 1.',
  );
  expect(getMessage({ evidencni_cislo: undefined })).toMatch(/Fill it in, or choose state 2\.$/);
  const elsewhere = { geom_wkt: undefined, geom_sjtsk_wkt: 'POINT (-743011.72 -1043823.18)' };
  expect(getMessage({ stav: 2, ...elsewhere })).toContain(
    'geom_system says 4326, but the point is in geom_sjtsk_wkt',
  );
  expect(getMessage({ stav: 2 }, { role: 'researcher' })).toMatch(
    /^Your role is Researcher, .* ask an archaeologist to import it\. .*: pas whoami$/,
  );
});

test('a find without a state is validated for the first', () => {
  expect(
    judge({ stav: undefined, hloubka: undefined, geom_wkt: undefined }, { role: 'researcher' }),
  ).toEqual([['required', 'stav', 'error']]);
});
