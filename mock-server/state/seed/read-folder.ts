import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ShapeError } from '../../base/shape.ts';
import { type Body, type Entity, getChild, getIdent, getList, getText } from '../records/record.ts';
import type { SeedAccount, SeedContent, SeedPhotograph, SeedRecord } from '../seed-content.ts';
import { readSettings } from '../settings.ts';
import { elementsBody, type ProjectFinds, projectBody } from './archive-rows.ts';
import { findBody, type SeedFind } from './finds.ts';
import { Places } from './places.ts';
import { References } from './references.ts';
import { type Area, cadastralAreaBody, districtBody, organisationBody, personBody, regionBody } from './registers.ts';
import { atRow, jsonFilesIn, readJson, readRows, SeedError, type SeedRow } from './seed-files.ts';
import { type PlacedTerm, parseTermRow, termBodies } from './terms.ts';
import { parseAccount, userBody } from './users.ts';

/** Files whose rows are the records' elements as they stand. */
const PLAIN_FILES = [
  ['fieldwork.json', 'archeologicky_zaznam'],
  ['flights.json', 'let'],
  ['documentation-points.json', 'adb'],
  ['documents.json', 'dokument'],
  ['sources.json', 'ext_zdroj'],
  ['spatial-units.json', 'pian'],
] as const satisfies ReadonlyArray<readonly [string, Entity]>;

/** A record with the row that it was made from, for messages about it. */
export type SeededRecord = { readonly row: SeedRow; readonly record: SeedRecord };
type SeedFolder = { readonly content: SeedContent; readonly seeded: readonly SeededRecord[] };

const KNOWN_FILES = [
  ...['organisations.json', 'accounts.json', 'persons.json', 'regions.json', 'districts.json', 'cadastral-areas.json'],
  ...['projects.json', 'finds.json', 'settings.json', 'README.md'],
  ...PLAIN_FILES.map(([file]) => file),
];
const KNOWN_FOLDERS = ['vocabularies', 'photographs'];

/** Reads every file of a seed folder; each may be missing. @throws SeedError, also for a file that the seed does not read */
export function readSeedFolder(folder: string): SeedFolder {
  assertKnownFiles(folder);
  const rows = (file: string): SeedRow[] => readRows(folder, file);
  const files = {
    organisations: rows('organisations.json'),
    users: rows('accounts.json'),
    persons: rows('persons.json'),
    regions: rows('regions.json'),
    districts: rows('districts.json'),
    areas: rows('cadastral-areas.json'),
    projects: rows('projects.json'),
    finds: rows('finds.json'),
    plain: PLAIN_FILES.map(([file, entity]) => ({ entity, rows: rows(file) })),
  };
  const terms = jsonFilesIn(folder, 'vocabularies').flatMap((file) =>
    rows(file).map((row, index) => parseTermRow(row, basename(file, '.json'), index)),
  );
  const otherRows = [files.users, files.projects, files.finds, ...files.plain.map((plain) => plain.rows)].flat();
  const references = new References(
    new Map([
      ...labels(files.organisations, 'nazev'),
      ...personLabels(files.persons),
      ...labels([...files.regions, ...files.districts, ...files.areas], 'nazev'),
      ...terms.map(({ term }) => [term.ident_cely, term.heslo] as const),
      ...labels(otherRows, 'ident_cely'),
    ]),
  );
  const areas = files.areas.map((row) => ({ row, ...cadastralAreaBody(row, references) }));
  const places = new Places(areas.map(({ area }): Area => area));
  const finds = files.finds.map((row) => ({ row, ...findBody(row, references, places, folder) }));
  const getFinds = findsByProject(finds, terms);
  const seeded = [
    ...files.organisations.map((row) => seed(row, 'organizace', organisationBody(row, references))),
    ...files.users.map((row) => seed(row, 'uzivatel', userBody(row, references))),
    ...files.persons.map((row) => seed(row, 'osoba', personBody(row))),
    ...[...termBodies(terms, references)].map(([{ row }, body]) => seed(row, 'heslo', body)),
    ...files.regions.map((row) => seed(row, 'ruian_kraj', regionBody(row))),
    ...files.districts.map((row) => seed(row, 'ruian_okres', districtBody(row, references))),
    ...areas.map(({ row, body }) => seed(row, 'ruian_katastr', body)),
    ...files.projects.map((row) => seed(row, 'projekt', projectBody(row, references, places, getFinds(row)))),
    ...finds.map(({ row, body }) => seed(row, 'samostatny_nalez', body)),
    ...files.plain.flatMap(({ entity, rows: plain }) =>
      plain.map((row) => seed(row, entity, elementsBody(row, references, places))),
    ),
  ];
  assertDistinct(seeded);
  const content: SeedContent = {
    accounts: files.users.map(parseAccount).filter((account): account is SeedAccount => account !== undefined),
    records: seeded.map(({ record }) => record),
    photographs: finds.flatMap(({ photographs }): readonly SeedPhotograph[] => photographs),
    settings: readSettingsFile(folder),
  };
  return { content, seeded };
}

