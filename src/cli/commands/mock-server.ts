import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPassing } from '../../../mock-server/base/error-message.ts';
import {
  addMockServerOptions,
  type MockServerFlags,
  parseMockServerOptions,
} from '../../../mock-server/state/options.ts';
import { loadSqlite } from '../../base/disk/database.ts';
import {
  type ExitReason,
  getErrorMessage,
  UnavailableError,
  UsageError,
} from '../../base/errors.ts';
import { cmd, formatDecimal, msg, t } from '../../base/message.ts';
import { packageRoot } from '../../base/own-files.ts';
import type { EntryKind } from '../../outbox/entry.ts';
import type { RecordStanding } from '../../outbox/views/records-at-service.ts';
import { defineCommand, type Registration } from '../command.ts';
import {
  type Context,
  type GlobalOptions,
  omitAccountVariables,
  runPas,
} from '../context/context.ts';
import type { Environment } from '../context/places.ts';
import { formatFindCount, formatPhotographCount } from '../result-texts.ts';

type DemoOptions = GlobalOptions & { readonly keep?: boolean };

/** Registers `pas demo` and `pas mock-server`, whose flags the mock itself defines. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'demo',
    t`Try the whole workflow on the bundled mock server: harvest, import, validate, push, read back and compare.`,
    ['pas demo', 'pas demo --keep --json'],
  )
    .option('--keep', t`keep the temporary data folder for inspection`)
    .action(run(runDemo));
  const command = defineCommand(
    program,
    'mock-server',
    t`Run a mock of the whole finds service on this machine.`,
    ['pas mock-server --port 8080', 'pas mock-server --data mock.sqlite --json'],
  );
  // The mock describes its own flags, in English.
  addMockServerOptions(command).action(run(serve));
};

/** Serves until it is stopped. The ready line is printed when connections are accepted. */
async function serve(context: Context, flags: MockServerFlags): Promise<ExitReason> {
  const { terminal } = context;
  const server = await start(flags);
  // Before the ready line: its reader may end the server at once.
  const stopped = Promise.race(
    ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => once(process, signal)),
  );
  const { base_url, oai_base, schema_base, control_url, port, pid } = server;
  terminal.printLine(
    t`Mock service ready at ${base_url}, with a live page at ${control_url}/ (harvesting ${oai_base}, schemas ${schema_base}, control ${control_url}).`,
  );
  terminal.printValue({ base_url, oai_base, schema_base, control_url, port, pid });
  await stopped;
  await server.close();
  return 'done';
}

async function start(flags: MockServerFlags) {
  loadSqlite();
  const { startMockServer } = await import('../../../mock-server/server.ts');
  try {
    return await startMockServer(parseMockServerOptions(flags));
  } catch (thrown) {
    const why = getErrorMessage(thrown);
    const CannotStart = isPassing(thrown) ? UnavailableError : UsageError;
    throw new CannotStart(msg`The mock server cannot start: ${why}`, { cause: thrown });
  }
}

const ACCOUNT = 'archaeologist';

/**
 * Runs the whole workflow against a mock server, in a temporary data home, which `--keep` leaves.
 * @returns the exit reason of the first command that fails; `outsideContract` where the figures of
 * pas and of the server differ
 */
async function runDemo(context: Context, options: DemoOptions): Promise<ExitReason> {
  const startedMs = context.clock.monotonicMs();
  const server = await start({});
  const folder = await mkdtemp(join(tmpdir(), 'pas-demo-'));
  const environment = makeDemoEnvironment(context, folder);
  const run = (words: readonly string[]) => runCommand(context, environment, words);
  try {
    const before = await fetchServerCounts(server.control_url);
    const steps = makeSteps(server.base_url);
    for (const [index, { text, commands }] of steps.entries()) {
      printStep(context, index + 1, text);
      for (const words of commands) {
        const { reason, output } = await run(words);
        printIndented(context, output.trimEnd());
        if (reason !== 'done') return reason;
      }
    }
    printStep(
      context,
      steps.length + 1,
      t`Read every find back by harvest and compare it with what was sent:`,
    );
    const pulled = await run(['pull', '--full', '--json']);
    if (pulled.reason !== 'done') return pulled.reason;
    const { output } = await run(['status', '--json']);
    const { finds, entries } = JSON.parse(output) as StatusReport;
    const after = await fetchServerCounts(server.control_url);
    const figures = {
      finds,
      accepted: entries.import.accepted,
      photos: entries.photo.accepted,
      harvested_back: (JSON.parse(pulled.output) as PullReport).finds.filter(isUnchanged).length,
      elapsed_ms: Math.round(context.clock.monotonicMs() - startedMs),
    };
    const added = { finds: after.finds - before.finds, photos: after.photos - before.photos };
    return conclude(context, figures, added) ? 'done' : 'outsideContract';
  } finally {
    await server.close();
    const home = join(folder, 'home');
    if (options.keep === true)
      context.terminal.printLine(
        `\n${t`The data folder is kept: PAS_HOME=${home} ${cmd`pas list`}`}`,
      );
    else await rm(folder, { recursive: true, force: true });
  }
}

