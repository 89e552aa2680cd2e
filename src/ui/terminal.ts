import { Chalk, type ChalkInstance } from 'chalk';
import { printable } from './printable.ts';

export { printable } from './printable.ts';

export type Streams = {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
};

type TerminalOptions = {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly color: boolean;
};

export type Progress = {
  /** `note` stands behind the bar, for example a rate. */
  update(done: number, total: number | undefined, note?: string): void;
  end(): void;
};

/** Results go to stdout, everything else to stderr. */
export type Terminal = {
  readonly json: boolean;
  readonly color: ChalkInstance;
  readonly interactive: boolean;
  readonly columns: number;
  /** A line of the result, for people; nothing under `--json`. */
  line(text?: string): void;
  /** One JSON value as the result; nothing without `--json`. */
  value(value: unknown): void;
  /** What happens meanwhile; nothing under `--quiet`. */
  note(text: string): void;
  /** What happens underneath; only under `--verbose`. */
  detail(text: string): void;
  /** Must be seen, even under `--quiet`. */
  warn(text: string): void;
  progress(label: string): Progress;
};

export function makeTerminal(streams: Streams, options: TerminalOptions): Terminal {
  const color = new Chalk({ level: options.color ? 1 : 0 });
  // Texts of others are escaped where they are put in; this is the net below. It lets only our own colours through.
  const write = (stream: NodeJS.WriteStream, text: string) =>
    stream.write(`${options.color ? text.replace(NOT_A_COLOUR, printable) : printable(text)}\n`);
  return {
    json: options.json,
    color,
    interactive: streams.stdin.isTTY === true && streams.stderr.isTTY === true,
    columns: streams.stdout.columns ?? 100,
    line: (text = '') => {
      if (!options.json) write(streams.stdout, text);
    },
    value: (value) => {
      if (options.json) write(streams.stdout, JSON.stringify(value));
    },
    note: (text) => {
      if (!options.quiet) write(streams.stderr, text);
    },
    detail: (text) => {
      if (options.verbose) write(streams.stderr, color.dim(text));
    },
    warn: (text) => write(streams.stderr, color.yellow(text)),
    progress: (label) => makeProgress(streams.stderr, label, options.quiet || options.json),
  };
}

const BAR_WIDTH = 24;
const REDRAW_MS = 80;

/** A bar on a terminal; silence elsewhere, since a log of bars helps nobody. */
function makeProgress(stream: NodeJS.WriteStream, label: string, silent: boolean): Progress {
  if (silent || stream.isTTY !== true) return { update: () => {}, end: () => {} };
  let drawnAt = 0;
  const draw = (text: string) => stream.write(`\r\u001b[2K${text.slice(0, (stream.columns ?? 80) - 1)}`);
  return {
    update(done, total, note = '') {
      if (Date.now() - drawnAt < REDRAW_MS && done !== total) return;
      drawnAt = Date.now();
      const filled = total === undefined || total === 0 ? 0 : Math.round((Math.min(done, total) / total) * BAR_WIDTH);
      const bar = total === undefined ? '' : `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} `;
      draw(`${label} ${bar}${done}${total === undefined ? '' : `/${total}`} ${note}`);
    },
    end: () => {
      draw('');
    },
  };
}

/** Runs of text between the sequences that chalk writes. */
const NOT_A_COLOUR = /(?:(?!\u001b\[\d+(?:;\d+)*m)[\s\S])+/g;
