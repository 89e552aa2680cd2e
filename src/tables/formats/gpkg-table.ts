import { formatPlainNumber } from '../../base/characters.ts';
import {
  convertDatabaseErrors,
  createRowGuard,
  type Database,
  type GuardedType,
  isAnyRow,
  isNumber,
  isText,
} from '../../base/disk/database.ts';
import { assertImageReadableInTime, openDatabaseImage } from '../../base/disk/database-file.ts';
import { DatabaseError, getErrorCode } from '../../base/errors.ts';
import { isReadable } from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import {
  makeUnsupportedCrsError,
  parseGeoPackagePoint,
  toGeomSystem,
} from '../../finds/place/geometry.ts';
import { FINDS_LAYER, FORM_FIND, FORM_PHOTO, PHOTOS_LAYER } from '../../finds/questions.ts';
import {
  getSheetOrLayer,
  makeCutShortError,
  makeDamagedFileError,
  makeMissingSheetError,
  makeTableOfRecords,
  makeUnreadSheetsIssues,
  type ReadRecord,
  type Table,
  withUnreadNamesWarning,
} from '../table.ts';
import { convertFormTable, FORM_OF_PART } from './form-return.ts';

const POINT_TYPES = ['POINT', 'MULTIPOINT', 'GEOMETRY'];

/**
 * Reads a layer of a GeoPackage (1.0 to 1.4) as a table: each feature is a row, its attributes are
 * the columns, its point is in the system of the layer. The rows are read at each iteration from a
 * database in memory, which lives as long as the table. Before, the thread is blocked for at most
 * 20 s, while a subprocess tests that SQLite can read the bytes.
 * @param file its name for messages
 * @param bytes of the file, which may be changed
 * @param named name or number of the layer; undefined for that of a form of pas, else the first
 * layer of points with a feature, else the first layer of points
 * @throws FileError where the file is no GeoPackage, has no such layer, or the layer is computed,
 * too large, or in a coordinate system other than WGS 84 and S-JTSK
 */
export function readGeoPackageTable(file: string, bytes: Buffer, named: string | undefined): Table {
  try {
    assertImageReadableInTime(file, bytes);
    const database = openDatabaseImage(file, bytes);
    return convertDatabaseErrors(file, () => {
      const { layer, others, isForm } = chooseLayer(file, database, named);
      const ofLayer = readLayer(file, database, layer);
      const table = isForm ? convertFieldForm(ofLayer, database) : ofLayer;
      const issues = [...makeUnreadSheetsIssues(table, others), ...table.issues];
      return { ...table, issues };
    });
  } catch (thrown) {
    const code = getErrorCode(thrown);
    if (!(thrown instanceof DatabaseError) && !code.startsWith('SQLITE_')) throw thrown;
    throw makeCutShortError(file, thrown);
  }
}

/**
 * Chooses the layer to read, which may be that of a form of pas. `others` are the further point
 * layers with a feature, which are not read; empty where a person names the layer.
 * @throws FileError where there is no such layer, or a table that lists the layers is computed
 */
function chooseLayer(
  file: string,
  database: Database,
  named: string | undefined,
): { readonly layer: Layer; readonly others: readonly Layer[]; readonly isForm: boolean } {
  for (const name of DIRECTORY) assertNoComputedColumns(file, database, name);
  const tables = database
    .prepare(
      `select name from sqlite_master where name in ('gpkg_contents', 'gpkg_geometry_columns')`,
    )
    .all();
  if (tables.length < 2) throw makeMissingSheetError(file, []);
  const layers = database
    .prepare(
      `select contents.table_name as name, geometry.column_name as geometryColumn, upper(geometry.geometry_type_name) as geometryType,
         coalesce(systems.organization, '') as organization, cast(coalesce(systems.organization_coordsys_id, geometry.srs_id, 0) as integer) as code
       from gpkg_contents as contents join gpkg_geometry_columns as geometry on geometry.table_name = contents.table_name
       left join gpkg_spatial_ref_sys as systems on systems.srs_id = geometry.srs_id
       where contents.data_type = 'features' order by contents.rowid`,
    )
    .all()
    .filter(isLayer);
  const ofForm = layers.find(({ name }) => name === FINDS_LAYER && isFieldForm(database));
  const fitting = layers.filter(({ geometryType }) => POINT_TYPES.includes(geometryType));
  const filled = fitting.filter(({ name }) => isComputed(database, name) || hasRow(database, name));
  const layer =
    named === undefined
      ? (ofForm ?? filled[0] ?? fitting[0])
      : getSheetOrLayer(file, layers, named);
  if (layer === undefined) throw makeMissingSheetError(file, layers);
  const others = named === undefined ? filled.filter((each) => each !== layer) : [];
  return { layer, others, isForm: layer === ofForm };
}

function hasRow(database: Database, table: string): boolean {
  const sql = `select 1 from ${quoteIdentifier(table)} limit 1`;
  return database.prepare(sql).get() !== undefined;
}

const DIRECTORY = ['gpkg_contents', 'gpkg_geometry_columns', 'gpkg_spatial_ref_sys'];

/**
 * Converts a form that `pas field make` made, with the photographs of its finds.
 * @throws FileError where the table of photographs is computed
 */
