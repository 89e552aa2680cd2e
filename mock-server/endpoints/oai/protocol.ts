import type { Addresses } from '../../base/addresses.ts';
import type { ProtocolErrorCode } from '../../state/contract-references.ts';

/** A request that the protocol answers with an error; HTTP stays 200. */
export class ProtocolError extends Error {
  readonly code: ProtocolErrorCode;
  constructor(code: ProtocolErrorCode, message: string) {
    super(message);
    this.name = 'ProtocolError';
    this.code = code;
  }
}

const VERBS = [
  'Identify',
  'ListMetadataFormats',
  'ListSets',
  'GetRecord',
  'ListIdentifiers',
  'ListRecords',
] as const;
export type Verb = (typeof VERBS)[number];

export type Format = 'dublin-core' | 'native';

/** Returns the formats by their `metadataPrefix`, which for the native one has the XML prefix. */
export function getFormats({ prefix }: Addresses): ReadonlyMap<string, Format> {
  return new Map([
    ['oai_dc', 'dublin-core'],
    [`oai_${prefix}`, 'native'],
  ]);
}

type Arguments = {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly exclusive?: string;
};

const LIST: Arguments = {
  required: ['metadataPrefix'],
  optional: ['set', 'from', 'until'],
  exclusive: 'resumptionToken',
};
/** Arguments of the verbs (B-VERB-1 to B-VERB-8). An exclusive one excludes all others. */
const ARGUMENTS: Readonly<Record<Verb, Arguments>> = {
  Identify: { required: [], optional: [] },
  ListMetadataFormats: { required: [], optional: ['identifier'] },
  ListSets: { required: [], optional: [], exclusive: 'resumptionToken' },
  GetRecord: { required: ['identifier', 'metadataPrefix'], optional: [] },
  ListIdentifiers: LIST,
  ListRecords: LIST,
};
/** Verbs whose arguments the deployed service checks (B-VERB-12). */
const CHECKED_WHEN_DEPLOYED: ReadonlySet<Verb> = new Set([
  'GetRecord',
  'ListIdentifiers',
  'ListRecords',
]);

/** URI reference (RFC 3986, appendix A). */
const URI = new RegExp(
  String.raw`^([a-z][a-z0-9+.-]*:|(?![^/?#]*:))(//(CHAR*@)?(\[[\da-f:.]+\]|CHAR*)(:\d*)?(?=[/?#]|$))?(CHAR|[:@/])*(\?(CHAR|[:@/?])*)?(#(CHAR|[:@/?])*)?$`.replaceAll(
    'CHAR',
    String.raw`(?:[\w\-.~!$&'()*+,;=]|%[\da-f]{2})`,
  ),
  'i',
);
/**
 * Arguments that an answer may repeat by OAI-PMH's schema; others are illegal (section 3.6) and not
 * repeated.
 */
const SYNTAX: Readonly<Record<string, RegExp>> = {
  identifier: URI,
  metadataPrefix: /^[A-Za-z0-9\-_.!~*'()]+$/,
  set: /^[\w\-.!~*'()]+(:[\w\-.!~*'()]+)*$/,
};

/**
 * The arguments of a request beside the verb, checked for names, number and emptiness; values are
 * still texts.
 */
export type Query = { readonly verb: Verb; readonly arguments: ReadonlyMap<string, string> };

/** @throws ProtocolError `badVerb`, `badArgument` */
export function parseQuery(query: URLSearchParams, deployed: boolean): Query {
  const verb = parseVerb(query);
  const values = new Map([...query].filter(([name]) => name !== 'verb'));
  const checked = !deployed || CHECKED_WHEN_DEPLOYED.has(verb);
  if (checked) checkArguments(verb, query, values);
  if (!deployed) {
    for (const [name, value] of values)
      if (SYNTAX[name]?.test(value) === false) throw makeBadArgument(`${name} is malformed`);
  }
  return { verb, arguments: values };
}

/** Error for an unknown verb. */
export const ILLEGAL_VERB = 'Illegal OAI verb';

function parseVerb(query: URLSearchParams): Verb {
  const names = query.getAll('verb');
  if (names.length === 0) throw new ProtocolError('badVerb', 'verb is absent');
  if (names.length > 1) throw new ProtocolError('badVerb', 'verb is repeated');
  const verb = VERBS.find((verb) => verb === names[0]);
  if (verb === undefined) throw new ProtocolError('badVerb', ILLEGAL_VERB);
  return verb;
}

function checkArguments(
  verb: Verb,
  query: URLSearchParams,
  values: ReadonlyMap<string, string>,
): void {
  const { required, optional, exclusive } = ARGUMENTS[verb];
  for (const [name, value] of values) {
    const isKnown = required.includes(name) || optional.includes(name) || name === exclusive;
    if (!isKnown) throw makeBadArgument(`${verb} takes no argument ${name}`);
    if (query.getAll(name).length > 1) throw makeBadArgument(`the argument ${name} is repeated`);
    if (value === '') throw makeBadArgument(`the argument ${name} is empty`);
  }
  if (exclusive !== undefined && values.has(exclusive)) {
    if (values.size > 1)
      throw makeBadArgument(`${exclusive} must be the only argument beside the verb`);
    return;
  }
  const missing = required.find((name) => !values.has(name));
  if (missing !== undefined) throw makeBadArgument(`the argument ${missing} is missing`);
}

/** The only refusal of an argument with a text of its own on the deployed service. */
export const INVALID_SET = 'Invalid set';

export function makeBadArgument(message: string): ProtocolError {
  return new ProtocolError('badArgument', message);
}

/** @throws ProtocolError `cannotDisseminateFormat` */
export function parseFormat(addresses: Addresses, text: string | undefined): Format {
  const formats = getFormats(addresses);
  const format = formats.get(text ?? '');
  if (format !== undefined) return format;
  throw new ProtocolError(
    'cannotDisseminateFormat',
    `the formats are ${[...formats.keys()].join(' and ')}`,
  );
}
