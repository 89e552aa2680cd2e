import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type GeomSystem, parsePoint } from '../../src/finds/place/geometry.ts';
import { mapTableToFinds } from '../../src/tables/columns/map-table.ts';
import { parseFixedValues } from '../../src/tables/columns/settings.ts';
import { readTable } from '../../src/tables/readers.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** Files of each form; .ci/nightly makes a thousand of them in all. */
const FILES_EACH = Number(process.env['GDAL_FILES'] ?? 4);
const SEED = Number(process.env['GDAL_SEED'] ?? 19);

/** A missing GDAL is reported by the test; in CI it fails. */
function available(): boolean {
  if (process.env['CI'] !== undefined) return true;
  try {
    execFileSync('ogr2ogr', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

type Feature = {
  readonly point: readonly [number, number] | null;
  readonly poznamka: string | null;
  readonly lokalizace: string | null;
  readonly hloubka: number | null;
  readonly datum_nalezu: string | null;
  readonly presna_datace: string | null;
};

type Form = {
  readonly driver: string;
  readonly ending: string;
  readonly system?: GeomSystem;
  readonly options?: readonly string[];
  /** Columns that have the point, where the driver writes none. */
  readonly inColumns?: boolean;
  /** Options of the reader beside the file. */
  readonly constants?: readonly string[];
};

const CZECH = 'aábcčdďeéěfghiíjklmnňoópqrřsštťuúůvwxyýzžAÁČĎÉĚÍŇÓŘŠŤÚŮÝŽ';
const LETTERS = `${CZECH}„“–…§°€Łłßöü日本✓Ωж🏺`;

const FORMS: Readonly<Record<string, Form>> = {
  'GeoPackage in S-JTSK': { driver: 'GPKG', ending: 'gpkg', system: '5514' },
  GeoJSON: { driver: 'GeoJSON', ending: 'geojson', options: ['-lco', 'COORDINATE_PRECISION=9'] },
  'CSV with WKT in S-JTSK': {
    driver: 'CSV',
    ending: 'csv',
    system: '5514',
    options: ['-lco', 'GEOMETRY=AS_WKT', '-dim', 'XYZ'],
    constants: ['geom_system=5514'],
  },
};

function arbitraryText(): fc.Arbitrary<string> {
  const word = fc
    .array(fc.constantFrom(...LETTERS), { minLength: 1, maxLength: 12 })
    .map((all) => all.join(''));
  const mark = fc.constantFrom(' ', ' ', ', ', '; ', ' "', '" ', ' & ', ' < ', " '", ' 1,5 ');
  return fc
    .array(fc.tuple(word, mark), { minLength: 1, maxLength: 6 })
    .map((parts) =>
      parts
        .map(([text, between], index) => (index === parts.length - 1 ? text : text + between))
        .join(''),
    );
}

const DAY = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2024-12-31'), noInvalidDate: true })
  .map((day) => day.toISOString().slice(0, 10));

function arbitraryFeatures({ system = '4326' }: Form): fc.Arbitrary<readonly Feature[]> {
  const round = (digits: number) => (value: number) => Number(value.toFixed(digits));
  const between = (min: number, max: number) =>
    fc.double({ min, max, noNaN: true }).map(round(system === '4326' ? 8 : 3));
  const point =
    system === '4326'
      ? fc.tuple(between(12.2, 18.7), between(48.6, 51))
      : fc.tuple(between(-900_000, -440_000), between(-1_220_000, -940_000));
  const perhaps = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 4 });
  const feature = fc.record<Feature>({
    point: fc.option(point, { freq: 8 }),
    poznamka: perhaps(arbitraryText()),
    lokalizace: perhaps(arbitraryText()),
    hloubka: perhaps(fc.integer({ min: 0, max: 9999 })),
    datum_nalezu: perhaps(DAY),
    presna_datace: perhaps(arbitraryText()),
  });
  return fc.array(feature, { minLength: 1, maxLength: 25 });
}

/** Input for GDAL, with the point also in columns where it writes no other. */
function makeSource(
  features: readonly Feature[],
  { system = '4326', inColumns = false }: Form,
): string {
  return JSON.stringify({
    type: 'FeatureCollection',
    crs: { type: 'name', properties: { name: `urn:ogc:def:crs:EPSG::${system}` } },
    features: features.map(({ point, ...fields }, index) => ({
      type: 'Feature',
      geometry: point === null || inColumns ? null : { type: 'Point', coordinates: point },
      properties: {
        local_id: `G-${index}`,
        ...fields,
        ...(inColumns ? { lon: point?.[0] ?? null, lat: point?.[1] ?? null } : {}),
      },
    })),
  });
}

/** As one compares them: the texts, and the point as numbers. */
function getExpected(features: readonly Feature[]) {
  return features.map(({ point, ...fields }, index) => {
    const filled = Object.entries(fields).filter(([, value]) => value !== null);
    return { localId: `G-${index}`, point, ...Object.fromEntries(filled) };
  });
}

const PAS_FIELDS = ['poznamka', 'lokalizace', 'hloubka', 'datum_nalezu', 'presna_datace'] as const;

async function readBack(path: string, { constants = [], system = '4326' }: Form) {
  const { issues, rows } = mapTableToFinds(await readTable(path), {
    fixed: parseFixedValues(constants),
    lookupTerm: () => ({ kind: 'not-harvested' }),
    resolvePhoto: (name) => ({ value: name }),
  });
  const walked = [...rows];
  const errors = [...issues, ...walked.flatMap((row) => row.issues)].filter(
    ({ severity }) => severity === 'error',
  );
  const finds = walked.flatMap(({ find }) => (find === undefined ? [] : [find]));
  return {
    errors: errors.map(({ message }) => String(message)),
    finds: finds.map(({ localId, elements }) => {
      const wkt = system === '4326' ? elements.geom_wkt : elements.geom_sjtsk_wkt;
      const point = parsePoint(wkt ?? '');
      const filled = PAS_FIELDS.flatMap((name) =>
        elements[name] === undefined ? [] : [[name, elements[name]] as const],
      );
      return {
        localId,
        point: 'value' in point ? [Number(point.value.x), Number(point.value.y)] : (wkt ?? null),
        ...Object.fromEntries(filled),
      };
    }),
  };
}

/** A centimetre, in the system's own unit. */
const NEAR: Readonly<Record<GeomSystem, number>> = { '4326': 9e-8, '5514': 0.01 };

/** The same with the points that are near enough as they should be. */
function rounded(
  found: Awaited<ReturnType<typeof readBack>>['finds'],
  wanted: ReturnType<typeof getExpected>,
  system: GeomSystem,
) {
  return found.map((find, index) => {
    const own = find.point;
    const other = wanted[index]?.point;
    const isNear =
      Array.isArray(own) &&
      other != null &&
      own.every((value, axis) => Math.abs(value - (other[axis] ?? 0)) < NEAR[system]);
    return isNear ? { ...find, point: other } : find;
  });
}

const run = promisify(execFile);

describe.skipIf(!available())('files written by GDAL (Debian gdal-bin) are read correctly:', () => {
  test.each(Object.entries(FORMS))('%s', async (_, form) => {
    const folder = tempFolder();
    const seasons = fc.sample(arbitraryFeatures(form), { seed: SEED, numRuns: FILES_EACH });
    for (const [index, features] of seasons.entries()) {
      const source = join(folder, `${index}.source.json`);
      const file = join(folder, `season-${index}.${form.ending}`);
      writeFileSync(source, makeSource(features, form));
      await run('ogr2ogr', ['-f', form.driver, file, source, ...(form.options ?? [])]);
      const { errors, finds } = await readBack(file, form);
      const wanted = getExpected(features);
      expect(errors).toEqual([]);
      expect(rounded(finds, wanted, form.system ?? '4326')).toEqual(wanted);
    }
    expect(seasons).toHaveLength(FILES_EACH);
  });
});
