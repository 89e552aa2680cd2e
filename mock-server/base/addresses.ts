/**
 * Addresses of all endpoints: one origin with the paths of the contract. None ends with a slash.
 */
export type Addresses = {
  /** Address of interface A. */
  readonly baseUrl: string;
  /** Address of interface B; also prefix of the persistent addresses `{oaiBase}/id/<ident>`. */
  readonly oaiBase: string;
  /** Prefix of XML names, of the schema file and of the native format (`oai_<prefix>`). */
  readonly prefix: string;
  /**
   * `{schemaBase}/<x.y>/` is a version's namespace, `{schemaBase}/<x.y>/<prefix>.xsd` its schema.
   */
  readonly schemaBase: string;
  /** Persistent addresses and harvested identifiers: `{idBase}/<ident>`. */
  readonly idBase: string;
  /** Photographs: `{fileBase}/<ident>/file/<uuid>`. */
  readonly fileBase: string;
  readonly controlUrl: string;
  /** Prefix of every path: empty, or `/t/<tenant>`. */
  readonly mount: string;
  /** Addresses that the operator fixed; the others follow the address that a client used. */
  readonly overrides: GivenAddresses;
};

/** Addresses that an operator can set; none ends with a slash. */
type GivenAddresses = {
  readonly prefix?: string;
  readonly schemaBase?: string;
  /**
   * Public address of the server where it differs from the listening one: behind a proxy, or in a
   * container.
   */
  readonly publicUrl?: string;
  /**
   * Names in documents are those of the deployed service: prefix, namespace and persistent
   * addresses.
   */
  readonly serviceNames?: boolean;
};

/**
 * Names of the deployed service (S-NAME-3). Photographs keep the address of this server, which
 * alone has them.
 */
const SERVICE_NAMES = {
  prefix: 'amcr',
  schemaBase: 'https://api.aiscr.cz/schema/amcr',
  idBase: 'https://api.aiscr.cz/id',
};

/** Path of the control interface and its page, below the origin and the mount of a tenant. */
export const CONTROL_PATH = '/__mock__';

/**
 * Makes all addresses.
 * @param origin on which the server listens
 * @param mount of a tenant
 */
export function makeAddresses(
  origin: string,
  overrides: GivenAddresses = {},
  mount = '',
): Addresses {
  const names = overrides.serviceNames === true ? SERVICE_NAMES : undefined;
  const prefix = overrides.prefix ?? names?.prefix ?? 'svc';
  const server = overrides.publicUrl ?? origin;
  const base = server + mount;
  return {
    prefix,
    baseUrl: base,
    oaiBase: base,
    // Shared by all tenants, so that one document is valid for each.
    schemaBase: overrides.schemaBase ?? names?.schemaBase ?? `${server}/schema/${prefix}`,
    idBase: names?.idBase ?? `${base}/id`,
    fileBase: `${base}/id`,
    controlUrl: base + CONTROL_PATH,
    mount,
    overrides,
  };
}

/**
 * Returns the addresses below the host that a client used, such as a mapped port.
 * @param used host with port, and protocol with colon; an invalid one is ignored
 */
export function getAddressesAt(
  addresses: Addresses,
  { host, protocol }: { readonly host: string; readonly protocol?: string },
): Addresses {
  const { overrides, mount, baseUrl } = addresses;
  const isPlausible = /^(?:[\w.-]+|\[[\da-f:]+\])(?::\d{1,5})?$/i.test(host);
  if (!isPlausible || overrides.publicUrl !== undefined) return addresses;
  const isWeb = protocol === 'http:' || protocol === 'https:';
  const origin = `${isWeb ? protocol : new URL(baseUrl).protocol}//${host}`;
  return origin + mount === baseUrl ? addresses : makeAddresses(origin, overrides, mount);
}

/** The newest schema version, and the only one that imports may have (S-VERSION-2). */
export const NEWEST_VERSION = '2.2';
/** Versions with a harvesting endpoint of their own, the oldest first (S-VERSION-4). */
export const SCHEMA_VERSIONS = ['2.0', '2.1', '2.2'] as const;
export type SchemaVersion = (typeof SCHEMA_VERSIONS)[number];

/** Returns the XML namespace of a schema version, which ends with a slash. */
export function getNamespace(addresses: Addresses, version: string): string {
  return `${addresses.schemaBase}/${version}/`;
}

/** Returns where the schema of a version is served; `schemaLocation` names it (A-DECLARE-2). */
export function getXsdAddress(addresses: Addresses, version: string): string {
  return `${addresses.schemaBase}/${version}/${addresses.prefix}.xsd`;
}

/** Returns the persistent address of a record, which is its identifier in a harvest too. */
export function getRecordAddress(addresses: Addresses, ident: string): string {
  return `${addresses.idBase}/${ident}`;
}

/**
 * Placeholder in bodies for the address of photographs, which changes with each start; rendering
 * replaces it.
 */
export const FILE_BASE = '{file_base}';
