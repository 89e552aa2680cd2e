import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import { granularityOf } from './datestamp.ts';

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

/** What the protocol's error codes mean for the person who asked. */
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
export function checkArguments(verb: Verb, given: OaiArguments): void {
  const names = Object.keys(given) as ArgumentName[];
  const { required, optional }: Rule = VERBS[verb];
  const stray = names.find((name) => !required.includes(name) && !optional.includes(name));
  if (stray !== undefined) throw new UsageError(t`${verb} takes no argument ${stray}.`);
  const empty = names.find((name) => given[name] === '');
  if (empty !== undefined) throw new UsageError(t`The argument ${empty} of ${verb} is empty.`);
  if (given.resumptionToken !== undefined) {
    if (names.length > 1)
      throw new UsageError(t`Give a resumption token alone: it already contains the set, the format and the dates.`);
    return;
  }
  const missing = required.find((name) => given[name] === undefined);
  if (missing !== undefined) throw new UsageError(t`${verb} needs the argument ${missing}.`);
  checkWindow(given);
}

function checkWindow({ from, until }: OaiArguments): void {
  for (const [name, value] of [
    ['from', from],
    ['until', until],
  ] as const) {
    if (value !== undefined && granularityOf(value) === undefined) {
      throw new UsageError(t`${name} is "${value}", which is not a date that the service can read.`, {
        hint: t`Write 2025-06-18 or 2025-06-18T08:30:00Z (UTC).`,
      });
    }
  }
  if (from === undefined || until === undefined) return;
  if (granularityOf(from) !== granularityOf(until)) throw new UsageError(t`from and until must both be dates or both be times.`);
  if (from > until) throw new UsageError(t`from (${from}) is later than until (${until}).`);
}

/** The query string: the verb first, a resumption token last (B-TOKEN-1). */
export function queryOf(verb: Verb, given: OaiArguments): string {
  const { resumptionToken, ...others } = given;
  const query = new URLSearchParams({ verb });
  for (const [name, value] of Object.entries(others)) if (value !== undefined) query.append(name, value);
  if (resumptionToken !== undefined) query.append('resumptionToken', resumptionToken);
  return query.toString();
}
