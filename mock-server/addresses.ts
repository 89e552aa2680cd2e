/** Where everything is served: one origin, laid out so that every path of the contract holds. None ends with a slash. */
export type Addresses = {
  /** Interface A. */
  readonly baseUrl: string;
  /** Interface B; also the persistent addresses `{oaiBase}/id/<ident>`. */
  readonly oaiBase: string;
  /** `{schemaBase}/<x.y>/` is a version's namespace, `{schemaBase}/<x.y>/svc.xsd` its schema. */
  readonly schemaBase: string;
  /** Photographs: `{fileBase}/<ident>/file/<uuid>`. */
  readonly fileBase: string;
  readonly controlUrl: string;
};

export const CONTROL_PATH = '/__mock__';
export const SCHEMA_PATH = '/schema/svc';

export function addressesOf(origin: string): Addresses {
  return {
    baseUrl: origin,
    oaiBase: origin,
    schemaBase: origin + SCHEMA_PATH,
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
  return `${addresses.schemaBase}/${version}/svc.xsd`;
}

export function recordAddressOf(addresses: Addresses, ident: string): string {
  return `${addresses.oaiBase}/id/${ident}`;
}

/** Stands in bodies for the address of the photographs, which changes with every start; rendering fills it in. */
export const FILE_BASE = '{file_base}';