function convertFieldForm(table: Table, database: Database): Table {
  const { file } = table;
  assertNoComputedColumns(file, database, PHOTOS_LAYER);
  const readPhotos = function* (): Generator<ReadRecord> {
    let row = 0;
    for (const { [FORM_FIND]: find, fid: _, ...answers } of readRows(database, PHOTOS_LAYER)) {
      row += 1;
      const values = new Map([[FORM_OF_PART, formatSqlValue(find)]]);
      for (const [name, value] of Object.entries(answers)) values.set(name, formatSqlValue(value));
      yield { row, values };
    }
  };
  const photos = makeTableOfRecords({ file, sheet: PHOTOS_LAYER }, readPhotos);
  return convertFormTable({ table, repeats: [photos], paths: [] });
}

/** Tells if a GeoPackage is a form of pas: other programs may use the same names of layers. */
function isFieldForm(database: Database): boolean {
  if (isComputed(database, PHOTOS_LAYER)) return false;
  const names = listColumns(database, PHOTOS_LAYER).map(({ name }) => name);
  return names.includes(FORM_FIND) && names.includes(FORM_PHOTO);
}

type Layer = GuardedType<typeof isLayer>;
const isLayer = createRowGuard({
  name: isText,
  geometryColumn: isText,
  geometryType: isText,
  organization: isText,
  code: isNumber,
});

const isColumn = createRowGuard({ name: isText, type: isText, pk: isNumber });

/** Returns the columns of a table; `pk` is the place of a column in the primary key, or 0. */
function listColumns(database: Database, table: string): GuardedType<typeof isColumn>[] {
  return database
    .prepare(`pragma table_info(${quoteIdentifier(table)})`)
    .all()
    .filter(isColumn);
}

function* readRows(database: Database, table: string) {
  // Integers of a database may exceed the safe integers.
  const all = database.prepare(`select * from ${quoteIdentifier(table)}`).safeIntegers(true);
  for (const row of all.iterate()) if (isAnyRow(row)) yield row;
}

/**
 * Refuses views and computed columns.
 * @throws FileError
 */
function assertNoComputedColumns(file: string, database: Database, name: string): void {
  if (!isComputed(database, name)) return;
  throw makeDamagedFileError(
    file,
    msg`${file}, layer ${name}, is computed when it is read (a view, or a computed column); pas does not read such layers.`,
  );
}

/** Tells if a table is a view or has computed columns, which may take unbounded time or memory. */
function isComputed(database: Database, name: string): boolean {
  const row = database
    .prepare('select type, sql from sqlite_master where name = ? collate nocase')
    .get(name);
  if (!isAnyRow(row)) return false;
  if (row['type'] !== 'table' || /^\s*create\s+virtual\b/i.test(`${row['sql']}`)) return true;
  const columns = database.prepare(`pragma table_xinfo(${quoteIdentifier(name)})`).all();
  return columns.some((column) => isAnyRow(column) && column['hidden'] !== 0);
}

/**
 * Returns the features of a layer; each iteration reads them from the database. A feature with an
 * unreadable geometry is an issue; binary columns are named in a warning.
 * @throws FileError where the layer is computed, too large, or in another coordinate system
 */
function readLayer(file: string, database: Database, layer: Layer): Table {
  assertNoComputedColumns(file, database, layer.name);
  const isCoded = ['EPSG', 'ESRI'].includes(layer.organization.toUpperCase());
  const system = isCoded ? toGeomSystem(layer.code) : undefined;
  if (system === undefined)
    throw makeUnsupportedCrsError(
      file,
      layer.organization === '' ? String(layer.code) : `${layer.organization}:${layer.code}`,
    );
  const columns = listColumns(database, layer.name);
  const keyColumn = columns.find(
    ({ pk, type }) => pk === 1 && type.toUpperCase() === 'INTEGER',
  )?.name;
  const place = { file, sheet: layer.name, unit: 'feature' } as const;
  // Complete once the records were read.
  const unread = new Set<string>();
  const readRecords = function* (): Generator<ReadRecord> {
    let counted = 0;
    for (const feature of readRows(database, layer.name)) {
      counted += 1;
      const row = keyColumn === undefined ? counted : Number(feature[keyColumn]);
      const { [layer.geometryColumn]: geometry, ...attributes } = feature;
      const point = parseGeoPackagePoint(geometry);
      if (!isReadable(point)) {
        yield { row, ...point };
        continue;
      }
      const values = new Map<string, string>();
      for (const [name, value] of Object.entries(attributes)) {
        if (value instanceof Buffer) unread.add(name);
        if (name !== keyColumn) values.set(name, formatSqlValue(value));
      }
      yield {
        row,
        values,
        point: point.value === undefined ? undefined : { system, ...point.value },
      };
    }
  };
  return withUnreadNamesWarning(makeTableOfRecords(place, readRecords), unread);
}

/**
 * Returns the text of a value; a day with midnight is a day. Other types, such as pictures, give
 * ''.
 */
function formatSqlValue(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return formatPlainNumber(value);
  return typeof value === 'string'
    ? value.replace(/^(\d{4}-\d{2}-\d{2})T00:00:00(?:\.0+)?Z?$/, '$1')
    : '';
}

function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
