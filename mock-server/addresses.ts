/** Where everything is served: one origin, laid out so that every path of the contract holds. None ends with a slash. */
export type Addresses = {
  /** Interface A. */
  readonly baseUrl: string;
  /** Interface B; also the persistent addresses `{oaiBase}/id/<ident>`. */
  readonly oaiBase: string;
  /** The deployment's own: of XML names, of the schema's file and of the native format (`oai_<prefix>`). */
  readonly prefix: string;
  /** `{schemaBase}/<x.y>/` is a version's namespace, `{schemaBase}/<x.y>/<prefix>.xsd` its schema. */
  readonly schemaBase: string;
  /** Photographs: `{fileBase}/<ident>/file/<uuid>`. */
  readonly fileBase: string;
  readonly controlUrl: string;
};

export const CONTROL_PATH = '/__mock__';

export function addressesOf(origin: string, prefix = 'svc'): Addresses {
  return {
    prefix,
    baseUrl: origin,
    oaiBase: origin,
    schemaBase: `${origin}/schema/${prefix}`,
    fileBase: `${origin}/id`,
    controlUrl: origin + CONTROL_PATH,
  };
}

/** The newest version: the only one that imports are accepted in. */
export const NEWEST_VERSION = '2.2';
export const SCHEMA_VERSIONS = ['2.0', '2.1', '2.2'] as const;
export type SchemaVersion = (typeof SCHEMA_VERSIONS)[number];

export function namespaceOf(addresses: Addresses, version: string): string {
  return `${addresses.schemaBase}/${version}/`;
}

export function xsdAddressOf(addresses: Addresses, version: string): string {
  return `${addresses.schemaBase}/${version}/${addresses.prefix}.xsd`;
}

export function recordAddressOf(addresses: Addresses, ident: string): string {
  return `${addresses.oaiBase}/id/${ident}`;
}

/** Stands in bodies for the address of the photographs, which changes with every start; rendering fills it in. */
export const FILE_BASE = '{file_base}';
