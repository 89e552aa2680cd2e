import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ShapeError } from '../../base/shape.ts';
import { type Body, type Entity, getChild, getIdent, getList, getText } from '../records/record.ts';
import type { SeedAccount, SeedContent, SeedPhotograph, SeedRecord } from '../seed-content.ts';
import { readSettings } from '../settings.ts';
import { makeElementsBody, makeProjectBody, type ProjectFinds } from './archive-rows.ts';
import { makeFindBody, type SeedFind } from './finds.ts';
import { Places } from './places.ts';
import { References } from './references.ts';
import {
  type Area,
  makeCadastralAreaBody,
  makeDistrictBody,
  makeOrganisationBody,
  makePersonBody,
  makeRegionBody,
} from './registers.ts';
import {
  listJsonFiles,
  readJson,
  readRows,
  runAtRow,
  SeedError,
  type SeedRow,
} from './seed-files.ts';
import { makeTermBodies, type PlacedTerm, parseTermRow } from './terms.ts';
import { makeUserBody, parseAccount } from './users.ts';

/** Files whose rows are elements of records. */
const PLAIN_FILES = [
  ['fieldwork.json', 'archeologicky_zaznam'],
  ['flights.json', 'let'],
  ['documentation-points.json', 'adb'],
  ['documents.json', 'dokument'],
  ['sources.json', 'ext_zdroj'],
  ['spatial-units.json', 'pian'],
] as const satisfies ReadonlyArray<readonly [string, Entity]>;

/** A record with the entry that it was made of, for messages about it. */
export type SeededRecord = { readonly row: SeedRow; readonly record: SeedRecord };
type SeedFolder = { readonly content: SeedContent; readonly seeded: readonly SeededRecord[] };

const ROW_FILES = {
  organisations: 'organisations.json',
  users: 'accounts.json',
  persons: 'persons.json',
  regions: 'regions.json',
  districts: 'districts.json',
  areas: 'cadastral-areas.json',
  projects: 'projects.json',
  finds: 'finds.json',
} as const;
const KNOWN_FILES = [
  ...Object.values(ROW_FILES),
  'settings.json',
  'README.md',
  ...PLAIN_FILES.map(([file]) => file),
];
const KNOWN_FOLDERS = ['vocabularies', 'photographs'];

/**
 * Reads the files of a seed folder; each may be missing.
 * @throws SeedError, also for an unknown file
 */
export function readSeedFolder(folder: string): SeedFolder {
  assertKnownFiles(folder);
  const files = readRowFiles(folder);
  const terms = listJsonFiles(folder, 'vocabularies').flatMap((file) =>
    readRows(folder, file).map((row, index) => parseTermRow(row, basename(file, '.json'), index)),
  );
  const references = makeReferences(files, terms);
  const areas = files.areas.map((row) => ({ row, ...makeCadastralAreaBody(row, references) }));
  const places = new Places(areas.map(({ area }): Area => area));
  const finds = files.finds.map((row) => ({
    row,
    ...makeFindBody(row, references, places, folder),
  }));
  const getFinds = makeFindsByProject(finds, terms);
  const seedAll = (rows: readonly SeedRow[], entity: Entity, makeBody: (row: SeedRow) => Body) =>
    rows.map((row) => seed(row, entity, makeBody(row)));
  const seeded = [
    ...seedAll(files.organisations, 'organizace', (row) => makeOrganisationBody(row, references)),
    ...seedAll(files.users, 'uzivatel', (row) => makeUserBody(row, references)),
    ...seedAll(files.persons, 'osoba', makePersonBody),
    ...[...makeTermBodies(terms, references)].map(([{ row }, body]) => seed(row, 'heslo', body)),
    ...seedAll(files.regions, 'ruian_kraj', makeRegionBody),
    ...seedAll(files.districts, 'ruian_okres', (row) => makeDistrictBody(row, references)),
    ...areas.map(({ row, body }) => seed(row, 'ruian_katastr', body)),
    ...seedAll(files.projects, 'projekt', (row) =>
      makeProjectBody(row, references, places, getFinds(row)),
    ),
    ...finds.map(({ row, body }) => seed(row, 'samostatny_nalez', body)),
    ...files.plain.flatMap(({ entity, rows }) =>
      seedAll(rows, entity, (row) => makeElementsBody(row, references, places)),
    ),
  ];
  assertDistinct(seeded);
  const content: SeedContent = {
    accounts: files.users
      .map(parseAccount)
      .filter((account): account is SeedAccount => account !== undefined),
    records: seeded.map(({ record }) => record),
    photographs: finds.flatMap(({ photographs }): readonly SeedPhotograph[] => photographs),
    settings: readSettingsFile(folder),
  };
  return { content, seeded };
}

type RowFiles = ReturnType<typeof readRowFiles>;

function readRowFiles(folder: string) {
  const rowsOf = Object.fromEntries(
    Object.entries(ROW_FILES).map(([name, file]) => [name, readRows(folder, file)]),
  ) as Record<keyof typeof ROW_FILES, SeedRow[]>;
  const plain = PLAIN_FILES.map(([file, entity]) => ({ entity, rows: readRows(folder, file) }));
  return { ...rowsOf, plain };
}

function makeReferences(files: RowFiles, terms: readonly ReturnType<typeof parseTermRow>[]) {
  const otherRows = [
    files.users,
    files.projects,
    files.finds,
    ...files.plain.map(({ rows }) => rows),
  ].flat();
  return new References(
    new Map([
      ...listLabels(files.organisations, 'nazev'),
      ...listPersonLabels(files.persons),
      ...listLabels([...files.regions, ...files.districts, ...files.areas], 'nazev'),
      ...terms.map(({ term }) => [term.ident_cely, term.heslo] as const),
      ...listLabels(otherRows, 'ident_cely'),
    ]),
  );
}

