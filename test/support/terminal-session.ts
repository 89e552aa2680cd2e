import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from './run-pas.ts';

/**
 * A program in a terminal of 80 × 24 that a test types into and reads from, as a person does. Nothing here sleeps: a wait looks at the
 * screen again whenever the program has written to it, and fails when the program has ended or the patience is over.
 *
 *     await using terminal = await startTerminal(['add'], home);
 *     await terminal.waitForText('Number of the find');
 *     await terminal.type('K-017');
 *     await terminal.press('Enter');
 */
export type TerminalSession = AsyncDisposable & {
  /** Text as it stands, without Enter. */
  type(text: string): Promise<void>;
  /** Keys by tmux's names: `Enter`, `Up`, `Down`, `Tab`, `Escape`, `BSpace`, `C-c`. */
  press(...keys: string[]): Promise<void>;
  /** What is to be seen now, without colours and without blanks at the ends of lines. */
  screen(): Promise<string>;
  /** Also what has scrolled out of sight. */
  history(): Promise<string>;
  /** The first screen that holds the text; from what was written before the call as well. */
  waitForText(text: string | RegExp): Promise<string>;
  /** The program's exit code, once it has ended; 128 and the signal's number where one ended it. */
  ended(): Promise<number>;
  /** Ends the program as a power cut does. */
  kill(): Promise<void>;
  /** Ends everything. Called by `await using`. */
  end(): Promise<void>;
};

export type TerminalOptions = { readonly columns?: number; readonly rows?: number; readonly patienceMs?: number };

/** Where `pas` is to run: a home of test/support/run-pas.ts will do. */
export type Surroundings = { readonly env: NodeJS.ProcessEnv; readonly folder: string };

/** Why no terminal can be had here; undefined where one can. For `skip(whyNoTerminal !== undefined, whyNoTerminal)` of a test's context. */
export const whyNoTerminal: string | undefined = reasonAgainst();

const BIN = join(PROJECT, 'bin', 'pas.js');
const run = promisify(execFile);

/** Starts `pas` with these arguments. */
export async function startTerminal(
  args: readonly string[],
  { env, folder }: Surroundings,
  { columns = 80, rows = 24, patienceMs = 20_000 }: TerminalOptions = {},
): Promise<TerminalSession> {
  // A server of its own, without anybody's settings; the socket's name is all that is shared.
  const server = `pas-test-${process.pid}-${randomBytes(6).toString('hex')}`;
  const tmux = async (...command: string[]): Promise<string> => {
    const { stdout } = await run('tmux', ['-u', '-L', server, '-f', '/dev/null', ...command], { env: OWN_ENVIRONMENT });
    return stdout;
  };
  const variables = Object.entries({ ...env, LC_ALL: 'C.UTF-8', TERM: 'screen-256color' }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const notes = mkdtempSync(join(tmpdir(), 'pas-terminal-'));
  const [pidFile, codeFile] = [join(notes, 'pid'), join(notes, 'code')];
  const program = ['env', '-i', ...variables, process.execPath, BIN, ...args];
  await tmux(
    ...['new-session', '-d', '-s', 'test', '-x', String(columns), '-y', String(rows), '-c', folder],
    ...['sh', '-c', UNTIL_ITS_END, pidFile, codeFile, server, ...program],
    ...[';', 'set-option', '-g', 'window-size', 'manual'],
  );
  const watcher = watch(server);
  let isOver = false;
  const over = tmux('wait-for', 'ended').then(
    () => {
      isOver = true;
    },
    () => {
      isOver = true;
    },
  );
  const screen = async (): Promise<string> => trimmed(await tmux('capture-pane', '-p', '-t', 'test'));
  const end = async (): Promise<void> => {
    watcher.close();
    // Where it has ended by itself there is nothing to end.
    await tmux('kill-server').catch(() => undefined);
    await over;
    rmSync(notes, { recursive: true, force: true });
  };
  return {
    type: async (text) => void (await tmux('send-keys', '-t', 'test', '-l', '--', text)),
    press: async (...keys) => void (await tmux('send-keys', '-t', 'test', ...keys)),
    screen,
    history: async () => trimmed(await tmux('capture-pane', '-p', '-S', '-', '-t', 'test')),
    async waitForText(text) {
      const patience = AbortSignal.timeout(patienceMs);
      const tired = new Promise<void>((go) => patience.addEventListener('abort', () => go(), { once: true }));
      for (;;) {
        const written = watcher.next();
        const wasOver = isOver;
        const seen = await screen();
        if (typeof text === 'string' ? seen.includes(text) : text.test(seen)) return seen;
        if (wasOver || patience.aborted) {
          throw new Error(
            `${wasOver ? 'The program has ended' : 'Waited in vain'}; ${String(text)} is not on the screen:\n${seen}`,
          );
        }
        await Promise.race([written, over, tired]);
      }
    },
    async ended() {
      await over;
      return Number(readFileSync(codeFile, 'utf8'));
    },
    async kill() {
      process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
      await over;
    },
    end,
    [Symbol.asyncDispose]: end,
  };
}

/**
 * Runs a program, notes its process and its exit code, tells that it is over, and leaves the screen as it is. tmux has notes of its own,
 * but under load not every end of a program reaches it.
 */
const UNTIL_ITS_END = `
pid=$0 code=$1 server=$2
shift 2
trap : INT
sh -c 'echo $$ >"$0"; exec "$@"' "$pid" "$@"
echo $? >"$code"
tmux -L "$server" wait-for -S ended
exec cat`;

/** Tells of whatever the program writes: a client in control mode is sent a line for it. */
function watch(server: string): { next(): Promise<void>; close(): void } {
  const client: ChildProcess = spawn('tmux', ['-u', '-L', server, '-C', 'attach-session', '-t', 'test'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: OWN_ENVIRONMENT,
  });
  const waiting = new Set<() => void>();
  const tell = (): void => {
    for (const go of waiting) go();
    waiting.clear();
  };
  client.stdout?.on('data', tell);
  client.on('close', tell);
  return {
    next: () => new Promise((go) => waiting.add(go)),
    close: () => client.stdin?.end(),
  };
}

/** Waits for a question, types, waits for what that brings to the screen, and presses Enter. */
export async function answer(terminal: TerminalSession, question: string, text = '', seen = text): Promise<void> {
  await terminal.waitForText(`? ${question}`);
  if (text !== '') await terminal.type(text);
  if (seen !== '') await terminal.waitForText(seen);
  await terminal.press('Enter');
}

/** tmux itself must not take this run for one inside another tmux. */
const OWN_ENVIRONMENT: NodeJS.ProcessEnv = { PATH: process.env['PATH'], HOME: process.env['HOME'], TERM: 'xterm-256color' };

function trimmed(screen: string): string {
  return screen.replace(/[ \t]+$/gm, '').trimEnd();
}

function reasonAgainst(): string | undefined {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'tmux is not installed';
  }
}
