import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type FaultRule, readFaultRules } from './fault-rules.ts';
import { messageOf } from './thrown.ts';

/** How to start a mock server; every part has a default. */
export type MockServerOptions = {
  /** 0 (default) takes a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** SQLite file that keeps the state; default: memory. */
  readonly data?: string;
  /** `demo` (default), `empty`, or a folder of JSON files. */
  readonly seed?: string;
  /** Only the write interface, as on the training instance. */
  readonly training?: boolean;
  /** Behave as the deployed service where it departs from the contract. */
  readonly deployed?: boolean;
  /** Real delay before each write is handled, in milliseconds. */
  readonly latencyMs?: number;
  /** Minimum interval between requests of one user and of one address; default 100. */
  readonly minIntervalMs?: number;
  /** Records per page of harvested lists; default 100. */
  readonly pageSize?: number;
  /** Synthetic archived finds to add to the seed. */
  readonly records?: number;
  readonly faults?: readonly FaultRule[];
  /** `allowed_schema_versions` of the deployment; default: the setting does not exist. */
  readonly schemaVersions?: readonly string[];
  /** Of XML names, of the schema's file and of the native format; default `svc`. */
  readonly prefix?: string;
  /** Root of the namespaces and schemas that documents name; default: below the server's own address. */
  readonly schemaBase?: string;
  /** Where clients reach the server, when that is not where it listens: behind a proxy, or in a container. */
  readonly publicUrl?: string;
  /** Documents bear the names of the deployed service: prefix, namespace and persistent addresses. */
  readonly serviceNames?: boolean;
  /** Asked of whoever uses the control interface, which then answers other machines, too. */
  readonly controlToken?: string;
  /** File that requests and answers are written to as they happen, as JSON lines. */
  readonly record?: string;
  /** Varies what the contract leaves open: page size, wording, form of identifiers and tokens. 0 (default): as the service. */
  readonly seedNumber?: number;
};

/** So that the token need not stand in a command line, where everybody on the machine can read it. */
export const CONTROL_TOKEN_VARIABLE = 'PAS_MOCK_CONTROL_TOKEN';

/** Adds the mock server's flags to a command. {@link parseMockServerOptions} reads what commander made of them. */
export function addMockServerOptions(command: Command): Command {
  return command
    .addOption(new Option('--port <number>', 'port to listen on; 0 chooses a free one').argParser(wholeNumber(65_535)).default(0))
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--data <file>', 'SQLite file that keeps the state between runs (default: memory)')
    .option('--seed <name>', 'start state: demo, empty, or a folder of JSON files', 'demo')
    .option('--training', 'offer only the write interface, like the training instance')
    .option('--deployed', 'behave like the deployed service where it differs from the contract')
    .addOption(new Option('--latency <ms>', 'delay before each write is handled').argParser(wholeNumber(3_600_000)))
    .addOption(
      new Option('--min-interval <ms>', 'minimum interval per user and per address (default: 100)').argParser(
        wholeNumber(3_600_000),
      ),
    )
    .addOption(
      new Option('--page-size <n>', 'records per page of harvested lists (default: 100)').argParser(wholeNumber(10_000, 1)),
    )
    .addOption(new Option('--records <n>', 'synthetic archived finds to add').argParser(wholeNumber(10_000_000)))
    .option('--faults <file>', 'JSON file with fault rules')
    .option('--schema-versions <list>', 'schema versions that imports are accepted in, separated by commas')
    .addOption(
      new Option('--prefix <name>', 'prefix of XML names, of the schema and of the native format (default: svc)').argParser(
        xmlPrefix,
      ),
    )
    .addOption(
      new Option(
        '--schema-base <address>',
        "base address of namespaces and schemas in documents (default: the server's own address)",
      ).argParser(address),
    )
    .addOption(
      new Option(
        '--public-url <address>',
        'public address of the server, if clients use another one than it listens on',
      ).argParser(address),
    )
    .option('--service-names', 'use the prefix, namespace and persistent addresses of the deployed service in documents')
    .option('--control-token <token>', 'password of the control interface, which then also answers other machines')
    .option('--record <file>', 'write requests and answers to a new file as they happen, without secrets')
    .addOption(
      new Option('--seed-number <n>', 'vary what the contract leaves open: page size, wording, identifiers').argParser(
        wholeNumber(1_000_000),
      ),
    );
}

