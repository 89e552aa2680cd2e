import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { FILE_BASE } from '../../base/addresses.ts';
import {
  array,
  filledTexts,
  flag,
  integer,
  object,
  optional,
  optionalTexts,
  type Reader,
  ShapeError,
  text,
} from '../../base/shape.ts';
import { orderChildren, withoutAbsent } from '../records/child-order.ts';
import type { Body } from '../records/record.ts';
import type { SeedPhotograph } from '../seed-content.ts';
import type { Places } from './places.ts';
import type { References } from './references.ts';
import { TIMES, withoutMissing } from './registers.ts';
import { runAtRow, type SeedRow } from './seed-files.ts';

const anything: Reader<unknown> = (value) => value;

/** One entry of `finds.json`. District, cadastral area and both geometries follow from `point`. */
const find = object({
  ...filledTexts('ident_cely', 'pristupnost'),
  ...optionalTexts(
    'evidencni_cislo',
    'igsn',
    'okolnosti',
    'obdobi',
    'presna_datace',
    'druh_nalezu',
    'specifikace',
    'pocet',
  ),
  ...optionalTexts(
    'poznamka',
    'nalezce',
    'datum_nalezu',
    'predano_organizace',
    'geom_system',
    'lokalizace',
  ),
  /** Default: the part of the identifier before `-N`. */
  ...optionalTexts('projekt'),
  hloubka: optional(integer({ min: 0 })),
  stav: integer({ min: 1, max: 4 }),
  predano: optional(flag),
  /** Longitude and latitude. */
  point: optional(anything),
  historie: optional(anything),
  /** Names of files in the folder `photographs`. */
  photographs: optional(array(text({ min: 1 }))),
  ...TIMES,
});

/** Elements that are text as they are given. */
const TEXTS = [
  'ident_cely',
  'evidencni_cislo',
  'igsn',
  'hloubka',
  'presna_datace',
  'pocet',
  'poznamka',
  'datum_nalezu',
  'stav',
] as const;
/** Elements that are given as the identifier of another record. */
const REFERRING = [
  'okolnosti',
  'obdobi',
  'druh_nalezu',
  'specifikace',
  'nalezce',
  'predano_organizace',
  'pristupnost',
] as const;

/** A find of a seed, with the identifier of its project. */
export type SeedFind = {
  readonly body: Body;
  readonly project: string;
  readonly photographs: readonly SeedPhotograph[];
};

/**
 * Makes a find with its project and photographs.
 * @throws SeedError for an invalid value, or a point outside all areas
 */
export function makeFindBody(
  row: SeedRow,
  references: References,
  places: Places,
  folder: string,
): SeedFind {
  return runAtRow(row, () => {
    const values = find(row.value);
    const project = values.projekt ?? values.ident_cely.replace(/-N\d{5}$/, '');
    const place =
      values.point === undefined ? undefined : places.locatePoint(values.point, 'point');
    if (place !== undefined && place.area === undefined)
      throw new ShapeError('point', 'lies in no cadastral area of this seed');
    const history =
      values.historie === undefined ? [] : references.makeHistory(values.historie, 'historie');
    const files = (values.photographs ?? []).map((name) => {
      const first = parseFirstChange(values.historie);
      return seedPhotograph(folder, values.ident_cely, name, first, references);
    });
    const body = orderChildren('samostatny_nalez', {
      ...withoutMissing(values, TEXTS),
      ...Object.fromEntries(
        REFERRING.map((name) => [name, references.toOptional(values[name], name)]),
      ),
      projekt: references.to(project, 'projekt'),
      okres: references.toOptional(place?.district, 'okres'),
      predano: String(values.predano ?? false),
      geom_system: values.geom_system ?? '4326',
      chranene_udaje: withoutAbsent({
        katastr: references.toOptional(place?.area, 'katastr'),
        lokalizace: values.lokalizace,
        ...place?.geometry,
      }),
      historie: history.length === 0 ? undefined : history,
      soubor: files.length === 0 ? undefined : files.map((file) => file.element),
    });
    return { body, project, photographs: files.map((file) => file.photograph) };
  });
}

/** Returns uploader and time of a seed's photographs: those of the find's registration. */
function parseFirstChange(history: unknown): { readonly user: string; readonly at: string } {
  const first: unknown = Array.isArray(history) ? history[0] : undefined;
  const change = object({
    typ_zmeny: text(),
    uzivatel: text(),
    datum_zmeny: text(),
    poznamka: optional(text()),
    id: optional(text()),
  });
  if (first === undefined)
    throw new ShapeError('historie', 'is missing: it names who uploaded the photographs');
  const { uzivatel, datum_zmeny } = change(first, 'historie[0]');
  return { user: uzivatel, at: datum_zmeny };
}

const MIMETYPES: Readonly<Record<string, string>> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
};

/**
 * Reads `photographs/<name>` of the seed folder, and makes its `soubor` element from the bytes
 * (A-FILE-5).
 * @throws ShapeError
 */
function seedPhotograph(
  folder: string,
  find: string,
  name: string,
  upload: { readonly user: string; readonly at: string },
  references: References,
): { readonly element: Body; readonly photograph: SeedPhotograph } {
  const path = join(folder, 'photographs', name);
  const mimetype = MIMETYPES[extname(name).toLowerCase()];
  if (name.includes('/') || name.includes('\\') || mimetype === undefined) {
    throw new ShapeError(
      'photographs',
      `${name} must be the name of a .jpg or .png file in the folder photographs`,
    );
  }
  if (!existsSync(path))
    throw new ShapeError('photographs', `${name} is not in the folder photographs`);
  const bytes = readFileSync(path);
  const uuid = makeUuid(`${find}/${name}`);
  const history = [
    {
      typ_zmeny: 'SBR0',
      uzivatel: upload.user,
      datum_zmeny: upload.at,
      poznamka: `IMG_${uuid.slice(0, 4)}${extname(name)}`,
    },
  ];
  const element = {
    id: references.makeNumberedId('soub'),
    path: `rest/mock/record/${find}/file/${uuid}`,
    nazev: name,
    mimetype,
    rozsah: '1',
    size_mb: (bytes.length / 1_048_576).toFixed(10),
    sha_512: createHash('sha512').update(bytes).digest('hex'),
    url: `${FILE_BASE}/${find}/file/${uuid}`,
    historie: references.makeHistory(history, 'soubor'),
  };
  return { element, photograph: { uuid, find, mimetype, bytes } };
}

/** Makes a UUID that is constant for a photograph. */
function makeUuid(label: string): string {
  const hex = createHash('sha256').update(label).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
