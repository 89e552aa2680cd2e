import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { getErrorMessage } from '../base/error-message.ts';
import {
  array,
  check,
  flag,
  integer,
  object,
  optional,
  parseJson,
  type Reader,
  text,
} from '../base/shape.ts';
import { type FaultRule, readFaultRules } from './parse-fault-rules.ts';
import { readSchemaVersion } from './settings.ts';

/** Options that a flag sets by its own name; each has a default. */
type NamedOptions = {
  /** 0 (default) takes a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** SQLite file that keeps the state; default: memory. */
  readonly data?: string;
  /** `demo` (default), `empty`, or a folder of JSON files. A data file remembers its own. */
  readonly seed?: string;
  /** Only the write interface, as on the training instance. */
  readonly training?: boolean;
  /** Behave as the deployed service where it departs from the contract. */
  readonly deployed?: boolean;
  /** Records per page of harvested lists; default 100. */
  readonly pageSize?: number;
  /** Synthetic archived finds to add to the seed. */
  readonly records?: number;
  /** `allowed_schema_versions` of the deployment; default: the setting does not exist. */
  readonly schemaVersions?: readonly string[];
  /** Prefix of XML names, of the schema's file and of the native format; default `svc`. */
  readonly prefix?: string;
  /**
   * Root of the namespaces and schemas that documents name; default: below the server's own
   * address.
   */
  readonly schemaBase?: string;
  /**
   * Public address of the server where it differs from the listening one: behind a proxy, or in a
   * container.
   */
  readonly publicUrl?: string;
  /**
   * Documents bear the names of the deployed service: prefix, namespace and persistent addresses.
   */
  readonly serviceNames?: boolean;
  /** Token of the control interface, which then answers other machines, too. */
  readonly controlToken?: string;
  /** Files in PEM: with both the server speaks HTTPS alone. */
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  /** Origins whose web pages may use the service, separated by commas, or `*`; default: none. */
  readonly cors?: string;
  /**
   * Varies what the contract leaves open: page size, wording, form of identifiers and tokens. 0
   * (default): as the service.
   */
  readonly seedNumber?: number;
};

/** Options of a mock server; each has a default. */
export type MockServerOptions = NamedOptions & {
  /** Real delay before each write is handled, in milliseconds. */
  readonly latencyMs?: number;
  /** Minimum interval between requests of one user and of one address; default 100. */
  readonly minIntervalMs?: number;
  readonly faults?: readonly FaultRule[];
};

/**
 * Adds the mock server's flags to a command; where a flag is not given, its environment variable
 * counts. {@link parseMockServerOptions} reads what commander made of them.
 */
