import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { cmd, type Message, msg } from '../base/message.ts';

/** The rules of OAI-PMH 2.0 as data: verbs with their arguments (section 4), errors (section 3.6). */

export const OAI_NAMESPACE = 'http://www.openarchives.org/OAI/2.0/';
export const OAI_DC_NAMESPACE = 'http://www.openarchives.org/OAI/2.0/oai_dc/';

type ArgumentName = 'identifier' | 'metadataPrefix' | 'set' | 'from' | 'until' | 'resumptionToken';
export type OaiArguments = { readonly [Name in ArgumentName]?: string };

type Rule = { readonly required: readonly ArgumentName[]; readonly optional: readonly ArgumentName[] };

const VERBS = {
  Identify: { required: [], optional: [] },
  ListMetadataFormats: { required: [], optional: ['identifier'] },
  ListSets: { required: [], optional: ['resumptionToken'] },
  ListIdentifiers: { required: ['metadataPrefix'], optional: ['set', 'from', 'until', 'resumptionToken'] },
  ListRecords: { required: ['metadataPrefix'], optional: ['set', 'from', 'until', 'resumptionToken'] },
  GetRecord: { required: ['identifier', 'metadataPrefix'], optional: [] },
} as const satisfies Record<string, Rule>;

export type Verb = keyof typeof VERBS;

export const ERROR_HINTS: Readonly<Record<string, Message>> = {
  badArgument: msg`Check the set, the format and the dates. A service in trouble gives the same answer: try again later.`,
  badResumptionToken: msg`The list expired on the server. Run the command again; what was stored is kept.`,
  badVerb: msg`The address may not be a harvesting interface. Check oai_base in the profile.`,
  cannotDisseminateFormat: msg`See \`${cmd`pas oai formats`}\` for what this service offers.`,
  idDoesNotExist: msg`Check the identifier.`,
  noMetadataFormats: msg`There is nothing to read for this record.`,
  noRecordsMatch: msg`Nothing matches the set and the dates.`,
  noSetHierarchy: msg`This service has no sets; harvest without one.`,
};

/** @throws UsageError where the service could only refuse these arguments */
export function checkArguments(verb: Verb, args: OaiArguments): void {
  const names = Object.keys(args) as ArgumentName[];
  const { required, optional }: Rule = VERBS[verb];
  const stray = names.find((name) => !required.includes(name) && !optional.includes(name));
  if (stray !== undefined) throw new UsageError(t`${verb} takes no argument ${stray}.`);
  const empty = names.find((name) => args[name] === '');
  if (empty !== undefined) throw new UsageError(t`The argument ${empty} of ${verb} is empty.`);
  if (args.resumptionToken !== undefined) {
    if (names.length > 1)
      throw new UsageError(t`Give a resumption token alone: it already contains the set, the format and the dates.`);
    return;
  }
  const missing = required.find((name) => args[name] === undefined);
  if (missing !== undefined) throw new UsageError(t`${verb} needs the argument ${missing}.`);
  checkWindow(args);
}

function checkWindow({ from, until }: OaiArguments): void {
  for (const [name, value] of [
    ['from', from],
    ['until', until],
  ] as const) {
    if (value !== undefined && parseGranularity(value) === undefined) {
      throw new UsageError(t`${name} is "${value}", which is not a date that the service can read.`, {
        hint: t`Write 2025-06-18 or 2025-06-18T08:30:00Z (UTC).`,
      });
    }
  }
  if (from === undefined || until === undefined) return;
  if (parseGranularity(from) !== parseGranularity(until))
    throw new UsageError(t`from and until must both be dates or both be times.`);
  if (from > until) throw new UsageError(t`from (${from}) is later than until (${until}).`);
}

/** The query string: the verb first, a resumption token last (B-TOKEN-1). */
export function buildQuery(verb: Verb, args: OaiArguments): string {
  const { resumptionToken, ...otherArgs } = args;
  const query = new URLSearchParams({ verb });
  for (const [name, value] of Object.entries(otherArgs)) if (value !== undefined) query.append(name, value);
  if (resumptionToken !== undefined) query.append('resumptionToken', resumptionToken);
  return query.toString();
}

/** Datestamps of OAI-PMH 2.0, section 3.3; milliseconds are read as well, since services send them. */

export type Granularity = 'day' | 'second';

export const DAY_MS = 86_400_000;

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?Z$/;

/** Milliseconds since 1970 UTC; undefined where the text is no UTC date or time, or no day of the calendar. */
export function datestampMs(text: string): number | undefined {
  const parts = DAY.exec(text) ?? TIME.exec(text);
  if (parts === null) return undefined;
  const ms = Date.parse(text);
  // Date.parse turns 30 February into 1 March, and a 13th month into what has no day.
  return new Date(ms).getUTCDate() === Number(parts[3]) ? ms : undefined;
}

export function isDay(datestamp: string): boolean {
  return DAY.test(datestamp);
}

/** Returns the granularity of a bound; undefined where the text is none. */
export function parseGranularity(text: string): Granularity | undefined {
  if (datestampMs(text) === undefined || text.includes('.')) return undefined;
  return DAY.test(text) ? 'day' : 'second';
}

/** Rounded down, so that a `from` made of it never leaves anything out. */
export function formatDatestamp(ms: number, granularity: Granularity): string {
  const text = new Date(ms).toISOString();
  return granularity === 'day' ? text.slice(0, 10) : `${text.slice(0, 19)}Z`;
}

/** Rounded up, so that an `until` made of it never leaves anything out. A day is whole as it is. */
export function formatUpwards(ms: number, granularity: Granularity): string {
  return formatDatestamp(granularity === 'day' ? ms : ms + 999, granularity);
}
