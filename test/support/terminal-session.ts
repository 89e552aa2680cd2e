import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { found, makeNews, type News } from './eventually.ts';
import { PROJECT } from './run-pas.ts';

/**
 * A program in a terminal of 80 × 24 that a test types into and reads from, as a person does.
 * Nothing here sleeps. A wait is for all that is expected, to the last of it, and looks again
 * whenever the program has written. The screen itself is handed out only after the program's end,
 * when nothing more can come.
 *
 *     await using terminal = await startTerminal(['add'], home);
 *     await terminal.expect('? Number of the find');
 *     await terminal.type('K-017');
 *     await terminal.expect('K-017');
 *     await terminal.press('Enter');
 */
export type TerminalSession = AsyncDisposable & {
  /**
   * Waits until each of these stands behind the one before it, the last as well. After keys
   * that were pressed, these must be what the keys bring: what stood there before says nothing.
   * @throws Error with the screen, where the program has ended without them, where all stood there
   * before such keys, and after a deadline
   */
  expect(...texts: readonly (string | RegExp)[]): Promise<void>;
  /**
   * Text as it stands, without Enter. Before any keys, what asks for them must have been expected.
   */
  type(text: string): Promise<void>;
  /** Keys by tmux's names: `Enter`, `Up`, `Down`, `Tab`, `Escape`, `BSpace`, `C-c`. */
  press(...keys: string[]): Promise<void>;
  /** Waits for the program's end; all that it wrote is on the screen then. */
  ended(): Promise<Ending>;
  /** Ends the program as a power cut does. */
  kill(): Promise<void>;
  /** Ends everything. Called by `await using`. */
  end(): Promise<void>;
};

export type Ending = {
  /** 128 and the signal's number where one ended it. */
  readonly code: number;
  /**
   * With the lines that have scrolled away, without colours and without blanks at the ends of
   * lines.
   */
  readonly screen: string;
};

export type TerminalOptions = { readonly columns?: number; readonly rows?: number };

/** Home of `pas`, as of test/support/run-pas.ts. */
export type Surroundings = { readonly env: NodeJS.ProcessEnv; readonly folder: string };

/**
 * Why no terminal can be had here; undefined where one can. For `skip(whyNoTerminal !== undefined,
 * whyNoTerminal)` of a test's context.
 */
export const whyNoTerminal: string | undefined = reasonAgainst();

const BIN = join(PROJECT, 'bin', 'pas.js');
const run = promisify(execFile);

/** Starts `pas` with these arguments. */
export function startTerminal(
  args: readonly string[],
  surroundings: Surroundings,
  options: TerminalOptions = {},
): Promise<TerminalSession> {
  return startProgram([process.execPath, BIN, ...args], surroundings, options);
}

/** Starts any program. */
export async function startProgram(
  program: readonly string[],
  { env, folder }: Surroundings,
  { columns = 80, rows = 24 }: TerminalOptions = {},
): Promise<TerminalSession> {
  // A server of its own, with default settings.
  const socket = join(tmpdir(), `tmux-${randomBytes(6).toString('hex')}`);
  const tmux = async (...command: string[]): Promise<string> => {
    const { stdout } = await run('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...command], {
      env: OWN_ENVIRONMENT,
    });
    return stdout;
  };
  const variables = Object.entries({ ...env, LC_ALL: 'C.UTF-8', TERM: 'screen-256color' }).map(
    ([name, value]) => `${name}=${value}`,
  );
  await tmux(
    'new-session',
    '-d',
    '-s',
    'test',
    '-x',
    String(columns),
    '-y',
    String(rows),
    '-c',
    folder,
    'sh',
    '-c',
    UNTIL_ITS_END,
    'sh',
    'env',
    '-i',
    ...variables,
    ...program,
    ';',
    'set-option',
    '-g',
    'window-size',
    'manual',
  );
  const watcher = watch(socket);
  const look = async (): Promise<Screen> => {
    const shown = await tmux(
      'display-message',
      '-p',
      '-t',
      'test',
      '#{pane_title}',
      ';',
      'capture-pane',
      '-p',
      '-t',
      'test',
      '-S',
      '-',
    );
    const [title = '', ...lines] = shown.split('\n');
    const [, word, number] = /^(runs|ended) (\d+)$/.exec(title) ?? [];
    return {
      pid: word === 'runs' ? Number(number) : undefined,
      code: word === 'ended' ? Number(number) : undefined,
      screen: lines
        .join('\n')
        .replace(/[ \t]+$/gm, '')
        .trimEnd(),
    };
  };
  /** @param lacking what is not there yet, in words; undefined where everything is */
  const until = (lacking: (seen: Screen) => string | undefined): Promise<Screen> =>
    found(watcher.news, async () => {
      const seen = await look();
      const lacks = lacking(seen);
      return { seen, lacks: lacks && `${lacks}:\n${seen.screen}`, isOver: seen.code !== undefined };
    });
  let isExpected = false;
  let beforeKeys: string | undefined;
  const send = async (...keys: string[]): Promise<void> => {
    if (!isExpected) throw new Error(`Nothing was expected that asks for ${keys.join(' ')}.`);
    isExpected = false;
    await tmux('send-keys', '-t', 'test', ...keys);
  };
  const ended = async (): Promise<Ending> => {
    const { code, screen } = await until(({ code: ending }) =>
      ending === undefined ? 'it has not ended' : undefined,
    );
    return { code: code ?? Number.NaN, screen };
  };
  const end = async (): Promise<void> => {
    watcher.close();
    await tmux('kill-server').catch(() => undefined);
  };
  return {
    expect: async (...texts) => {
      if (beforeKeys !== undefined && firstMissing(beforeKeys, texts) === undefined)
        throw new Error(`${texts.join(', ')} stood there before the keys:\n${beforeKeys}`);
      beforeKeys = undefined;
      await until(({ screen }) => firstMissing(screen, texts));
      isExpected = true;
    },
    type: (text) => send('-l', '--', text),
    press: async (...keys) => {
      beforeKeys = (await look()).screen;
      await send(...keys);
    },
    ended,
    kill: async () => {
      const { pid } = await until((seen) =>
        seen.pid === undefined ? 'it has not begun' : undefined,
      );
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
      await ended();
    },
    end,
    [Symbol.asyncDispose]: end,
  };
}

