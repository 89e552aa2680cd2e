import type { Command } from 'commander';
import { addMockServerOptions, type MockServerFlags, parseMockServerOptions } from '../../mock-server/options.ts';
import { type ExitReason, messageOf, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context.ts';
import { defineCommand, type Runner } from './command.ts';

export function register(program: Command, run: Runner): void {
  const command = defineCommand(program, {
    name: 'mock-server',
    summary: t`Run a mock of the whole finds service on this machine.`,
    examples: ['pas mock-server --port 8080', 'pas mock-server --data mock.sqlite --json'],
  });
  addMockServerOptions(command).action((flags: GlobalOptions & MockServerFlags) =>
    run(flags, (context) => serve(context, flags)),
  );
}

/** Serves until it is told to stop. The ready line is printed when connections are accepted. */
async function serve(context: Context, flags: MockServerFlags): Promise<ExitReason> {
  const { terminal } = context;
  const server = await start(flags);
  const { base_url, oai_base, schema_base, control_url, pid } = server;
  terminal.line(t`Mock service ready at ${base_url} (harvesting ${oai_base}, schemas ${schema_base}, control ${control_url}).`);
  terminal.value({ base_url, oai_base, schema_base, control_url, pid });
  await new Promise<void>((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop());
  });
  await server.close();
  return 'done';
}

async function start(flags: MockServerFlags) {
  const { startMockServer } = await import('../../mock-server/server.ts');
  try {
    return await startMockServer(parseMockServerOptions(flags));
  } catch (thrown) {
    const why = messageOf(thrown);
    throw new UsageError(t`The mock server cannot start: ${why}`, { cause: thrown });
  }
}
