import { type Command, Option } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import {
  type Asking,
  askFormats,
  askIdentifiers,
  askIdentify,
  askRecord,
  askRecords,
  askSets,
  type Paging,
  resolveIdentifier,
} from '../../harvest/ask-verb.ts';
import type { OaiArguments, Verb } from '../../harvest/protocol.ts';
import type { Json } from '../../harvest/record-json.ts';
import { defineCommand, type Runner } from '../command.ts';
import { type Context, type GlobalOptions, installSignalHandlers } from '../context/context.ts';
import { saveMalformedAnswer } from '../context/harvest-output.ts';
import { getHarvestBase, openHarvestClient } from '../context/open-service.ts';

type VerbOptions = GlobalOptions & { readonly xml?: boolean };
type ListOptions = VerbOptions & {
  readonly identifier?: string;
  readonly metadataPrefix?: string;
  readonly set?: string;
  readonly from?: string;
  readonly until?: string;
  readonly resumptionToken?: string;
};

type VerbDefinition = {
  readonly name: string;
  readonly summary: string;
  readonly examples: readonly [string, string];
  readonly verb: Verb;
  /** The native format is requested unless another one is given. */
  readonly hasFormat?: boolean;
  /** Prints the answer, and returns its JSON. */
  readonly show: (context: Context, asking: Asking) => Promise<object>;
};

/** The six verbs of OAI-PMH 2.0, section 4, with one request each. */
export function register(program: Command, run: Runner): void {
  const parent = program
    .command('oai')
    .description(t`Send single OAI-PMH requests to the harvesting interface.`);
  defineVerb(parent, run, {
    name: 'identify',
    summary: t`Identify: describe the service.`,
    examples: ['pas oai identify', 'pas oai identify --xml'],
    verb: 'Identify',
    show: showIdentity,
  });
  defineVerb(parent, run, {
    name: 'formats',
    summary: t`ListMetadataFormats: the formats of the service, or of one record.`,
    examples: ['pas oai formats', 'pas oai formats --identifier C-202400101-N00001'],
    verb: 'ListMetadataFormats',
    show: showFormats,
  }).option('--identifier <identifier>', t`formats of this record; the short identifier is enough`);
  defineVerb(parent, run, {
    name: 'sets',
    summary: t`ListSets: the sets of the service.`,
    examples: ['pas oai sets', 'pas oai sets --json'],
    verb: 'ListSets',
    show: showSets,
  }).option('--resumption-token <token>', t`resumption token of the page`);
  defineListVerbs(parent, run);
  defineVerb(parent, run, {
    name: 'get',
    summary: t`GetRecord: one record.`,
    examples: [
      'pas oai get --identifier C-202400101-N00001',
      'pas oai get --identifier HES-000253 --metadata-prefix oai_dc --json',
    ],
    verb: 'GetRecord',
    hasFormat: true,
    show: showOneRecord,
  })
    .requiredOption('--identifier <identifier>', t`the short identifier is enough`)
    .option('--metadata-prefix <prefix>', t`format (default: the native one)`);
}

function defineListVerbs(parent: Command, run: Runner): void {
  asList(
    defineVerb(parent, run, {
      name: 'identifiers',
      summary: t`ListIdentifiers: a page of headers.`,
      examples: [
        'pas oai identifiers --set samostatny_nalez --from 2025-06-18',
        'pas oai identifiers --resumption-token 59A3C1',
      ],
      verb: 'ListIdentifiers',
      hasFormat: true,
      show: showHeaders,
    }),
  );
  asList(
    defineVerb(parent, run, {
      name: 'records',
      summary: t`ListRecords: a page of records.`,
      examples: [
        'pas oai records --set heslo:obdobi --metadata-prefix oai_dc',
        'pas oai records --set projekt --until 2024-12-31 --xml',
      ],
      verb: 'ListRecords',
      hasFormat: true,
      show: showRecords,
    }),
  );
}

function defineVerb(parent: Command, run: Runner, definition: VerbDefinition): Command {
  return defineCommand(parent, definition)
    .addOption(new Option('--xml', t`print the original answer`).conflicts('json'))
    .action(run((context, options: ListOptions) => ask(context, options, definition)));
}

function asList(command: Command): Command {
  return command
    .option('--metadata-prefix <prefix>', t`format (default: the native one)`)
    .option('--set <set>', t`only of this set`)
    .option(
      '--from <date>',
      t`changed at or after this time, UTC: 2025-06-18 or 2025-06-18T08:30:00Z`,
    )
    .option('--until <date>', t`changed at or before this time`)
    .option(
      '--resumption-token <token>',
      t`resumption token of the page; not combined with other options`,
    );
}

/** Sends one request. `--xml` prints the answer unchanged, otherwise `show` does. */
async function ask(
  context: Context,
  options: ListOptions,
  { verb, hasFormat, show }: VerbDefinition,
): Promise<ExitReason> {
  const args = makeArguments(context, options, hasFormat === true);
  const signal = installSignalHandlers(context).stop;
  const version = context.getProfile().schemaVersion;
  const client = await openHarvestClient(context, version);
  try {
    if (options.xml === true)
      context.streams.stdout.write((await client.sendRequest(verb, args, signal)).body);
    else context.terminal.printValue(await show(context, { client, version, args, signal }));
  } catch (thrown) {
    saveMalformedAnswer(context, thrown);
  }
  return 'done';
}

function makeArguments(
  context: Context,
  { identifier, metadataPrefix, set, from, until, resumptionToken }: ListOptions,
  hasFormat: boolean,
): OaiArguments {
  const profile = context.getProfile();
  // A resumption token implies its own format.
  const native = hasFormat && resumptionToken === undefined ? `oai_${profile.prefix}` : undefined;
  return {
    identifier:
      identifier === undefined ? undefined : resolveIdentifier(getHarvestBase(profile), identifier),
    metadataPrefix: metadataPrefix ?? native,
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
  paging: Paging,
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

/** Prints "name: value" per line, children indented, a list as a repeated name. */
function formatTree(value: { readonly [name: string]: Json }): string[] {
  return Object.entries(value).flatMap(([name, child]) =>
    (Array.isArray(child) ? (child as readonly Json[]) : [child]).flatMap((one) =>
      formatBranch(name, one),
    ),
  );
}

function formatBranch(name: string, value: Json): string[] {
  if (value === null || typeof value !== 'object')
    return [`${name}: ${value === null ? '' : value}`];
  if ('masked' in value) return [`${name}: (${t`not shown to this account`})`];
  const {
    '@id': id,
    '@lang': lang,
    '#text': text,
    ...rest
  } = value as { readonly [name: string]: Json };
  const marks = [id, lang].filter((mark) => mark !== undefined).map((mark) => ` (${mark})`);
  const ownText = text === undefined ? '' : ` ${text}`;
  return [`${name}:${ownText}${marks.join('')}`, ...formatTree(rest).map((line) => `  ${line}`)];
}
