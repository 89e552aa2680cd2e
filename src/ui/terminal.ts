import { Chalk, type ChalkInstance } from 'chalk';
import type { Message } from '../base/message.ts';
import { printable } from '../text/characters.ts';
import { wrapped } from '../text/width.ts';
import { table } from './print-table.ts';
import { type Bar, makeBar, NO_PROGRESS, type Progress, widthOf } from './progress.ts';

export { printable } from '../text/characters.ts';
export type { Progress } from './progress.ts';

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
  /** The terminal can move its cursor. */
  readonly cursor: boolean;
};

/** Output: results go to stdout, everything else to stderr. */
export type Terminal = {
  readonly json: boolean;
  readonly color: ChalkInstance;
  readonly interactive: boolean;
  readonly columns: number;
  /** Prints a line of the result for people; nothing under `--json`. */
  line(text?: string): void;
  /** Prints a table of the result for people, within the terminal's width. */
  table(header: readonly Message[], rows: readonly (readonly Message[])[]): Promise<void>;
  /** Prints one JSON value as the result; nothing without `--json`. */
  value(value: unknown): void;
  /** Prints progress; nothing under `--quiet`. */
  note(text: string): void;
  /** Prints details; only under `--verbose`. */
  detail(text: string): void;
  /** Prints a warning, even under `--quiet`. */
  warn(text: string): void;
  progress(label: string): Progress;
};

export function makeTerminal(streams: Streams, options: TerminalOptions): Terminal {
  const color = new Chalk({ level: options.color ? 1 : 0 });
  // Callers escape foreign text; this second layer lets only the colours of pas through.
  const safe = (text: string): string => (options.color ? text.replace(NOT_A_COLOUR, printable) : printable(text));
  let bar: Bar | undefined;
  // Output to a file or another program is not wrapped.
  const write = (stream: NodeJS.WriteStream, text: string): void => {
    if (stream.isTTY === true) bar?.hide();
    const columns = stream.isTTY === true ? widthOf(stream) : undefined;
    stream.write(`${columns === undefined ? safe(text) : wrapped(safe(text), columns)}\n`);
  };
  const line = (text = ''): void => {
    if (!options.json) write(streams.stdout, text);
  };
  return {
    json: options.json,
    color,
    interactive: streams.stdin.isTTY === true && streams.stderr.isTTY === true,
    columns: widthOf(streams.stdout) ?? 100,
    line,
    table: async (header, rows) => {
      const cells = rows.map((row) => row.map((cell) => printable(cell).replaceAll('\n', ' ')));
      const columns = streams.stdout.isTTY === true ? widthOf(streams.stdout) : undefined;
      for (const text of await table(header.map(String), cells, columns)) line(text);
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
    progress: (label) => {
      // No bars in logs.
      const silent = options.quiet || options.json || !options.cursor || streams.stderr.isTTY !== true;
      if (silent) return NO_PROGRESS;
      bar = makeBar(streams.stderr, label, Date.now);
      return bar;
    },
  };
}

/** Text between the colour sequences of chalk. */
const NOT_A_COLOUR = /(?:(?!\u001b\[\d+(?:;\d+)*m)[\s\S])+/g;
