import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { formatDecimal, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { packageRoot } from '../../base/own-files.ts';
import { type PulledFind, pull } from '../../harvest/pull-finds.ts';
import { getOutboxStatus } from '../../outbox/views/outbox-status.ts';
import { assertSqliteLoads } from '../checks/check-machine.ts';
import { defineCommand, type Runner } from '../command.ts';
import { type Context, type GlobalOptions, makeContext } from '../context/context.ts';
import { openHarvestClient } from '../context/open-service.ts';
import { formatFindCount, formatNumberCount, formatPhotographCount } from '../result-texts.ts';
import { harvestVocab } from './harvest-vocab.ts';
import { importTables } from './import-tables.ts';
import { init } from './init.ts';
import { login } from './login.ts';
import { importNumbers } from './number.ts';
import { pushCommand } from './push.ts';
import { validate } from './validate.ts';

type DemoOptions = GlobalOptions & { readonly keep?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'demo',
    summary: t`Try the whole workflow on the bundled mock server: harvest, import, validate, push, read back and compare.`,
    examples: ['pas demo', 'pas demo --keep --json'],
  })
    .option('--keep', t`keep the temporary data folder for inspection`)
    .action(run(runDemo));
}

const ACCOUNT = 'archaeologist';
const PROFILE = 'demo';

async function runDemo(context: Context, options: DemoOptions): Promise<ExitReason> {
  const startedMs = context.clock.monotonicMs();
  assertSqliteLoads();
  const { startMockServer } = await import('../../../mock-server/server.ts');
  const server = await startMockServer({ port: 0 });
  const folder = await mkdtemp(join(tmpdir(), 'pas-demo-'));
  const inner = makeDemoContext(context, folder);
  try {
    const figures = await tell(inner, makeStepPrinter(context), server);
    const counts = await countNewAtServer(inner, server.control_url, figures.before);
    const elapsedMs = Math.round(context.clock.monotonicMs() - startedMs);
    const agrees = conclude(context, { ...figures, elapsedMs }, counts);
    return agrees ? 'done' : 'outsideContract';
  } finally {
    await inner.close();
    await server.close();
    if (options.keep === true) printKeptHome(context, join(folder, 'home'));
    else await rm(folder, { recursive: true, force: true });
  }
}

function printKeptHome({ terminal }: Context, home: string): void {
  terminal.printLine();
  terminal.printLine(t`The data folder is kept: PAS_HOME=${home} ${cmd`pas list`}`);
}

/** Makes a context with a home of its own, whose output is indented under the steps. */
function makeDemoContext(context: Context, folder: string): Context {
  const {
    PAS_TOKEN: _token,
    PAS_PROFILE: _profile,
    PAS_USERNAME: _username,
    ...environment
  } = context.environment;
  const world = {
    ...context,
    environment: {
      ...environment,
      PAS_HOME: join(folder, 'home'),
      PAS_STATE: join(folder, 'state'),
      PAS_PASSWORD: ACCOUNT,
      // The server is on this machine, which no proxy reaches.
      no_proxy: '127.0.0.1',
    },
  };
  const inner = makeContext(world, {});
  return {
    ...inner,
    terminal: {
      ...context.terminal,
      json: false,
      printLine: (text = '') =>
        context.terminal.printLine(text === '' ? '' : `   ${text.replaceAll('\n', '\n   ')}`),
      printValue: () => {},
      note: () => {},
    },
  };
}

type Figures = {
  finds: number;
  accepted: number;
  photos: number;
  numbers: number;
  harvestedBack: number;
  before: ServerCounts;
};

