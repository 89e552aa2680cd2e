import { type Command, Option } from 'commander';
import { type ExitReason, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { harvestBaseOf, openHarvestClient } from '../context/harvesting.ts';
import { watchInterrupts } from '../context/interrupts.ts';
import { keepMalformedAnswer } from '../context/malformed-answer.ts';
import { fullIdentifier, type OaiClient } from '../oai/client.ts';
import type { OaiArguments, Verb } from '../oai/protocol.ts';
import { repeatedElementsOf } from '../oai/repeated-elements.ts';
import { defineCommand, type Runner } from './command.ts';
import { showFormats, showHeaders, showIdentity, showRecord, showRecords, showSets } from './oai-answers.ts';

type VerbOptions = GlobalOptions & { readonly xml?: boolean; readonly schemaVersion?: string };
type IdentifierOptions = VerbOptions & { readonly identifier?: string; readonly metadataPrefix?: string };
type ListOptions = VerbOptions & {
  readonly metadataPrefix?: string;
  readonly set?: string;
  readonly from?: string;
  readonly until?: string;
  readonly resumptionToken?: string;
};

/** The six verbs of OAI-PMH 2.0, section 4, one to one: one request, one answer. */
export function register(program: Command, run: Runner): void {
  const parent = program.command('oai').description(t`Ask the harvesting interface, verb by verb.`);
  const verb = (name: string, summary: string, examples: readonly [string, string]): Command =>
    defineCommand(parent, { name, summary, examples })
      .addOption(new Option('--xml', t`print the answer as it came`).conflicts('json'))
      .option('--schema-version <version>', t`version of the endpoint, such as 2.1, or newest (default: the profile’s)`);

  verb('identify', t`Identify: what the service says of itself.`, ['pas oai identify', 'pas oai identify --xml']).action(
    (options: VerbOptions) => run(options, (context) => identify(context, options)),
  );
  verb('formats', t`ListMetadataFormats: the formats of the service, or of one record.`, [
    'pas oai formats',
    'pas oai formats --identifier C-202400101-N00001',
  ])
    .option('--identifier <identifier>', t`of this record; the bare identifier will do`)
    .action((options: IdentifierOptions) => run(options, (context) => formats(context, options)));
  verb('sets', t`ListSets: the sets of the service.`, ['pas oai sets', 'pas oai sets --json'])
    .option('--resumption-token <token>', t`the page that this token leads to`)
    .action((options: ListOptions) => run(options, (context) => sets(context, options)));
  asList(
    verb('identifiers', t`ListIdentifiers: a page of headers.`, [
      'pas oai identifiers --set samostatny_nalez --from 2025-06-18',
      'pas oai identifiers --resumption-token 59A3C1',
    ]),
  ).action((options: ListOptions) => run(options, (context) => identifiers(context, options)));
  asList(
    verb('records', t`ListRecords: a page of records.`, [
      'pas oai records --set heslo:obdobi --metadata-prefix oai_dc',
      'pas oai records --set projekt --until 2024-12-31 --xml',
    ]),
  ).action((options: ListOptions) => run(options, (context) => records(context, options)));
  verb('get', t`GetRecord: one record.`, [
    'pas oai get --identifier C-202400101-N00001',
    'pas oai get --identifier HES-000253 --metadata-prefix oai_dc --json',
  ])
    .requiredOption('--identifier <identifier>', t`the bare identifier will do`)
    .option('--metadata-prefix <prefix>', t`format (default: the native one)`)
    .action((options: IdentifierOptions) => run(options, (context) => get(context, options)));
}

function asList(command: Command): Command {
  return command
    .option('--metadata-prefix <prefix>', t`format (default: the native one)`)
    .option('--set <set>', t`only of this set`)
    .option('--from <date>', t`changed then or later, UTC: 2025-06-18 or 2025-06-18T08:30:00Z`)
    .option('--until <date>', t`changed then or earlier`)
    .option('--resumption-token <token>', t`the page that this token leads to; goes alone`);
}

async function identify(context: Context, options: VerbOptions): Promise<ExitReason> {
  return asked(context, options, 'Identify', {}, async (client, signal) => {
    showIdentity(context, await client.identify(signal));
  });
}

async function formats(context: Context, options: IdentifierOptions): Promise<ExitReason> {
  const given = options.identifier === undefined ? {} : { identifier: fullIdentifierOf(context, options.identifier) };
  return asked(context, options, 'ListMetadataFormats', given, async (client, signal) => {
    showFormats(context, await client.listMetadataFormats(given.identifier, signal));
  });
}

async function sets(context: Context, options: ListOptions): Promise<ExitReason> {
  const given = options.resumptionToken === undefined ? {} : { resumptionToken: options.resumptionToken };
  return asked(context, options, 'ListSets', given, async (client, signal) => {
    showSets(context, await client.listSets(given, signal));
  });
}

async function identifiers(context: Context, options: ListOptions): Promise<ExitReason> {
  const given = listArguments(context, options);
  return asked(context, options, 'ListIdentifiers', given, async (client, signal) => {
    showHeaders(context, await client.listIdentifiers(given, signal));
  });
}

async function records(context: Context, options: ListOptions): Promise<ExitReason> {
  const given = listArguments(context, options);
  return asked(context, options, 'ListRecords', given, async (client, signal) => {
    showRecords(context, await client.listRecords(given, signal), repeatedIn(context, options));
  });
}

async function get(context: Context, options: IdentifierOptions): Promise<ExitReason> {
  const { identifier = '', metadataPrefix = nativeFormat(context) } = options;
  const given = { identifier: fullIdentifierOf(context, identifier), metadataPrefix };
  return asked(context, options, 'GetRecord', given, async (client, signal) => {
    showRecord(context, await client.getRecord(given.identifier, metadataPrefix, signal), repeatedIn(context, options));
  });
}

/** One request. Under `--xml` the answer is printed as it came, else by `show`. */
async function asked(
  context: Context,
  { xml, schemaVersion }: VerbOptions,
  verb: Verb,
  given: OaiArguments,
  show: (client: OaiClient, signal: AbortSignal) => Promise<void>,
): Promise<ExitReason> {
  const interrupts = watchInterrupts(context);
  const client = await openHarvestClient(context, schemaVersion);
  try {
    if (xml === true) context.streams.stdout.write((await client.ask(verb, given, interrupts.stop)).body);
    else await show(client, interrupts.stop);
  } catch (thrown) {
    keepMalformedAnswer(context, thrown);
  }
  return 'done';
}

function listArguments(context: Context, options: ListOptions): OaiArguments {
  const { metadataPrefix, set, from, until, resumptionToken } = options;
  const named = { metadataPrefix, set, from, until, resumptionToken };
  const given = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  return resumptionToken === undefined && metadataPrefix === undefined
    ? { metadataPrefix: nativeFormat(context), ...given }
    : given;
}

function fullIdentifierOf(context: Context, identifier: string): string {
  if (identifier.trim() === '') throw new UsageError(t`The identifier is empty.`);
  return fullIdentifier(harvestBaseOf(context.profile()), identifier);
}

function nativeFormat(context: Context): string {
  return `oai_${context.profile().prefix}`;
}

function repeatedIn(context: Context, { schemaVersion }: VerbOptions): ReturnType<typeof repeatedElementsOf> {
  return repeatedElementsOf(schemaVersion ?? context.profile().schemaVersion);
}
