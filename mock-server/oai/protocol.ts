/** OAI-PMH 2.0, section 3.6. */
type ErrorCode =
  | 'badArgument'
  | 'badResumptionToken'
  | 'badVerb'
  | 'cannotDisseminateFormat'
  | 'idDoesNotExist'
  | 'noMetadataFormats'
  | 'noRecordsMatch'
  | 'noSetHierarchy';

/** A request that the protocol answers with an error; HTTP stays 200. */
export class ProtocolError extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'ProtocolError';
    this.code = code;
  }
}

const VERBS = ['Identify', 'ListMetadataFormats', 'ListSets', 'GetRecord', 'ListIdentifiers', 'ListRecords'] as const;
export type Verb = (typeof VERBS)[number];

export const FORMATS = ['oai_dc', 'oai_svc'] as const;
export type Format = (typeof FORMATS)[number];

type Arguments = { readonly required: readonly string[]; readonly optional: readonly string[]; readonly exclusive?: string };

const LIST: Arguments = { required: ['metadataPrefix'], optional: ['set', 'from', 'until'], exclusive: 'resumptionToken' };
/** Contract, Interface B: which arguments a verb takes. An exclusive one stands alone with the verb. */
const ARGUMENTS: Readonly<Record<Verb, Arguments>> = {
  Identify: { required: [], optional: [] },
  ListMetadataFormats: { required: [], optional: ['identifier'] },
  ListSets: { required: [], optional: [], exclusive: 'resumptionToken' },
  GetRecord: { required: ['identifier', 'metadataPrefix'], optional: [] },
  ListIdentifiers: LIST,
  ListRecords: LIST,
};
/** The deployed service checks the arguments of these verbs only (facts 9.2). */
const CHECKED_WHEN_DEPLOYED: ReadonlySet<Verb> = new Set(['GetRecord', 'ListIdentifiers', 'ListRecords']);

/** The arguments of a request beside the verb, checked for names, number and emptiness; values are still texts. */
export type Query = { readonly verb: Verb; readonly arguments: ReadonlyMap<string, string> };

/** @throws ProtocolError `badVerb`, `badArgument` */
export function readQuery(given: URLSearchParams, deployed: boolean): Query {
  const verb = readVerb(given);
  const values = new Map([...given].filter(([name]) => name !== 'verb'));
  const checked = !deployed || CHECKED_WHEN_DEPLOYED.has(verb);
  if (checked) checkArguments(verb, given, values);
  return { verb, arguments: values };
}

/** Of a verb that nobody knows. */
export const ILLEGAL_VERB = 'Illegal OAI verb';

function readVerb(given: URLSearchParams): Verb {
  const names = given.getAll('verb');
  if (names.length === 0) throw new ProtocolError('badVerb', 'verb is absent');
  if (names.length > 1) throw new ProtocolError('badVerb', 'verb is repeated');
  const verb = VERBS.find((known) => known === names[0]);
  if (verb === undefined) throw new ProtocolError('badVerb', ILLEGAL_VERB);
  return verb;
}

function checkArguments(verb: Verb, given: URLSearchParams, values: ReadonlyMap<string, string>): void {
  const { required, optional, exclusive } = ARGUMENTS[verb];
  for (const [name, value] of values) {
    const isKnown = required.includes(name) || optional.includes(name) || name === exclusive;
    if (!isKnown) throw badArgument(`${verb} takes no argument ${name}`);
    if (given.getAll(name).length > 1) throw badArgument(`the argument ${name} is repeated`);
    if (value === '') throw badArgument(`the argument ${name} is empty`);
  }
  if (exclusive !== undefined && values.has(exclusive)) {
    if (values.size > 1) throw badArgument(`${exclusive} must be the only argument beside the verb`);
    return;
  }
  const missing = required.find((name) => !values.has(name));
  if (missing !== undefined) throw badArgument(`the argument ${missing} is missing`);
}

/** The one refusal of an argument that the deployed service words by itself. */
export const INVALID_SET = 'Invalid set';

export function badArgument(message: string): ProtocolError {
  return new ProtocolError('badArgument', message);
}

/** @throws ProtocolError `badArgument` where the text could be no prefix at all, else `cannotDisseminateFormat` */
export function readFormat(text: string | undefined): Format {
  const format = FORMATS.find((known) => known === text);
  if (format !== undefined) return format;
  if (text === undefined || !/^[A-Za-z0-9\-_.!~*'()]+$/.test(text)) throw badArgument('metadataPrefix is missing or malformed');
  throw new ProtocolError('cannotDisseminateFormat', `the formats are ${FORMATS.join(' and ')}`);
}