/** A file with a name that is nearly right would be left out in silence. What begins with a dot is the system's. */
function assertKnownFiles(folder: string): void {
  const knownText = `known are ${[...KNOWN_FILES, ...KNOWN_FOLDERS.map((name) => `${name}/`)].join(', ')}`;
  const visible = (path: string) => readdirSync(path, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));
  for (const entry of visible(folder)) {
    const isKnown = (entry.isDirectory() ? KNOWN_FOLDERS : KNOWN_FILES).includes(entry.name);
    if (!isKnown) throw new SeedError(entry.name, '', `is nothing that a seed has; ${knownText}`);
  }
  const vocabularies = join(folder, 'vocabularies');
  const other = existsSync(vocabularies) ? visible(vocabularies).find(({ name }) => !name.endsWith('.json')) : undefined;
  if (other !== undefined) throw new SeedError(join('vocabularies', other.name), '', 'is no JSON file');
}

function labels(rows: readonly SeedRow[], key: string): Array<readonly [string, string]> {
  return rows.map(({ value }) => [String(value['ident_cely'] ?? value['kod']), String(value[key])] as const);
}

function personLabels(rows: readonly SeedRow[]): Array<readonly [string, string]> {
  return rows.map(({ value }) => [String(value['ident_cely']), `${value['prijmeni']}, ${value['jmeno']}`] as const);
}

function seed(row: SeedRow, entity: Entity, body: Body): SeededRecord {
  return atRow(row, () => {
    const ident = getIdent(entity, body);
    if (ident === undefined || ident === '') throw new ShapeError('', 'has no identifier');
    const datestampMs = parseDatestamp(row.value, ident, body);
    return { row, record: { entity, body, datestampMs, ...(row.value['deleted'] === undefined ? {} : { deleted: true }) } };
  });
}

/** A project's accessibility is the entry with the lowest order among its finds, the first of all where it has none (S-ACCESS-3). */
function findsByProject(finds: readonly SeededFind[], terms: readonly PlacedTerm[]): (project: SeedRow) => ProjectFinds {
  const ranked = terms.filter(({ vocabulary }) => vocabulary === 'pristupnost').sort((a, b) => a.order - b.order);
  return (project) => {
    const ownFinds = finds.filter(
      (find) => find.project === project.value['ident_cely'] && find.row.value['deleted'] === undefined,
    );
    const used = new Set(ownFinds.map(({ row }) => row.value['pristupnost']));
    const lowest = ranked.find(({ term }) => used.has(term.ident_cely)) ?? ranked[0];
    return { idents: ownFinds.map(({ row }) => String(row.value['ident_cely'])), accessibility: lowest?.term.ident_cely };
  };
}

type SeededFind = SeedFind & { readonly row: SeedRow };

function assertDistinct(seeded: readonly SeededRecord[]): void {
  const rowsByIdent = new Map<string, SeedRow>();
  for (const { row, record } of seeded) {
    const ident = getIdent(record.entity, record.body) ?? '';
    const before = rowsByIdent.get(ident);
    if (before !== undefined)
      throw new SeedError(row.file, row.place, `${ident} stands already in ${before.file}, ${before.place}`);
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

/** The oldest datestamp of the deployed service: its whole archive was moved on that evening. */
const ARCHIVE_MOVED_MS = Date.UTC(2024, 6, 14, 21, 39, 10, 988);
const SPREAD_MS = 400 * 86_400_000;

/**
 * When a seed's record was last changed: as the row says, else its latest history entry, else a time that depends on
 * nothing but the identifier, so that datestamps spread over more than a year and never differ between two starts.
 * @throws ShapeError
 */
function parseDatestamp(row: { readonly datestamp?: unknown; readonly deleted?: unknown }, ident: string, body: Body): number {
  if (row.deleted !== undefined) return parseTime(row.deleted, 'deleted');
  if (row.datestamp !== undefined) return parseTime(row.datestamp, 'datestamp');
  const changes = getList(body['historie']).map((entry) => parseTime(getText(getChild(entry)?.['datum_zmeny']), 'historie'));
  return changes.length === 0 ? spread(ident) : Math.max(...changes);
}

function parseTime(text: unknown, place: string): number {
  const ms = typeof text === 'string' && /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new ShapeError(place, 'must be a time such as 2024-07-11T12:27:13.968Z');
  return ms;
}

/** Whole seconds for most identifiers, milliseconds for every fourth. */
function spread(ident: string): number {
  let hash = 0x811c9dc5;
  for (const character of ident) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  const ms = ARCHIVE_MOVED_MS + Math.floor((hash / 0x1_0000_0000) * SPREAD_MS);
  return hash % 4 === 0 ? ms : Math.ceil(ms / 1000) * 1000;
}
