import type { Command } from 'commander';
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
import { msg, t } from '../../base/message.ts';
import { defineCommand, type Runner } from '../command.ts';
import type { Context } from '../context/context.ts';

export function register(program: Command, run: Runner): void {
  const command = defineCommand(
    program,
    'mock-server',
    t`Run a mock of the whole finds service on this machine.`,
    ['pas mock-server --port 8080', 'pas mock-server --data mock.sqlite --json'],
  );
  // The mock describes its own flags, in English.
  addMockServerOptions(command).action(run(serve));
}

/** Serves until it is stopped. The ready line is printed when connections are accepted. */
async function serve(context: Context, flags: MockServerFlags): Promise<ExitReason> {
  const { terminal } = context;
  const server = await start(flags);
  // Before the ready line: its reader may end the server at once.
  const stopped = new Promise<void>((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => stop());
  });
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