/** Reports unknown files, which would be ignored silently, except hidden ones. */
function assertKnownFiles(folder: string): void {
  const knownText = `known are ${[...KNOWN_FILES, ...KNOWN_FOLDERS.map((name) => `${name}/`)].join(', ')}`;
  const listVisible = (path: string) =>
    readdirSync(path, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));
  for (const entry of listVisible(folder)) {
    const isKnown = (entry.isDirectory() ? KNOWN_FOLDERS : KNOWN_FILES).includes(entry.name);
    if (!isKnown) throw new SeedError(entry.name, '', `is nothing that a seed has; ${knownText}`);
  }
  const vocabularies = join(folder, 'vocabularies');
  const other = existsSync(vocabularies)
    ? listVisible(vocabularies).find(({ name }) => !name.endsWith('.json'))
    : undefined;
  if (other !== undefined)
    throw new SeedError(join('vocabularies', other.name), '', 'is no JSON file');
}

function listLabels(rows: readonly SeedRow[], key: string): Array<readonly [string, string]> {
  return rows.map(
    ({ value }) => [String(value['ident_cely'] ?? value['kod']), String(value[key])] as const,
  );
}

function listPersonLabels(rows: readonly SeedRow[]): Array<readonly [string, string]> {
  return rows.map(
    ({ value }) =>
      [String(value['ident_cely']), `${value['prijmeni']}, ${value['jmeno']}`] as const,
  );
}

function seed(row: SeedRow, entity: Entity, body: Body): SeededRecord {
  return runAtRow(row, () => {
    const ident = getIdent(entity, body);
    if (ident === undefined || ident === '') throw new ShapeError('', 'has no identifier');
    const datestampMs = parseDatestamp(row.value, ident, body);
    return {
      row,
      record: {
        entity,
        body,
        datestampMs,
        deleted: row.value['deleted'] !== undefined,
      },
    };
  });
}

/**
 * Returns finds and accessibility by project: the lowest entry of its finds, or the first of all
 * (S-ACCESS-3).
 */
function makeFindsByProject(
  finds: readonly SeededFind[],
  terms: readonly PlacedTerm[],
): (project: SeedRow) => ProjectFinds {
  const ranked = terms
    .filter(({ vocabulary }) => vocabulary === 'pristupnost')
    .sort((a, b) => a.order - b.order);
  return (project) => {
    const ownFinds = finds.filter(
      (find) =>
        find.project === project.value['ident_cely'] && find.row.value['deleted'] === undefined,
    );
    const used = new Set(ownFinds.map(({ row }) => row.value['pristupnost']));
    const lowest = ranked.find(({ term }) => used.has(term.ident_cely)) ?? ranked[0];
    return {
      idents: ownFinds.map(({ row }) => String(row.value['ident_cely'])),
      accessibility: lowest?.term.ident_cely,
    };
  };
}

type SeededFind = SeedFind & { readonly row: SeedRow };

function assertDistinct(seeded: readonly SeededRecord[]): void {
  const rowsByIdent = new Map<string, SeedRow>();
  for (const { row, record } of seeded) {
    const ident = getIdent(record.entity, record.body) ?? '';
    const before = rowsByIdent.get(ident);
    if (before !== undefined)
      throw new SeedError(
        row.file,
        row.place,
        `${ident} stands already in ${before.file}, ${before.place}`,
      );
    rowsByIdent.set(ident, row);
  }
}

function readSettingsFile(folder: string): SeedContent['settings'] {
  const file = 'settings.json';
  try {
    return readSettings(readJson(folder, file) ?? {});
  } catch (thrown) {
    if (thrown instanceof ShapeError) throw new SeedError(file, '', thrown.message);
    throw thrown;
  }
}

/** The oldest datestamp of the deployed service: its whole archive was moved then. */
const ARCHIVE_MOVED_MS = Date.UTC(2024, 6, 14, 21, 39, 10, 988);
const SPREAD_MS = 400 * 86_400_000;

/**
 * Returns the time of a record's last change: from the row, else its latest history entry, else
 * derived from the identifier, so that datestamps spread over more than a year and are equal in
 * every start.
 * @throws ShapeError
 */
function parseDatestamp(
  row: { readonly datestamp?: unknown; readonly deleted?: unknown },
  ident: string,
  body: Body,
): number {
  if (row.deleted !== undefined) return parseTime(row.deleted, 'deleted');
  if (row.datestamp !== undefined) return parseTime(row.datestamp, 'datestamp');
  const changes = getList(body['historie']).map((entry) =>
    parseTime(getText(getChild(entry)?.['datum_zmeny']), 'historie'),
  );
  return changes.length === 0 ? spread(ident) : Math.max(...changes);
}

function parseTime(text: unknown, place: string): number {
  const ms =
    typeof text === 'string' && /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw new ShapeError(place, 'must be a time such as 2024-07-11T12:27:13.968Z');
  return ms;
}

/** Returns whole seconds for most identifiers, milliseconds for every fourth. */
function spread(ident: string): number {
  let hash = 0x811c9dc5;
  for (const character of ident)
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  const ms = ARCHIVE_MOVED_MS + Math.floor((hash / 0x1_0000_0000) * SPREAD_MS);
  return hash % 4 === 0 ? ms : Math.ceil(ms / 1000) * 1000;
}
