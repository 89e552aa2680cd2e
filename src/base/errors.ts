import { cmd, type Message, msg } from './message.ts';

/** Exit codes of `pas`, as `--help` and docs/running.md print them. */
export const EXIT_CODES = {
  done: [0, msg`everything requested is done`],
  bug: [1, msg`a bug in pas`],
  usage: [2, msg`wrong usage`],
  dataRefused: [3, msg`finished, but some rows are invalid or some entries were refused`],
  notAllowed: [4, msg`the account is not signed in or not allowed`],
  unavailable: [5, msg`the service is closed or unreachable; the queue is kept`],
  uncertain: [6, msg`some entries are uncertain or held: \`${cmd`pas status`}\` says what to do`],
  outboxLeased: [11, msg`another push of this outbox is running`],
  config: [
    12,
    msg`the configuration is invalid, or a database is damaged, read-only or of another account`,
  ],
  databaseTooNew: [13, msg`a database was written by a newer version of pas`],
  oaiProtocol: [14, msg`the harvesting interface answered with a protocol error`],
  outsideContract: [15, msg`the service gave an answer that its contract does not allow`],
  interrupted: [130, msg`interrupted; the queue is kept`],
} as const satisfies Record<string, readonly [number, Message]>;

/** Why a command ends; {@link EXIT_CODES} has its exit code. */
export type ExitReason = keyof typeof EXIT_CODES;

type FailureOptions = {
  /** Next command or action, shown under the message. */
  readonly hint?: Message;
  readonly cause?: unknown;
};

/**
 * An error whose message is a value, so that it can be stored and shown in another language later.
 */
export class LocalizedError extends Error {
  readonly says: Message;
  constructor(says: Message, { cause }: { readonly cause?: unknown } = {}) {
    super(String(says), cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.says = says;
  }
}

/**
 * A failure that pas foresaw, and that ends a command: one class per kind, each with a stable
 * `code` for programs and an exit code for shells. Findings about data are `Issue` values and
 * answers of the service are outcomes; any other error that reaches the top is a bug in pas.
 */
export class PasError extends LocalizedError {
  readonly code: string;
  readonly exitReason: ExitReason;
  readonly hintSays: Message | undefined;

  constructor(
    code: string,
    exitReason: ExitReason,
    message: Message,
    options: FailureOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.exitReason = exitReason;
    this.hintSays = options.hint;
  }

  get hint(): string | undefined {
    return this.hintSays?.toString();
  }

  get exitCode(): number {
    return EXIT_CODES[this.exitReason][0];
  }
}

/** Makes the class of a failure that carries no fields beyond its message. */
function makeFailureClass(
  code: string,
  exitReason: ExitReason,
): new (
  message: Message,
  options?: FailureOptions,
) => PasError {
  return class extends PasError {
    constructor(message: Message, options?: FailureOptions) {
      super(code, exitReason, message, options);
    }
  };
}

/** The command line, or a file that it names, cannot be used. */
export class UsageError extends makeFailureClass('usage', 'usage') {}

/** A file cannot be read: missing, a folder, no permission, or content of another kind. */
export class FileError extends PasError {
  readonly path: string;
  constructor(path: string, message: Message, options?: FailureOptions) {
    super('file', 'usage', message, options);
    this.path = path;
  }
}

/** The account cannot sign in, or is refused as a whole. */
export class AuthError extends makeFailureClass('auth', 'notAllowed') {}

/** The service knows the account, and refuses it: no new sign-in helps. */
export class RefusedAccountError extends AuthError {}

/** The service is closed or out of reach. Nothing was lost: what was queued stays queued. */
export class UnavailableError extends makeFailureClass('unavailable', 'unavailable') {}

/** Another process pushes or restores the outbox, so that this one must not. */
export class OutboxLeasedError extends makeFailureClass('outbox-leased', 'outboxLeased') {}

/** `config.toml`, the environment or a profile cannot be used. */
export class ConfigError extends makeFailureClass('config', 'config') {}

/**
 * A database or file of pas cannot be read or written: damaged, read-only, no space, or locked by
 * another program.
 */
export class DatabaseError extends PasError {
  /** True where the content of the file is not what pas wrote. */
  readonly damaged: boolean;
  /**
   * @param options `passing`: the file is sound, and the same command works once there is space or
   * the other program is done
   */
  constructor(
    message: Message,
    options: FailureOptions & { readonly passing?: boolean; readonly damaged?: boolean } = {},
  ) {
    super('database', options.passing === true ? 'unavailable' : 'config', message, options);
    this.damaged = options.damaged === true;
  }
}

/**
 * Runs a check of a database, and tells if it passed. False where it returns false or throws an
 * error about damage ({@link isDamageError}); its other errors are thrown.
 */
export function isSound(check: () => unknown): boolean {
  try {
    return check() !== false;
  } catch (thrown) {
    if (isDamageError(thrown)) return false;
    throw thrown;
  }
}

/** Tells if an error is about a database whose content is not what pas wrote. */
export function isDamageError(thrown: unknown): thrown is DatabaseError {
  return thrown instanceof DatabaseError && thrown.damaged;
}

/** A database carries a schema that this version of pas does not know. */
export class DatabaseTooNewError extends makeFailureClass('database-too-new', 'databaseTooNew') {}

/**
 * The harvesting interface answered with an OAI-PMH error, or with something that is not OAI-PMH.
 */
export class OaiError extends PasError {
  /**
   * The protocol's error code (OAI-PMH 2.0, section 3.6), or `malformed` where the answer was not
   * OAI-PMH.
   */
  readonly oaiCode: string;
  constructor(
    oaiCode: string,
    message: Message,
    options?: FailureOptions,
    exitReason: ExitReason = 'oaiProtocol',
  ) {
    super(`oai-${oaiCode}`, exitReason, message, options);
    this.oaiCode = oaiCode;
  }
}

/** The write interface gave an answer that its contract does not allow. */
export class ContractError extends makeFailureClass('outside-contract', 'outsideContract') {}

/** A person stopped the command. */
export class InterruptedError extends PasError {
  constructor(message: Message = msg`Interrupted. The queue is kept.`, options?: FailureOptions) {
    super('interrupted', 'interrupted', message, options);
  }
}

/**
 * Returns the message of any thrown value. That of a LocalizedError can be shown in another
 * language later; any other one is plain text.
 */
export function getLocalizedMessage(thrown: unknown): Message {
  return thrown instanceof LocalizedError ? thrown.says : getErrorMessage(thrown);
}

/**
 * Returns the `code` of an error of Node or SQLite, such as `ENOENT`; the empty text for a value
 * without one.
 */
export function getErrorCode(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
}

/** Tells if an error is that of an aborted wait or request, by its name. */
export function isAbortError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && thrown.name === 'AbortError';
}

/** Returns the message of any thrown value, in the language of the process. */
export function getErrorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
