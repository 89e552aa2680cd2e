import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { protectFormulaMark } from '../../base/csv.ts';
import type { Database } from '../../base/disk/database.ts';
import { t } from '../../base/message.ts';
import { packageRoot } from '../../base/own-files.ts';
import { escapeAttributeValue } from '../../base/xml/build.ts';
import { getField, getPoint, isElementName } from '../../finds/fields.ts';
import type { EntryState } from '../../outbox/entry.ts';
import { STATE_WORDS } from '../../outbox/views/entry-words.ts';
import {
  collectExportValues,
  type ExportedFind,
  type ExportValue,
  listExportColumns,
  makeWgs84Point,
  STATE_COLUMN,
} from './exported-find.ts';

/** Header fields of a GeoPackage: `GPKG` and version 1.3. */
const APPLICATION_ID = 0x47504b47;
const USER_VERSION = 10300;

/** Makes an empty database a GeoPackage (1.3, OGC 12-128r17) without layers. */
export function initializeGeoPackage(database: Database): void {
  database.pragma(`application_id = ${APPLICATION_ID}`);
  database.pragma(`user_version = ${USER_VERSION}`);
  database.exec(GPKG_TABLES);
}

/** Column of a table in a GeoPackage; `type` is SQL. */
export type GpkgColumn = {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'date' | 'boolean';
};

type NewLayer = {
  readonly table: string;
  readonly columns: readonly GpkgColumn[];
  /** Geometry in WGS 84; absent for a table of attributes. */
  readonly geometry?: 'POINT';
  /** Time of creation, ISO 8601 in UTC. */
  readonly nowIso: string;
};

type GpkgFeature = {
  /** Degrees. */
  readonly point?: { readonly longitude: number; readonly latitude: number };
  /** In the order of the columns. */
  readonly values: readonly (string | number | null)[];
};

/**
 * Adds a layer and its features to a GeoPackage; one without a geometry is a table of attributes,
 * whose rows are the features. They are added in one transaction, the description of the layer
 * outside of it. The database must be one of {@link initializeGeoPackage}, without a table of this
 * name. The names of the table and its columns are put into SQL as they are, so they must not come
 * from a user.
 */