/** What commander makes of the flags of {@link addMockServerOptions}. */
export type MockServerFlags = {
  readonly port?: number;
  readonly host?: string;
  readonly data?: string;
  readonly seed?: string;
  readonly training?: boolean;
  readonly deployed?: boolean;
  readonly latency?: number;
  readonly minInterval?: number;
  readonly pageSize?: number;
  readonly records?: number;
  readonly faults?: string;
  readonly schemaVersions?: string;
  readonly prefix?: string;
  readonly schemaBase?: string;
  readonly publicUrl?: string;
  readonly serviceNames?: boolean;
  readonly controlToken?: string;
  readonly record?: string;
  readonly seedNumber?: number;
};

/**
 * The options that flags stand for. Reads the fault file.
 * @throws Error with a readable reason when that file cannot be used
 */
export function parseMockServerOptions(flags: MockServerFlags): MockServerOptions {
  const {
    latency,
    minInterval,
    faults,
    schemaVersions,
    port,
    host,
    data,
    seed,
    training,
    deployed,
    pageSize,
    records,
    prefix,
    schemaBase,
    publicUrl,
    serviceNames,
    controlToken = process.env[CONTROL_TOKEN_VARIABLE],
    record,
    seedNumber,
  } = flags;
  return withoutUndefined({
    port,
    host,
    data,
    seed,
    training,
    deployed,
    pageSize,
    records,
    prefix,
    schemaBase,
    publicUrl,
    serviceNames,
    controlToken: controlToken === '' ? undefined : controlToken,
    record,
    seedNumber,
    latencyMs: latency,
    minIntervalMs: minInterval,
    faults: faults === undefined ? undefined : readFaultFile(faults),
    schemaVersions: schemaVersions?.split(',').map((version) => version.trim()),
  });
}

export function withoutUndefined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** @throws Error that names the file and says what is wrong with it */
function readFaultFile(path: string): FaultRule[] {
  const unusable = (thrown: unknown, what: string): Error =>
    new Error(`the fault file ${path} ${what}: ${messageOf(thrown)}`, { cause: thrown });
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    throw isMissing(thrown) ? new Error(`there is no fault file ${path}`, { cause: thrown }) : unusable(thrown, 'cannot be read');
  }
  let rules: unknown;
  try {
    rules = JSON.parse(text);
  } catch (thrown) {
    throw unusable(thrown, 'is not JSON');
  }
  try {
    return readFaultRules(rules);
  } catch (thrown) {
    throw unusable(thrown, 'has a rule that cannot be used');
  }
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
}

/** A web address without its last slash. */
function address(text: string): string {
  const isAddress = /^https?:\/\/[^\s?#]+$/.test(text) && URL.canParse(text);
  if (isAddress) return text.replace(/\/+$/, '');
  throw new InvalidArgumentError('It must be an address that begins with http:// or https://, without ? and #.');
}

/** Prefixes that the answers bind to namespaces of others; `dc` would name two formats alike. */
const TAKEN_PREFIX = /^(xml.*|xsi|gml|dc|oai_dc)$/i;

function xmlPrefix(text: string): string {
  if (/^[A-Za-z][\w-]*$/.test(text) && !TAKEN_PREFIX.test(text)) return text;
  throw new InvalidArgumentError('It must be letters, digits and hyphens after a letter, and no prefix that is taken.');
}

function wholeNumber(max: number, min = 0): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}
