/** Tables that every GeoPackage has (OGC 12-128r17, annex C). */
export const GPKG_TABLES = `
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
`;

const WGS84 =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],' +
  'PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],' +
  'AXIS["Latitude",NORTH],AXIS["Longitude",EAST],AUTHORITY["EPSG","4326"]]';

/** Name, id, organization, its id, definition, description of the three required systems. */
export const SPATIAL_REFERENCES: readonly (readonly [string, number, string, number, string, string])[] = [
  ['Undefined Cartesian SRS', -1, 'NONE', -1, 'undefined', 'undefined Cartesian coordinate reference system'],
  ['Undefined geographic SRS', 0, 'NONE', 0, 'undefined', 'undefined geographic coordinate reference system'],
  ['WGS 84 geodetic', 4326, 'EPSG', 4326, WGS84, 'longitude/latitude coordinates in decimal degrees on the WGS 84 spheroid'],
];