/**
 * The terminal at one moment, and the program then: `pid` while it runs, `code` when it has ended.
 */
type Screen = {
  readonly pid: number | undefined;
  readonly code: number | undefined;
  readonly screen: string;
};

function firstMissing(screen: string, texts: readonly (string | RegExp)[]): string | undefined {
  let from = 0;
  for (const text of texts) {
    const end = findEnd(text, screen, from);
    if (end === undefined)
      return `${String(text)} is not on the screen${from === 0 ? '' : ', behind what was expected before it'}`;
    from = end;
  }
  return undefined;
}

function findEnd(text: string | RegExp, screen: string, from: number): number | undefined {
  if (typeof text === 'string') {
    const start = screen.indexOf(text, from);
    return start < 0 ? undefined : start + text.length;
  }
  const pattern = new RegExp(text, `${text.flags}g`);
  pattern.lastIndex = from;
  return pattern.test(screen) ? pattern.lastIndex : undefined;
}

/**
 * Runs a program, and says in the terminal's title that it runs, and at last how it ended. The
 * title goes the way of all output, so a reader of it sees what was written before it. The screen
 * stays as it is.
 */
const UNTIL_ITS_END = String.raw`
trap : INT
sh -c 'printf "\033]2;runs %d\007" $$; exec "$@"' sh "$@"
printf '\033]2;ended %d\007' $?
exec cat`;

/** Tells of whatever the program writes: a client in control mode is sent a line for it. */
function watch(socket: string): { readonly news: News; close(): void } {
  const client: ChildProcess = spawn(
    'tmux',
    ['-u', '-S', socket, '-C', 'attach-session', '-t', 'test'],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: OWN_ENVIRONMENT,
    },
  );
  const news = makeNews();
  client.stdout?.on('data', news.tell);
  client.on('close', news.tell);
  return { news, close: () => client.stdin?.end() };
}

/**
 * Answers a question: types, waits for what that brings to the screen, and presses Enter.
 * @param offer the one that Enter takes, where several are offered
 */
export async function answer(
  terminal: TerminalSession,
  question: string,
  text = '',
  offer = '',
): Promise<void> {
  await terminal.expect(`? ${question}`);
  if (text !== '') await terminal.type(text);
  // The default of Enter, in brackets, is removed with the first letter.
  await terminal.expect(
    `? ${text === '' ? question : question.replace(/ \([^)]*\)$/, '')}`,
    text,
    offer,
  );
  await terminal.press('Enter');
}

/** Waits for what is said against an answer, removes it, and gives another one. */
export async function correct(
  terminal: TerminalSession,
  complaint: string,
  question: string,
  text: string,
): Promise<void> {
  await terminal.expect(complaint);
  await terminal.type(`${TO_THE_START}${text}`);
  await terminal.expect(`? ${question}`, text);
  await terminal.press('Enter');
}

/** Ctrl-U removes what is before the cursor. */
const TO_THE_START = '\u0015';

/** tmux itself must not take this run for one inside another tmux. */
const OWN_ENVIRONMENT: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  TERM: 'xterm-256color',
};

function reasonAgainst(): string | undefined {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'tmux is not installed';
  }
}