/** Returns an environment with a home of its own, and the account of the mock server. */
function makeDemoEnvironment({ environment }: Context, folder: string): Environment {
  return {
    ...omitAccountVariables(environment),
    PAS_HOME: join(folder, 'home'),
    PAS_STATE: join(folder, 'state'),
    PAS_PASSWORD: ACCOUNT,
    // The server is on this machine, which no proxy reaches.
    no_proxy: '127.0.0.1',
  };
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

/** Shows and runs a command as a person would type it; what it says of a failure is printed. */
async function runCommand(context: Context, environment: Environment, words: readonly string[]) {
  const { terminal } = context;
  printIndented(context, terminal.color.dim(`$ pas ${words.join(' ')}`));
  const ended = await runPas(words, { environment, cwd: packageRoot, isOnTerminal: false });
  if (ended.reason !== 'done') terminal.warn(ended.errors.trimEnd());
  return ended;
}

function printIndented({ terminal }: Context, text: string): void {
  terminal.printLine(text === '' ? '' : `   ${text.replaceAll('\n', '\n   ')}`);
}

type StatusReport = {
  readonly finds: number;
  readonly entries: Readonly<Record<EntryKind, { readonly accepted: number }>>;
};

function printStep({ terminal }: Context, number: number, text: string): void {
  terminal.printLine(`\n${terminal.color.bold(`${number}. ${text}`)}`);
}

type PulledFind = { readonly standing: RecordStanding; readonly changed: readonly unknown[] };
type PullReport = { readonly finds: readonly PulledFind[] };

function isUnchanged({ standing, changed }: PulledFind): boolean {
  return standing === 'shown' && changed.length === 0;
}

type ServerCounts = { readonly finds: number; readonly photos: number };
/** As `--json` prints them. */
type Figures = ServerCounts &
  Readonly<Record<'accepted' | 'harvested_back' | 'elapsed_ms', number>>;

async function fetchServerCounts(controlUrl: string): Promise<ServerCounts> {
  const answer = await fetch(`${controlUrl}/state`);
  const { counts } = (await answer.json()) as { counts: ServerCounts };
  return counts;
}

/** Prints the figures, and tells if those of pas and of the server agree. */
function conclude({ terminal }: Context, figures: Figures, server: ServerCounts): boolean {
  const { accepted, harvested_back: harvestedBack } = figures;
  const agrees =
    figures.finds === accepted &&
    accepted === server.finds &&
    figures.photos === server.photos &&
    harvestedBack === accepted;
  const finds = formatFindCount(figures.finds);
  const photographs = formatPhotographCount(figures.photos);
  const serverFinds = formatFindCount(server.finds);
  const serverPhotographs = formatPhotographCount(server.photos);
  const seconds = formatDecimal(figures.elapsed_ms / 1000, 1);
  terminal.printLine();
  terminal.printLine(
    t`${finds}: ${accepted} accepted with ${photographs}, ${harvestedBack} read back unchanged.`,
  );
  terminal.printLine(
    t`The server has ${serverFinds} and ${serverPhotographs} more than before. Time: ${seconds} s.`,
  );
  terminal.printLine(
    agrees
      ? terminal.color.green(t`All figures agree with the server.`)
      : terminal.color.red(t`The figures do not agree.`),
  );
  terminal.printValue(figures);
  return agrees;
}
