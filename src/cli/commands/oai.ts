import { Argument, Option } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { t } from '../../base/message.ts';
import {
  assertOaiArguments,
  type OaiArguments,
  requiresFormat,
  type Verb,
} from '../../harvest/protocol.ts';
import {
  completeTypedIdentifier,
  fetchFormatsJson,
  fetchHeadersJson,
  fetchIdentityJson,
  fetchRecordJson,
  fetchRecordsJson,
  fetchSetsJson,
  type JsonRequest,
  type PagingJson,
} from '../../harvest/record-json.ts';
import { defineCommand, type Registration } from '../command.ts';
import {
  type Context,
  type GlobalOptions,
  handleSignals,
  requireHarvestBase,
} from '../context/context.ts';
import { openHarvestClient } from '../context/open-service.ts';
import { formatJsonTree } from '../result-texts.ts';

/** The six verbs of OAI-PMH 2.0, section 4, by the words of the command line. */
const VERBS = {
  identify: { verb: 'Identify', ask: fetchIdentityJson },
  formats: { verb: 'ListMetadataFormats', ask: fetchFormatsJson },
  sets: { verb: 'ListSets', ask: fetchSetsJson },
  identifiers: { verb: 'ListIdentifiers', ask: fetchHeadersJson },
  records: { verb: 'ListRecords', ask: fetchRecordsJson },
  get: { verb: 'GetRecord', ask: fetchRecordJson },
} as const satisfies Record<string, VerbDefinition>;

type VerbDefinition = {
  readonly verb: Verb;
  /** Sends the request, and returns the answer as JSON; that of a list with its paging. */
  readonly ask: (request: JsonRequest) => Promise<object>;
};

type OaiOptions = GlobalOptions & OaiArguments & { readonly xml?: boolean };

/** Registers `pas oai`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(program, 'oai', t`Send a single OAI-PMH request to the harvesting interface.`, [
    'pas oai identify',
    'pas oai get --identifier HES-000253 --metadata-prefix oai_dc --json',
    'pas oai identifiers --set samostatny_nalez --from 2025-06-18',
  ])
    .addArgument(
      new Argument(
        '<verb>',
        t`the service, its formats, its sets, a page of identifiers or records, or one record`,
      ).choices(Object.keys(VERBS)),
    )
    .option('--identifier <identifier>', t`get, formats: this record; its short form is enough`)
    .option('--metadata-prefix <prefix>', t`get and pages: format (default: the native one)`)
    .option('--set <set>', t`only of this set or family of sets`)
    .option(
      '--from <date>',
      t`changed at or after this time, UTC: 2025-06-18 or 2025-06-18T08:30:00Z`,
    )
    .option('--until <date>', t`changed at or before this time`)
    .option('--resumption-token <token>', t`token of the page; not combined with other options`)
    .addOption(new Option('--xml', t`print the original answer`).conflicts('json'))
    .action(run(sendVerb));
};

/** Sends one request. `--xml` prints the answer unchanged, otherwise it is printed as a tree. */
async function sendVerb(
  context: Context,
  word: keyof typeof VERBS,
  options: OaiOptions,
): Promise<ExitReason> {
  const { verb, ask }: VerbDefinition = VERBS[word];
  const args = makeArguments(context, verb, options);
  assertOaiArguments(verb, args);
  const signal = handleSignals(context).stop;
  const version = context.getProfile().schemaVersion;
  const client = await openHarvestClient(context);
  if (options.xml === true)
    context.streams.stdout.write((await client.sendRequest(verb, args, signal)).body);
  else printAnswer(context, word, await ask({ client, version, args, signal }));
  return 'done';
}

function makeArguments(
  context: Context,
  verb: Verb,
  { identifier, metadataPrefix, set, from, until, resumptionToken }: OaiOptions,
): OaiArguments {
  const profile = context.getProfile();
  // A resumption token implies its own format.
  const isNative = requiresFormat(verb) && resumptionToken === undefined;
  return {
    identifier:
      identifier === undefined
        ? undefined
        : completeTypedIdentifier(requireHarvestBase(profile), identifier),
    metadataPrefix: metadataPrefix ?? (isNative ? `oai_${profile.prefix}` : undefined),
    set,
    from,
    until,
    resumptionToken,
  };
}

function printAnswer({ terminal }: Context, word: string, answer: object): void {
  terminal.printValue(answer);
  for (const line of formatJsonTree(answer)) terminal.printLine(line);
  const { resumption_token: token, cursor, complete_list_size: size }: Partial<PagingJson> = answer;
  if (token === undefined) return;
  const count = Object.values(answer).find(Array.isArray)?.length ?? 0;
  if (count === 0) terminal.note(t`The list is empty.`);
  if (token === null) return;
  const reached = (cursor ?? 0) + count;
  const first = size === null ? t`More follow.` : t`${reached} of ${size}.`;
  terminal.note(t`${first} Next page: pas oai ${word} --resumption-token '${token}'`);
}