export function addMockServerOptions(command: Command): Command {
  const previousOptions = [...command.options];
  const withState = command
    .hook('preAction', (_, action) => {
      if (action !== command) return;
      const isOwn = (option: Option): boolean =>
        !previousOptions.includes(option) || option.long === '--json';
      for (const option of command.options.filter(isOwn)) applyVariable(command, option);
    })
    .addOption(
      new Option('--port <number>', 'port to listen on; 0 chooses a free one')
        .argParser(makeWholeNumberParser(LARGEST.port))
        .default(0),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--data <file>', 'SQLite file that keeps the state between runs (default: memory)')
    .option('--seed <name>', 'start state: demo (default), empty, or a folder of JSON files')
    .option('--training', 'offer only the write interface, like the training instance')
    .option('--deployed', 'behave like the deployed service where it differs from the contract')
    .addOption(
      new Option('--latency <ms>', 'delay before each write is handled').argParser(
        makeWholeNumberParser(LARGEST.delayMs),
      ),
    )
    .addOption(
      new Option(
        '--min-interval <ms>',
        'minimum interval per user and per address (default: 100)',
      ).argParser(makeWholeNumberParser(LARGEST.delayMs)),
    )
    .addOption(
      new Option('--page-size <n>', 'records per page of harvested lists (default: 100)').argParser(
        makeWholeNumberParser(LARGEST.pageSize, 1),
      ),
    )
    .addOption(
      new Option('--records <n>', 'synthetic archived finds to add').argParser(
        makeWholeNumberParser(LARGEST.records),
      ),
    );
  return addDocumentOptions(withState);
}

/** Adds the flags about faults, documents, addresses and the connection. */
function addDocumentOptions(command: Command): Command {
  return command
    .option('--faults <file>', 'JSON file with fault rules')
    .addOption(
      new Option(
        '--schema-versions <list>',
        'schema versions that imports are accepted in, separated by commas',
      ).argParser((list) =>
        list.split(',').map((version) => asArgument(readSchemaVersion)(version.trim())),
      ),
    )
    .addOption(
      new Option(
        '--prefix <name>',
        'prefix of XML names, of the schema and of the native format (default: svc)',
      ).argParser(asArgument(readPrefix)),
    )
    .addOption(
      new Option(
        '--schema-base <address>',
        'base address of namespaces and schemas in documents (default: below the address used)',
      ).argParser(asArgument(readAddress)),
    )
    .addOption(
      new Option(
        '--public-url <address>',
        'public address of the server, if it differs from the address that it listens on',
      ).argParser(asArgument(readAddress)),
    )
    .option(
      '--service-names',
      'use the prefix, namespace and persistent addresses of the deployed service in documents',
    )
    .addOption(
      new Option(
        '--control-token <token>',
        'password of the control interface, which then also answers other machines',
      ).argParser(asArgument(readControlToken)),
    )
    .option('--tls-cert <file>', 'certificate in PEM, for HTTPS')
    .option('--tls-key <file>', 'key of the certificate, in PEM')
    .addOption(
      new Option(
        '--cors <origins>',
        'origins of web pages that may use the service, or *',
      ).argParser(asArgument(readOrigins)),
    )
    .addOption(
      new Option(
        '--seed-number <n>',
        'vary what the contract leaves open: page size, wording, identifiers',
      ).argParser(makeWholeNumberParser(LARGEST.seedNumber)),
    );
}

/**
 * `--min-interval` is `PAS_MOCK_MIN_INTERVAL`. An empty variable counts as none; a flag without a
 * value takes 1 or 0.
 */
function applyVariable(command: Command, option: Option): void {
  const name = `PAS_MOCK_${(option.long ?? '').slice(2).replaceAll('-', '_').toUpperCase()}`;
  const value = process.env[name] ?? '';
  const source = command.getOptionValueSource(option.attributeName());
  if (value === '' || (source !== undefined && source !== 'default')) return;
  try {
    const parse: (text: string) => unknown = option.isBoolean()
      ? parseYesOrNo
      : (text) => option.parseArg?.(text, text) ?? text;
    command.setOptionValueWithSource(option.attributeName(), parse(value), 'env');
  } catch (thrown) {
    command.error(`error: the variable ${name} is '${value}'. ${getErrorMessage(thrown)}`, {
      exitCode: 2,
    });
  }
}

function parseYesOrNo(text: string): boolean {
  if (/^(1|true|yes)$/i.test(text)) return true;
  if (/^(0|false|no)$/i.test(text)) return false;
  throw new InvalidArgumentError('It must be 1 or 0.');
}

/**
 * Values that commander parses for the flags of {@link addMockServerOptions}. `faults` names a
 * file.
 */
export type MockServerFlags = NamedOptions & {
  readonly latency?: number;
  readonly minInterval?: number;
  readonly faults?: string;
};

/**
 * The options that flags stand for. Reads the fault file.
 * @throws Error with a readable reason when that file cannot be used
 */
export function parseMockServerOptions({
  latency,
  minInterval,
  faults,
  controlToken,
  ...flags
}: MockServerFlags): MockServerOptions {
  const ownFlags = Object.entries(flags).filter(([name]) => Object.hasOwn(OPTIONS, name));
  const givenFlags = {
    ...Object.fromEntries(ownFlags),
    latencyMs: latency,
    minIntervalMs: minInterval,
    controlToken: controlToken === '' ? undefined : controlToken,
    faults: faults === undefined ? undefined : readFaultFile(faults),
  };
  return readMockServerOptions(givenFlags, 'options');
}

/** Returns a copy without the members that are undefined, as optional members are passed on. */
export function withoutUndefined<T extends object>(
  value: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** @throws Error that names the file and says what is wrong with it */
function readFaultFile(path: string): FaultRule[] {
  const makeUnusableError = (thrown: unknown, what: string): Error =>
    new Error(`the fault file ${path} ${what}: ${getErrorMessage(thrown)}`, { cause: thrown });
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (thrown) {
    throw isMissing(thrown)
      ? new Error(`there is no fault file ${path}`, { cause: thrown })
      : makeUnusableError(thrown, 'cannot be read');
  }
  let rules: unknown;
  try {
    rules = parseJson(content);
  } catch (thrown) {
    throw makeUnusableError(thrown, 'is not JSON');
  }
  try {
    return readFaultRules(rules);
  } catch (thrown) {
    throw makeUnusableError(thrown, 'has a rule that cannot be used');
  }
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
}

/** A web address without its last slash. */
const readAddress: Reader<string> = (value, place) =>
  anyAddress(value, place).replace(/(?<!\/)\/+$/, '');

const anyAddress = check(text(), (address) =>
  /^https?:\/\/[^\s?#]+$/.test(address) && URL.canParse(address)
    ? undefined
    : 'must be an address that begins with http:// or https://, without ? and #',
);

/**
 * Origins as browsers send them: scheme, host and port, and nothing behind; separated by commas, or
 * `*`.
 */
const readOrigins: Reader<string> = (value, place) => anyOrigins(value, place).replaceAll(' ', '');

const anyOrigins = check(text(), (list) => {
  const isOrigin = (origin: string): boolean =>
    URL.canParse(origin) && new URL(origin).origin === origin;
  const isRead = list === '*' || list.split(',').every((origin) => isOrigin(origin.trim()));
  return isRead
    ? undefined
    : 'must be * or origins such as http://localhost:5173, separated by commas';
});

/** Prefixes that the answers bind to namespaces of others; `dc` would name two formats alike. */
const TAKEN_PREFIX = /^(xml.*|xsi|gml|dc|oai_dc)$/i;

const readPrefix: Reader<string> = check(text(), (prefix) =>
  /^[A-Za-z][\w-]*$/.test(prefix) && !TAKEN_PREFIX.test(prefix)
    ? undefined
    : 'must be letters, digits and hyphens after a letter, and no prefix that is taken',
);

/** A header loses blanks at its ends, and holds no control characters. */
const readControlToken: Reader<string> = check(text(), (token) =>
  token !== '' && token === token.trim() && !/\p{Cc}/u.test(token)
    ? undefined
    : 'must be one line that neither begins nor ends with a blank',
);

const LARGEST = {
  port: 65_535,
  delayMs: 3_600_000,
  pageSize: 10_000,
  records: 10_000_000,
  seedNumber: 1_000_000,
} as const;
const upTo = (max: number, min = 0) => optional(integer({ min, max }));

const OPTIONS = {
  port: upTo(LARGEST.port),
  host: optional(text({ min: 1 })),
  data: optional(text()),
  seed: optional(text({ min: 1 })),
  training: optional(flag),
  deployed: optional(flag),
  latencyMs: upTo(LARGEST.delayMs),
  minIntervalMs: upTo(LARGEST.delayMs),
  pageSize: upTo(LARGEST.pageSize, 1),
  records: upTo(LARGEST.records),
  faults: optional(readFaultRules),
  schemaVersions: optional(array(readSchemaVersion)),
  prefix: optional(readPrefix),
  schemaBase: optional(readAddress),
  publicUrl: optional(readAddress),
  serviceNames: optional(flag),
  controlToken: optional(readControlToken),
  tlsCert: optional(text({ min: 1 })),
  tlsKey: optional(text({ min: 1 })),
  cors: optional(readOrigins),
  seedNumber: upTo(LARGEST.seedNumber),
};

/**
 * The options of a program that starts a server in its own process.
 * @throws ShapeError with the option and the reason
 */
export const readMockServerOptions: Reader<MockServerOptions> = object(OPTIONS);

/** The same reader for the value of a flag. */
function asArgument<T>(read: Reader<T>): (value: string) => T {
  return (value) => {
    try {
      return read(value, 'It');
    } catch (thrown) {
      throw new InvalidArgumentError(`${getErrorMessage(thrown).replace('It: ', 'It ')}.`);
    }
  };
}

function makeWholeNumberParser(max: number, min = 0): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}
