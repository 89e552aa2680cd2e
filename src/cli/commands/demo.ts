import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { loadSqlite } from '../../base/disk/database.ts';
import type { ExitReason } from '../../base/errors.ts';
import { formatDecimal, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { packageRoot } from '../../base/own-files.ts';
import { type PulledFind, pullFinds } from '../../harvest/pull-finds.ts';
import { getOutboxStatus } from '../../outbox/views/outbox-status.ts';
import { defineCommand, type Runner } from '../command.ts';
import {
  type Context,
  type GlobalOptions,
  makeContext,
  omitAccountVariables,
  runPas,
} from '../context/context.ts';
import { openHarvestClient } from '../context/open-service.ts';
import { formatFindCount, formatNumberCount, formatPhotographCount } from '../result-texts.ts';

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

async function runDemo(context: Context, options: DemoOptions): Promise<ExitReason> {
  const startedMs = context.clock.monotonicMs();
  loadSqlite();
  const { startMockServer } = await import('../../../mock-server/server.ts');
  const server = await startMockServer({ port: 0 });
  const folder = await mkdtemp(join(tmpdir(), 'pas-demo-'));
  const inner = makeDemoContext(context, folder);
  try {
    const before = await fetchServerCounts(inner, server.control_url);
    const printStep = makeStepPrinter(context);
    for (const { text, commands } of makeSteps(server.base_url)) {
      printStep(text);
      for (const words of commands) {
        const reason = await runCommand(inner, words);
        if (reason !== 'done') return reason;
      }
    }
    printStep(t`Read every find back by harvest and compare it with what was sent:`);
    const figures = { ...(await countHere(inner)), harvestedBack: await compare(inner) };
    const counts = await countNewAtServer(inner, server.control_url, before);
    const elapsedMs = Math.round(context.clock.monotonicMs() - startedMs);
    return conclude(context, { ...figures, elapsedMs }, counts) ? 'done' : 'outsideContract';
  } finally {
    await inner.close();
    await server.close();
    if (options.keep === true) printKeptHome(context, join(folder, 'home'));
    else await rm(folder, { recursive: true, force: true });
  }
}

type Step = { readonly text: string; readonly commands: readonly (readonly string[])[] };

function makeSteps(baseUrl: string): readonly Step[] {
  return [
    {
      text: t`A mock of the finds service is listening at ${baseUrl}. Make a profile and sign in:`,
      commands: [['init', baseUrl, '--username', ACCOUNT], ['login']],
    },
    {
      text: t`Harvest the vocabularies, to check everything offline:`,
      commands: [['harvest-vocab']],
    },
    {
      text: t`Import one season, a table of finds with their photographs (examples/finds.csv):`,
      commands: [['import', 'examples/finds.csv']],
    },
    {
      text: t`Check every find for anything that the service would refuse:`,
      commands: [['validate']],
    },
    {
      text: t`Send them, one request every 100 ms, many in parallel:`,
      commands: [['push', '--accept-new-people']],
    },
    {
      text: t`Months later the museum assigns registration numbers (examples/numbers.csv). Queue and send them:`,
      commands: [['number', 'import', 'examples/numbers.csv'], ['push']],
    },
  ];
}

/** Shows and runs a command as a person would type it, with what it prints. */
async function runCommand(context: Context, words: readonly string[]): Promise<ExitReason> {
  const { terminal, environment } = context;
  terminal.printLine(terminal.color.dim(`$ pas ${words.join(' ')}`));
  const { reason, output, errors } = await runPas(words, {
    environment,
    cwd: packageRoot,
    isOnTerminal: false,
  });
  terminal.printLine(output.trimEnd());
  if (reason !== 'done') terminal.warn(errors.trimEnd());
  return reason;
}

function printKeptHome({ terminal }: Context, home: string): void {
  terminal.printLine();
  terminal.printLine(t`The data folder is kept: PAS_HOME=${home} ${cmd`pas list`}`);
}

/** Makes a context with a home of its own, whose output is indented under the steps. */
function makeDemoContext(context: Context, folder: string): Context {
  const world = {
    ...context,
    environment: {
      ...omitAccountVariables(context.environment),
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
  readonly finds: number;
  readonly accepted: number;
  readonly photos: number;
  readonly numbers: number;
  readonly harvestedBack: number;
};

async function countHere(context: Context): Promise<Omit<Figures, 'harvestedBack'>> {
  const { finds, entries } = getOutboxStatus(await context.openOutbox());
  return {
    finds,
    accepted: entries.import.accepted,
    photos: entries.photo.accepted,
    numbers: entries.number.accepted,
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
  const { finds } = await pullFinds({
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
