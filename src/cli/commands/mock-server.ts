import type { Command } from 'commander';
import { isPassing } from '../../../mock-server/base/error-message.ts';
import {
  addMockServerOptions,
  type MockServerFlags,
  parseMockServerOptions,
} from '../../../mock-server/state/options.ts';
import {
  type ExitReason,
  getErrorMessage,
  UnavailableError,
  UsageError,
} from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { type Message, msg } from '../../base/message.ts';
import { assertSqliteLoads } from '../checks/check-machine.ts';
import { defineCommand, type Runner } from '../command.ts';
import type { Context } from '../context/context.ts';

export function register(program: Command, run: Runner): void {
  const command = defineCommand(program, {
    name: 'mock-server',
    summary: t`Run a mock of the whole finds service on this machine.`,
    examples: ['pas mock-server --port 8080', 'pas mock-server --data mock.sqlite --json'],
  });
  translateError(addMockServerOptions(command)).action(run(serve));
}

/** The mock shares no code with pas, and so no translations: its flags are described here again. */
const FLAG_TEXTS: Readonly<Record<string, Message>> = {
  '--port': msg`port to listen on; 0 chooses a free one`,
  '--host': msg`address to listen on`,
  '--data': msg`SQLite file that keeps the state between runs (default: memory)`,
  '--seed': msg`start state: demo (default), empty, or a folder of JSON files`,
  '--training': msg`offer only the write interface, like the training instance`,
  '--deployed': msg`behave like the deployed service where it differs from the contract`,
  '--latency': msg`delay before each write is handled`,
  '--min-interval': msg`minimum interval per user and per address (default: 100)`,
  '--page-size': msg`records per page of harvested lists (default: 100)`,
  '--records': msg`synthetic archived finds to add`,
  '--faults': msg`JSON file with fault rules`,
  '--schema-versions': msg`schema versions that imports are accepted in, separated by commas`,
  '--prefix': msg`prefix of XML names, of the schema and of the native format (default: svc)`,
  '--schema-base': msg`base address of namespaces and schemas in documents (default: below the address used)`,
  '--public-url': msg`public address of the server, if it differs from the address that it listens on`,
  '--service-names': msg`use the prefix, namespace and persistent addresses of the deployed service in documents`,
  '--control-token': msg`password of the control interface, which then also answers other machines`,
  '--tls-cert': msg`certificate in PEM, for HTTPS`,
  '--tls-key': msg`key of the certificate, in PEM`,
  '--cors': msg`origins of web pages that may use the service, or *`,
  '--record': msg`write requests and answers to a new file as they happen, without secrets`,
  '--seed-number': msg`vary what the contract leaves open: page size, wording, identifiers`,
};

function translateError(command: Command): Command {
  for (const option of command.options)
    option.description = String(FLAG_TEXTS[option.long ?? ''] ?? option.description);
  return command;
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
  assertSqliteLoads();
  const { startMockServer } = await import('../../../mock-server/server.ts');
  try {
    return await startMockServer(parseMockServerOptions(flags));
  } catch (thrown) {
    const why = getErrorMessage(thrown);
    const CannotStart = isPassing(thrown) ? UnavailableError : UsageError;
    throw new CannotStart(msg`The mock server cannot start: ${why}`, { cause: thrown });
  }
}
