import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { getErrorMessage, isPassing } from './base/error-message.ts';
import { getPackagePath } from './base/package-files.ts';
import { type MockServer, startMockServer } from './server.ts';
import { NotLoadedError } from './state/database.ts';
import {
  addMockServerOptions,
  type MockServerFlags,
  parseMockServerOptions,
} from './state/options.ts';

/**
 * Starts the server with these flags, prints one line when it accepts connections, and ends with
 * SIGTERM or SIGINT.
 * @throws Error with a readable reason when it cannot start
 */
export async function runMockServer(
  flags: MockServerFlags & { readonly json?: boolean },
): Promise<MockServer> {
  let started: MockServer | undefined;
  // Before the start: signals do not end the first process of a container without a handler.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void Promise.resolve(started?.close()).then(() => process.exit(0)));
  }
  const server = await startMockServer(parseMockServerOptions(flags));
  started = server;
  const { base_url, oai_base, schema_base, control_url, port, pid } = server;
  const line =
    flags.json === true
      ? JSON.stringify({ base_url, oai_base, schema_base, control_url, port, pid })
      : formatReadyLine(server);
  process.stdout.write(`${line}\n`);
  return server;
}

function formatReadyLine({ base_url, control_url, pid }: MockServer): string {
  return `mock server ready at ${base_url} (live page: ${control_url}/, pid ${pid})`;
}

/** @returns the exit code that `pas` has for it */
function reportFailure(thrown: unknown): number {
  process.stderr.write(`pas-mock-server: ${getErrorMessage(thrown)}\n`);
  if (thrown instanceof NotLoadedError) return 12;
  return isPassing(thrown) ? 5 : 2;
}

function readVersion(): string {
  const { version }: { readonly version: string } = JSON.parse(
    readFileSync(getPackagePath('package.json'), 'utf8'),
  );
  return version;
}

/** The program `pas-mock-server`. */
export async function runMain(argv: readonly string[]): Promise<void> {
  process.stdout.on('error', (cause) => {
    process.exit(
      reportFailure(new Error(`stdout cannot be written: ${getErrorMessage(cause)}`, { cause })),
    );
  });
  const program = addMockServerOptions(
    new Command('pas-mock-server').version(readVersion(), '--version', 'print the version'),
  )
    .description(
      'A stateful double of the finds service: both interfaces, roles, limits, locks and scripted trouble.',
    )
    .option('--json', 'print the ready line as JSON')
    .addHelpText(
      'after',
      '\nEach flag has an environment variable: --min-interval is PAS_MOCK_MIN_INTERVAL. A flag goes first; flags without a value take 1 or 0.' +
        '\n\nExamples:\n  pas-mock-server --port 8099\n  pas-mock-server --json --data state.sqlite --latency 400\n',
    );
  // As `pas` does.
  program.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
  program.action(async (flags: MockServerFlags & { json?: boolean }) => {
    try {
      await runMockServer(flags);
    } catch (thrown) {
      process.exitCode = reportFailure(thrown);
    }
  });
  await program.parseAsync([...argv]);
}
