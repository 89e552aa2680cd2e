import { Argument, type Command, Option } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import {
  assertOaiArguments,
  type OaiArguments,
  requiresFormat,
  type Verb,
} from '../../harvest/protocol.ts';
import {
  type Asking,
  askFormats,
  askIdentifiers,
  askIdentify,
  askRecord,
  askRecords,
  askSets,
  type Json,
  type PagingJson,
  resolveIdentifier,
} from '../../harvest/record-json.ts';
import { defineCommand, type Runner } from '../command.ts';
import { getHarvestBase } from '../context/chosen-profile.ts';
import { type Context, type GlobalOptions, installSignalHandlers } from '../context/context.ts';
import { openHarvestClient } from '../context/open-service.ts';
import { formatTree } from '../result-texts.ts';
import { saveMalformedAnswerAndRethrow } from '../run-harvest.ts';

/** The six verbs of OAI-PMH 2.0, section 4, by the words of the command line. */
const VERBS = {
  identify: { verb: 'Identify', show: showIdentity },
  formats: { verb: 'ListMetadataFormats', show: showFormats },
  sets: { verb: 'ListSets', show: showSets },
  identifiers: { verb: 'ListIdentifiers', show: showHeaders },
  records: { verb: 'ListRecords', show: showRecords },
  get: { verb: 'GetRecord', show: showOneRecord },
} as const satisfies Record<string, VerbDefinition>;

type VerbDefinition = {
  readonly verb: Verb;
  /** Prints the answer, and returns its JSON. */
  readonly show: (context: Context, asking: Asking) => Promise<object>;
};

type OaiOptions = GlobalOptions & OaiArguments & { readonly xml?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'oai',
    summary: t`Send a single OAI-PMH request to the harvesting interface.`,
    examples: [
      'pas oai identify',
      'pas oai get --identifier HES-000253 --metadata-prefix oai_dc --json',
      'pas oai identifiers --set samostatny_nalez --from 2025-06-18',
    ],
  })
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
    .action(run(ask));
}

/** Sends one request. `--xml` prints the answer unchanged, otherwise `show` does. */
async function ask(
  context: Context,
  word: keyof typeof VERBS,
  options: OaiOptions,
): Promise<ExitReason> {
  const { verb, show }: VerbDefinition = VERBS[word];
  const args = makeArguments(context, verb, options);
  assertOaiArguments(verb, args);
  const signal = installSignalHandlers(context).stop;
  const version = context.getProfile().schemaVersion;
  const client = await openHarvestClient(context);
  try {
    if (options.xml === true)
      context.streams.stdout.write((await client.sendRequest(verb, args, signal)).body);
    else context.terminal.printValue(await show(context, { client, version, args, signal }));
  } catch (thrown) {
    saveMalformedAnswerAndRethrow(context, thrown);
  }
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
      identifier === undefined ? undefined : resolveIdentifier(getHarvestBase(profile), identifier),
    metadataPrefix: metadataPrefix ?? (isNative ? `oai_${profile.prefix}` : undefined),
    set,
    from,
    until,
    resumptionToken,
  };
}

/** Formatting of answers of the harvesting interface. */

async function showIdentity({ terminal }: Context, asking: Asking): Promise<object> {
  const identity = await askIdentify(asking);
  for (const line of formatTree(identity)) terminal.printLine(line);
  return identity;
}

async function showFormats({ terminal }: Context, asking: Asking): Promise<object> {
  const answer = await askFormats(asking);
  const rows = answer.formats.map(({ prefix, namespace, schema }) => [prefix, namespace, schema]);
  await terminal.printTable([t`PREFIX`, t`NAMESPACE`, t`SCHEMA`], rows);
  return answer;
}

async function showSets(context: Context, asking: Asking): Promise<object> {
  const answer = await askSets(asking);
  const rows = answer.sets.map(({ set, name }) => [set, name]);
  await context.terminal.printTable([t`SET`, t`NAME`], rows);
  printPagingNote(context, answer, rows.length, 'sets');
  return answer;
}

async function showHeaders(context: Context, asking: Asking): Promise<object> {
  const answer = await askIdentifiers(asking);
  const rows = answer.headers.map(({ identifier, datestamp, sets, deleted }) => [
    identifier,
    datestamp,
    sets.join(' '),
    deleted === true ? t`deleted` : '',
  ]);
  await context.terminal.printTable([t`IDENTIFIER`, t`DATESTAMP`, t`SETS`, ''], rows);
  printPagingNote(context, answer, rows.length, 'identifiers');
  return answer;
}

async function showRecords(context: Context, asking: Asking): Promise<object> {
  const answer = await askRecords(asking);
  for (const record of answer.records) printRecord(context, record);
  printPagingNote(context, answer, answer.records.length, 'records');
  return answer;
}

async function showOneRecord(context: Context, asking: Asking): Promise<object> {
  const record = await askRecord(asking);
  printRecord(context, record);
  return record;
}

function printRecord(
  { terminal }: Context,
  { identifier, ...rest }: { readonly [name: string]: Json },
): void {
  terminal.printLine(terminal.color.bold(String(identifier)));
  for (const line of formatTree(rest)) terminal.printLine(`  ${line}`);
  terminal.printLine();
}

function printPagingNote(
  { terminal }: Context,
  paging: PagingJson,
  count: number,
  command: string,
): void {
  if (count === 0) terminal.note(t`The list is empty.`);
  if (paging.resumption_token === null) return;
  const reached = (paging.cursor ?? 0) + count;
  const size = paging.complete_list_size;
  const first = size === null ? t`More follow.` : t`${reached} of ${size}.`;
  terminal.note(
    t`${first} Next page: pas oai ${command} --resumption-token '${paging.resumption_token}'`,
  );
}