async function tell(
  context: Context,
  step: (text: string) => void,
  server: { base_url: string; oai_base: string; schema_base: string; control_url: string },
): Promise<Figures> {
  const before = await fetchServerCounts(context, server.control_url);
  step(
    t`A mock of the finds service is listening at ${server.base_url}. Make a profile and sign in:`,
  );
  await init(context, {
    name: PROFILE,
    baseUrl: server.base_url,
    oaiBase: server.oai_base,
    schemaBase: server.schema_base,
    kind: 'training',
    username: ACCOUNT,
    oaiAuth: 'basic',
  });
  await login(context, {});
  step(t`Harvest the vocabularies, to check everything offline:`);
  await harvestVocab(context, [], {});
  step(t`Import one season, a table of finds with their photographs (examples/finds.csv):`);
  await importTables(context, [join(packageRoot, 'examples', 'finds.csv')], {});
  step(t`Check every find for anything that the service would refuse:`);
  await validate(context, []);
  step(t`Send them, one request every 100 ms, many in parallel:`);
  await pushCommand(context, [], { acceptNewPeople: true });
  step(
    t`Months later the museum assigns registration numbers (examples/numbers.csv). Queue and send them:`,
  );
  await importNumbers(context, join(packageRoot, 'examples', 'numbers.csv'), {});
  const { queued: numbers } = getOutboxStatus(await context.openOutbox()).entries.number;
  await pushCommand(context, [], { acceptNewPeople: true });
  step(t`Read every find back by harvest and compare it with what was sent:`);
  const harvestedBack = await compare(context);
  const { finds, entries } = getOutboxStatus(await context.openOutbox());
  const settledNumbers = entries.number.accepted;
  if (settledNumbers !== numbers)
    context.terminal.warn(t`Only ${settledNumbers} of ${numbers} numbers were accepted.`);
  return {
    finds,
    accepted: entries.import.accepted,
    photos: entries.photo.accepted,
    numbers: settledNumbers,
    harvestedBack,
    before,
  };
}

function makeStepPrinter(context: Context): (text: string) => void {
  let number = 0;
  const { printLine, color } = context.terminal;
  return (text) => {
    number += 1;
    printLine();
    printLine(color.bold(`${number}. ${text}`));
  };
}

async function compare(context: Context): Promise<number> {
  const { finds } = await pull({
    outbox: await context.openOutbox(),
    client: await openHarvestClient(context),
    format: `oai_${context.getProfile().prefix}`,
    clock: context.clock,
    training: true,
    full: true,
    indexAllowanceMs: context.getProfile().indexAllowanceMs,
  });
  const isSame = ({ record, changes }: PulledFind): boolean =>
    record !== undefined && changes.length === 0;
  for (const { sent, record, changes } of finds.filter((find) => !isSame(find))) {
    const { find, identCely } = sent;
    const elements = changes.map(({ element }) => element).join(', ');
    context.terminal.printLine(
      record === undefined
        ? t`${find} (${identCely}) was not found`
        : t`${find} (${identCely}) differs in ${elements}`,
    );
  }
  const all = formatFindCount(finds.length);
  const same = finds.filter(isSame).length;
  context.terminal.printLine(t`${all} sent, ${same} read back unchanged.`);
  return same;
}

type ServerCounts = { readonly finds: number; readonly photos: number };

async function fetchServerCounts(context: Context, controlUrl: string): Promise<ServerCounts> {
  const { send } = await context.openConnections();
  const answer = await send({ method: 'GET', url: `${controlUrl}/state` });
  const { counts } = JSON.parse(answer.body.toString('utf8')) as { counts: ServerCounts };
  return { finds: counts.finds, photos: counts.photos };
}

async function countNewAtServer(
  context: Context,
  controlUrl: string,
  before: ServerCounts,
): Promise<ServerCounts> {
  const after = await fetchServerCounts(context, controlUrl);
  return { finds: after.finds - before.finds, photos: after.photos - before.photos };
}

function conclude(
  { terminal }: Context,
  figures: Figures & { elapsedMs: number },
  server: ServerCounts,
): boolean {
  const agrees =
    figures.finds === figures.accepted &&
    figures.accepted === server.finds &&
    figures.photos === server.photos &&
    figures.harvestedBack === figures.accepted;
  const finds = formatFindCount(figures.finds);
  const photographs = formatPhotographCount(figures.photos);
  const numbers = formatNumberCount(figures.numbers);
  const serverFinds = formatFindCount(server.finds);
  const serverPhotographs = formatPhotographCount(server.photos);
  const seconds = formatDecimal(figures.elapsedMs / 1000, 1);
  terminal.printLine();
  terminal.printLine(
    t`${finds}: ${figures.accepted} accepted with ${photographs} and ${numbers}, ${figures.harvestedBack} read back unchanged.`,
  );
  terminal.printLine(
    t`The server has ${serverFinds} and ${serverPhotographs} more than before. Time: ${seconds} s.`,
  );
  terminal.printLine(
    agrees
      ? terminal.color.green(t`All figures agree with the server.`)
      : terminal.color.red(t`The figures do not agree.`),
  );
  terminal.printValue({
    finds: figures.finds,
    accepted: figures.accepted,
    photos: figures.photos,
    numbers: figures.numbers,
    harvested_back: figures.harvestedBack,
    elapsed_ms: figures.elapsedMs,
  });
  return agrees;
}