export function addLayer(
  database: Database,
  layer: NewLayer,
  features: Iterable<GpkgFeature>,
): void {
  const { table, columns, geometry } = layer;
  const shape = geometry === undefined ? [] : ['geom'];
  const definitions = [
    'fid integer primary key autoincrement not null',
    ...shape.map((name) => `${name} ${geometry}`),
    ...columns.map(({ name, type }) => `"${name}" ${type}`),
  ];
  database.exec(`create table "${table}" (${definitions.join(', ')})`);
  const names = [...shape, ...columns.map(({ name }) => `"${name}"`)];
  const insert = database.prepare(
    `insert into "${table}" (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
  );
  database.transaction(() => {
    for (const { point, values } of features) {
      const blob = point === undefined ? null : encodePoint(point.longitude, point.latitude);
      insert.run(...shape.map(() => blob), ...values);
    }
  })();
  describeLayer(database, layer);
}

/** Adds a layer to the tables that list the layers and their geometries. */
function describeLayer(database: Database, { table, geometry, nowIso }: NewLayer): void {
  const [kind, system] = geometry === undefined ? ['attributes', null] : ['features', 4326];
  database
    .prepare(`insert into gpkg_contents values (?, ?, ?, '', ?, null, null, null, null, ?)`)
    .run(table, kind, table, nowIso, system);
  if (geometry === undefined) return;
  database
    .prepare(`insert into gpkg_geometry_columns values (?, 'geom', ?, 4326, 0, 0)`)
    .run(table, geometry);
}

/**
 * Encodes a point in degrees: a header without envelope, then well-known binary (GeoPackage 1.3,
 * 2.1.3), both little-endian.
 */
function encodePoint(longitude: number, latitude: number): Buffer {
  const blob = Buffer.alloc(29);
  blob.write('GP', 0, 'latin1');
  blob.writeUInt8(1, 3);
  blob.writeInt32LE(4326, 4);
  blob.writeUInt8(1, 8);
  blob.writeUInt32LE(1, 9);
  blob.writeDoubleLE(longitude, 13);
  blob.writeDoubleLE(latitude, 21);
  return blob;
}

/** Adds QGIS's table of styles, by which it displays the layer of finds. */
function addStyle(database: Database, nowIso: string): void {
  database.exec(`
    create table layer_styles (
      id integer primary key autoincrement not null, f_table_catalog text(256), f_table_schema text(256), f_table_name text(256),
      f_geometry_column text(256), styleName text(30), styleQML text, styleSLD text, useAsDefault boolean, description text,
      owner text(30), ui text(30), update_time datetime default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    );
  `);
  database
    .prepare(
      `insert into gpkg_contents (table_name, data_type, identifier, last_change) values ('layer_styles', 'attributes', 'layer_styles', ?)`,
    )
    .run(nowIso);
  database
    .prepare(
      `insert into layer_styles (f_table_catalog, f_table_schema, f_table_name, f_geometry_column, styleName, styleQML, styleSLD,
         useAsDefault, description, owner, update_time)
       values ('', '', ?, 'geom', 'pas', ?, '', 1, 'pas', '', ?)`,
    )
    .run(LAYER, renderFindStyle(), nowIso);
}

const WGS84 =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],' +
  'PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],' +
  'AXIS["Latitude",NORTH],AXIS["Longitude",EAST],AUTHORITY["EPSG","4326"]]';

/** Tables that every GeoPackage has (OGC 12-128r17, annex C), with its three systems. */
const GPKG_TABLES = `
  create table gpkg_spatial_ref_sys (
    srs_name text not null, srs_id integer primary key, organization text not null,
    organization_coordsys_id integer not null, definition text not null, description text
  );
  create table gpkg_contents (
    table_name text not null primary key, data_type text not null, identifier text unique, description text default '',
    last_change datetime not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    min_x double, min_y double, max_x double, max_y double, srs_id integer,
    constraint fk_gc_r_srs_id foreign key (srs_id) references gpkg_spatial_ref_sys (srs_id)
  );
  create table gpkg_geometry_columns (
    table_name text not null, column_name text not null, geometry_type_name text not null, srs_id integer not null,
    z tinyint not null, m tinyint not null,
    constraint pk_geom_cols primary key (table_name, column_name), constraint uk_gc_table_name unique (table_name),
    constraint fk_gc_tn foreign key (table_name) references gpkg_contents (table_name),
    constraint fk_gc_srs foreign key (srs_id) references gpkg_spatial_ref_sys (srs_id)
  );
  insert into gpkg_spatial_ref_sys values
    ('Undefined Cartesian SRS', -1, 'NONE', -1, 'undefined', 'undefined Cartesian coordinate reference system'),
    ('Undefined geographic SRS', 0, 'NONE', 0, 'undefined', 'undefined geographic coordinate reference system'),
    ('WGS 84 geodetic', 4326, 'EPSG', 4326, '${WGS84}', 'longitude/latitude coordinates in decimal degrees on the WGS 84 spheroid');
`;

const LAYER = 'finds';

/**
 * Makes an empty database a GeoPackage (1.3) with one layer of the finds as points in WGS 84, which
 * QGIS displays in a colour per sending state. A point that was converted, or would lose digits,
 * has its measured coordinates among the attributes as well.
 * @param nowIso time of creation, ISO 8601 in UTC
 */
export function fillGeoPackage(
  database: Database,
  finds: Iterable<ExportedFind>,
  nowIso: string,
): void {
  initializeGeoPackage(database);
  // The geometry has the point; where it would lose digits, they are in a column of WKT.
  const names = [
    ...listExportColumns().filter((name) => name !== 'geom_x' && name !== 'geom_y'),
    'geom_wkt',
    'geom_sjtsk_wkt',
    STATE_COLUMN,
  ];
  const columns = names.map((name) => ({ name, type: getGpkgColumnType(name) }));
  const features = listFeatures(finds, names);
  addLayer(database, { table: LAYER, columns, geometry: 'POINT', nowIso }, features);
  addStyle(database, nowIso);
}

/** Yields a feature per find, with the values of the named columns. */
function* listFeatures(
  finds: Iterable<ExportedFind>,
  names: readonly string[],
): Generator<GpkgFeature> {
  for (const find of finds) {
    const values = new Map<string, ExportValue>(collectExportValues(find));
    const point = getPoint(find.elements);
    const degrees = point === undefined ? undefined : makeWgs84Point(point);
    if (degrees?.exact !== undefined) values.set(degrees.exact.column, degrees.exact.wkt);
    if (find.state !== undefined) values.set(STATE_COLUMN, find.state);
    yield { point: degrees, values: names.map((name) => toStoredValue(values.get(name))) };
  }
}

/** Returns the type of an element's column in a GeoPackage; `text` for a column of no element. */
export function getGpkgColumnType(column: string): GpkgColumn['type'] {
  if (!isElementName(column)) return 'text';
  switch (getField(column).kind) {
    case 'integer':
    case 'state':
      return 'integer';
    case 'date':
      return 'date';
    case 'boolean':
      return 'boolean';
    default:
      return 'text';
  }
}

function toStoredValue(value: ExportValue | undefined): string | number | null {
  if (value === undefined) return null;
  if (typeof value === 'string') return protectFormulaMark(value);
  return typeof value === 'boolean' ? Number(value) : value;
}

type TemplateValue = string | number | boolean | undefined | readonly TemplateValues[];

/** Values of a template by the names of their placeholders. */
type TemplateValues = { readonly [name: string]: TemplateValue };

const PLACEHOLDER = /\{#(\w+)\}(.*?)\{\/\1\}|\{(&?)(\w+)\}/gs;

/**
 * Reads a template from the folder `schemas/qgis` and returns its text with these values. `{name}`
 * becomes a value, escaped for an attribute, and `{&name}` one that is XML already. The text
 * between `{#name}` and `{/name}` is repeated for each item of a list, whose values hide those
 * around it; it is left out for a value that is absent or false, and kept once for any other.
 * Booleans become 1 and 0, an absent value nothing.
 * @param file name of the template
 * @throws RangeError where an escaped value has a character that XML cannot hold; the system's
 * error for a missing template
 */
export function fillQgisTemplate(file: string, values: TemplateValues): string {
  return fillText(readFileSync(join(packageRoot, 'schemas', 'qgis', file), 'utf8'), values);
}

function fillText(template: string, values: TemplateValues): string {
  return template.replace(PLACEHOLDER, (_, section, inner, mark, name) => {
    if (section !== undefined) {
      const items = listItems(values[section]);
      return items.map((item) => fillText(inner, { ...values, ...item })).join('');
    }
    const value = values[name];
    if (typeof value === 'boolean') return value ? '1' : '0';
    const text = String(value ?? '');
    return mark === '&' ? text : escapeAttributeValue(name, text);
  });
}

function listItems(value: TemplateValue): readonly TemplateValues[] {
  if (value === undefined || value === false) return [];
  return typeof value === 'object' ? value : [{}];
}

/** A value of QGIS settings. */
type OptionValue =
  | string
  | number
  | boolean
  | readonly OptionValue[]
  | { readonly [name: string]: OptionValue };

/**
 * Writes a value as QGIS 3 does: `<Option type="Map">` with an `<Option name="…">` for each member.
 */
function renderQgisOption(value: OptionValue, name?: string): string {
  const named = name === undefined ? '' : ` name="${escapeAttributeValue('Option', name)}"`;
  if (typeof value !== 'object') {
    const text = escapeAttributeValue('Option', String(value));
    return `<Option${named} value="${text}" type="${getQgisType(value)}"/>`;
  }
  const isList = Array.isArray(value);
  const members = Object.entries(value).map(([key, each]) =>
    renderQgisOption(each, isList ? undefined : key),
  );
  return `<Option${named} type="${isList ? 'List' : 'Map'}">${members.join('')}</Option>`;
}

function getQgisType(value: string | number | boolean): string {
  if (typeof value === 'number') return 'int';
  return typeof value === 'boolean' ? 'bool' : 'QString';
}

/** Column of a layer: its type in the GeoPackage, and its editor in QGIS and QField. */
export type LayerColumn = GpkgColumn & {
  readonly label?: string;
  readonly widget?: Widget;
  /** QGIS expression of the default value. */
  readonly initially?: string;
  readonly mustBeFilled?: boolean;
  readonly mustBeUnique?: boolean;
  readonly constraint?: Constraint;
  /** QField suggests the value of the previous feature. */
  readonly staysForNext?: boolean;
  /** The form shows it, but it cannot be edited. */
  readonly isFixed?: boolean;
};

/** Editor widget, by its name in QGIS, and its settings. */
export type Widget = {
  readonly kind: string;
  readonly settings: Readonly<Record<string, OptionValue>>;
};

/** A QGIS expression that must hold, and the message where it does not. */
export type Constraint = { readonly expression: string; readonly description: string };

/** Tab of a form: columns, or the features of a relation. */
export type FormTab = {
  readonly tab: string;
  readonly columns: readonly string[];
  readonly relation?: string;
  /** QGIS expression. */
  readonly shownIf?: string;
};

/** A layer of a project for QGIS and QField. */
export type QgisLayer = {
  /** More than ten characters: QGIS replaces a shorter id. */
  readonly id: string;
  readonly title: string;
  /** File beside the project, and its table. */
  readonly file: string;
  readonly table: string;
  readonly geometry?: 'Point';
  readonly columns: readonly LayerColumn[];
  /** Tabs of the form; generated by QGIS if absent. */
  readonly form?: readonly FormTab[];
  /** QGIS expression of a feature's display name. */
  readonly called: string;
  /** Hidden in the legend, and not editable. */
  readonly isList?: boolean;
  /** XML of its symbols and labels. */
  readonly style?: string;
  /** Settings of QFieldSync and QField. */
  readonly settings: Readonly<Record<string, string>>;
};

/**
 * Makes the values of a layer for the template `project.xml` of {@link fillQgisTemplate}. The key
 * column `fid`, which the layer does not name, becomes its first column.
 */
export function makeLayerTemplateValues(layer: QgisLayer): TemplateValues {
  const { id, file, table, geometry, called, form, settings } = layer;
  const { isList = false, style = '' } = layer;
  return {
    id,
    file,
    table,
    geometry,
    called,
    isList,
    style,
    layer: layer.title,
    shape: geometry ?? 'No geometry',
    wkbType: geometry ?? 'NoGeometry',
    isLabelled: style.includes('<labeling'),
    isVisible: !isList,
    settings: renderQgisOption(settings),
    columns: [KEY_COLUMN, ...layer.columns].map(makeColumnTemplateValues),
    editor: form === undefined ? 'generatedlayout' : 'tablayout',
    tabs: form?.map(({ columns, ...tab }) => ({
      ...tab,
      fields: columns.map((field) => ({ field })),
      isConditional: tab.shownIf !== undefined,
    })),
  };
}

const KEY_COLUMN: Omit<LayerColumn, 'type'> = {
  name: 'fid',
  widget: { kind: 'Hidden', settings: {} },
  mustBeFilled: true,
  mustBeUnique: true,
};

function makeColumnTemplateValues(
  column: Omit<LayerColumn, 'type'>,
  index: number,
): TemplateValues {
  const { name, label, widget, initially, constraint } = column;
  const { mustBeFilled = false, mustBeUnique = false } = column;
  const isConstrained = constraint !== undefined;
  return {
    name,
    index,
    label,
    initially,
    mustBeFilled,
    mustBeUnique,
    isConstrained,
    widget: widget?.kind ?? 'TextEdit',
    config: renderQgisOption(widget?.settings ?? {}),
    constraints: Number(mustBeFilled) + 2 * Number(mustBeUnique) + 4 * Number(isConstrained),
    expression: constraint?.expression,
    description: constraint?.description,
    isEditable: column.isFixed !== true,
    staysForNext: column.staysForNext === true,
  };
}

/** Red, green, blue and opacity, in QGIS's notation. */
type Colour = `${number},${number},${number},${number}`;

type Category = { readonly value: string; readonly label: string; readonly colour: Colour };

/**
 * Renders the QGIS style of a layer of points as two XML elements without a root: symbols, with a
 * colour for each category of a column, and labels.
 * @param categories the one with an empty value is for all other values
 * @param called QGIS expression of a point's label
 */
export function renderPointStyle(
  column: string,
  categories: readonly Category[],
  called: string,
): string {
  const points = fillQgisTemplate('points.xml', {
    column,
    categories: categories.map((category, index) => ({ ...category, index })),
  });
  return points + fillQgisTemplate('labels.xml', { called });
}

const COLOURS = {
  draft: '190,190,190,255',
  queued: '253,191,111,255',
  sending: '166,206,227,255',
  accepted: '51,160,44,255',
  refused: '227,26,28,255',
  uncertain: '106,61,154,255',
  dropped: '90,90,90,255',
} as const satisfies Readonly<Record<EntryState, string>>;

/**
 * Renders the style of the finds, with words in the current language: a colour per sending state,
 * and as label the object type, else the local id.
 */
function renderFindStyle(): string {
  const called = 'coalesce("druh_nalezu", "local_id")';
  const categories = Object.entries(COLOURS).map(([state, colour]) => ({
    value: state,
    label: String(STATE_WORDS[state as EntryState]),
    colour,
  }));
  const others = { value: '', label: t`not queued`, colour: '255,255,255,255' } as const;
  const points = renderPointStyle(STATE_COLUMN, [...categories, others], called);
  return fillQgisTemplate('layer.qml', { style: points, called });
}
