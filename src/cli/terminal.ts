import { existsSync, realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { Chalk } from 'chalk';
import {
  cutText,
  loadWidthLibrary,
  measureDisplayWidth,
  padEndText,
  toPrintable,
  wrapText,
} from '../base/characters.ts';
import { groupBy } from '../base/collections.ts';
import { FileError, UsageError } from '../base/errors.ts';
import { formatIssuePlace, hasErrors, type Issue } from '../base/issue.ts';
import { escapeLineBreaks, type Message, t } from '../base/message.ts';
import { formatElementWithLabel } from '../finds/fields.ts';
import type { DataPaths } from './context/places.ts';
import type { Prompt } from './prompt.ts';

/** Standard streams of a process; tests replace them. */
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

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';
/** Styles a text, which a method of the terminal then prints. */
type Paint = (text: Message) => string;

/**
 * Output: results go to stdout, everything else to stderr. All that it prints is escaped, except
 * the codes of its colours, so foreign texts may be passed as they are.
 */
export type Terminal = {
  readonly json: boolean;
  readonly color: Readonly<Record<Style, Paint>>;
  /** A person can answer: stdin and stderr are a terminal. */
  readonly interactive: boolean;
  /** Prints a line of the result for people; nothing under `--json`. */
  printLine(text?: string): void;
  /** Prints a table of the result for people, within the terminal's width. */
  printTable(header: readonly Message[], rows: readonly (readonly Message[])[]): Promise<void>;
  /** Prints one JSON value as the result; nothing without `--json`. */
  printValue(value: unknown): void;
  /** Prints a remark; nothing under `--quiet`. */
  note(text: string): void;
  /** Prints details; only under `--verbose`. */
  printDetail(text: string): void;
  /** Prints a warning, even under `--quiet`. */
  warn(text: string): void;
  /**
   * Starts a bar, which the caller ends before another starts; none under `--json` or `--quiet`,
   * and where stderr is no terminal that can move its cursor.
   */
  startProgress(label: string): Progress;
};

/** Stands for the beginning of a colour code until it is printed; no foreign text has it. */
const MARK = `{colour ${Math.random()}}`;
const CODE = '\u001b[';

/** Escapes everything but the colour codes of pas. */
function makeSafe(text: Message): string {
  return toPrintable(text).replaceAll(MARK, CODE);
}

function makePaints(isColored: boolean): Terminal['color'] {
  const chalk = isColored ? new Chalk({ level: 1 }) : undefined;
  const makePaint =
    (style: Style): Paint =>
    (text) =>
      chalk === undefined ? makeSafe(text) : chalk[style](makeSafe(text)).replaceAll(CODE, MARK);
  return {
    bold: makePaint('bold'),
    dim: makePaint('dim'),
    red: makePaint('red'),
    green: makePaint('green'),
    yellow: makePaint('yellow'),
  };
}

/**
 * Makes the output of a command: results to stdout, notes, warnings and a bar of progress to
 * stderr. On a terminal long lines are wrapped, and the bar is hidden before each line.
 */
export function makeTerminal(streams: Streams, options: TerminalOptions): Terminal {
  const color = makePaints(options.color);
  let bar: Progress | undefined;
  const write = (stream: NodeJS.WriteStream, text: string): void => {
    if (stream.isTTY === true) bar?.end();
    writeLine(stream, makeSafe(text));
  };
  const printLine = (text = ''): void => {
    if (!options.json) write(streams.stdout, text);
  };
  return {
    json: options.json,
    color,
    // Node takes a while to open stdin, which few commands read.
    get interactive() {
      return streams.stdin.isTTY === true && streams.stderr.isTTY === true;
    },
    printLine,
    printTable: async (header, rows) => {
      const cells = rows.map((row) => row.map((cell) => toPrintable(cell).replaceAll('\n', ' ')));
      const lines = await formatTable(header.map(String), cells, findTerminalWidth(streams.stdout));
      for (const line of lines) printLine(line);
    },
    printValue: (value) => {
      if (options.json) streams.stdout.write(`${toPrintable(JSON.stringify(value))}\n`);
    },
    note: (text) => {
      if (!options.quiet) write(streams.stderr, text);
    },
    printDetail: (text) => {
      if (options.verbose) write(streams.stderr, color.dim(text));
    },
    warn: (text) => write(streams.stderr, color.yellow(text)),
    startProgress: (label) => {
      // No bars in logs.
      const silent =
        options.quiet || options.json || !options.cursor || streams.stderr.isTTY !== true;
      if (silent) return NO_PROGRESS;
      bar = makeProgressBar(streams.stderr, label, Date.now);
      return bar;
    },
  };
}

/** Writes a line; output to a file or another program is not wrapped. */
function writeLine(stream: NodeJS.WriteStream, text: string): void {
  const columns = findTerminalWidth(stream);
  stream.write(`${columns === undefined ? text : wrapText(text, columns)}\n`);
}

function findTerminalWidth(stream: NodeJS.WriteStream): number | undefined {
  return stream.isTTY === true ? getWidth(stream) : undefined;
}

type Confirming = {
  readonly terminal: Terminal;
  readonly isConfirmed: boolean;
  prompt(): Promise<Prompt>;
};

/**
 * Asks a person to confirm, unless that was said beforehand (`--yes`).
 * @throws UsageError without a terminal, or when the answer is no; InterruptedError on Ctrl-C
 */
export async function requireConfirmation(context: Confirming, question: string): Promise<void> {
  if (context.isConfirmed) return;
  if (!context.terminal.interactive)
    throw new UsageError(t`pas cannot ask without a terminal: ${question}`, {
      hint: t`If so, add --yes. Nothing was changed.`,
    });
  const prompt = await context.prompt();
  if (!(await prompt.confirm(question))) throw new UsageError(t`Nothing was changed.`);
}

/**
 * Returns the permission to overwrite a file, for its writer: true with `--yes`; false, without a
 * question, where the file does not exist yet, or without a terminal, where the writer then refuses
 * to replace it; else a person is asked, and it is true after a yes.
 * @throws FileError where the file is one of pas's own; UsageError when the answer is no;
 * InterruptedError on Ctrl-C
 */
export async function confirmReplacing(
  context: Confirming & { readonly places: DataPaths },
  path: string,
): Promise<boolean> {
  if (!existsSync(path)) return context.isConfirmed;
  assertNotOwnFile(context.places, path);
  if (context.isConfirmed) return true;
  if (!context.terminal.interactive) return false;
  await requireConfirmation(context, t`${path} exists: replace it?`);
  return true;
}

/** @throws FileError where a file is one of pas's own, or in one of its folders */
function assertNotOwnFile({ home: _home, ...places }: DataPaths, path: string): void {
  const target = realpathSync(path);
  const owned = Object.values(places).filter(
    (place) => typeof place === 'string' && existsSync(place),
  );
  if (!owned.some((place) => `${target}${sep}`.startsWith(`${realpathSync(String(place))}${sep}`)))
    return;
  throw new FileError(path, t`${path} belongs to pas itself.`, { hint: t`Choose another place.` });
}

const GAP = '  ';
const NARROWEST = 10;

/**
 * Formats a table as lines with aligned columns, the header first. Cells of columns in which a row
 * has a blank are cut to fit, others never. Where that is not enough, each row becomes a paragraph
 * of lines `NAME  cell`, without a header.
 * @param room width of the terminal in character cells; by default nothing is cut
 */
export async function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  room = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const all = [header, ...rows];
  await loadWidthLibrary(all.flat());
  const natural = header.map((_, column) =>
    Math.max(...all.map((row) => measureDisplayWidth(row[column] ?? ''))),
  );
  const widths = fitColumns(
    natural,
    measureLeast(natural, rows),
    room - GAP.length * (header.length - 1),
  );
  if (widths === undefined)
    return rows.flatMap((row, index) => [
      ...(index === 0 ? [] : ['']),
      ...formatParagraph(header, row),
    ]);
  return all.map((row) =>
    header
      .map((_, column) => {
        const cells = widths[column] ?? 0;
        return padEndText(cutText(row[column] ?? '', cells), cells);
      })
      .join(GAP)
      .trimEnd(),
  );
}

/** Returns the minimum width of each column in cells: only one with a blank in it may be cut. */
function measureLeast(natural: readonly number[], rows: readonly (readonly string[])[]): number[] {
  return natural.map((width, column) =>
    rows.some((row) => row[column]?.includes(' ')) ? Math.min(width, NARROWEST) : width,
  );
}

/**
 * Shrinks the widest columns first, none below its minimum, until all fit in `room`.
 * @returns the widths in cells; undefined where they cannot be shrunk enough
 */
function fitColumns(
  natural: readonly number[],
  narrowest: readonly number[],
  room: number,
): number[] | undefined {
  const widths = [...natural];
  let over = widths.reduce((sum, width) => sum + width, 0) - room;
  while (over > 0) {
    let widest: number | undefined;
    for (const [column, width] of widths.entries()) {
      if (width <= (narrowest[column] ?? 0)) continue;
      if (widest === undefined || width > (widths[widest] ?? 0)) widest = column;
    }
    if (widest === undefined) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
    over -= 1;
  }
  return widths;
}

/** Formats a row as one line for each cell that is not empty, behind the name of its column. */
function formatParagraph(header: readonly string[], row: readonly string[]): string[] {
  const width = Math.max(...header.map(measureDisplayWidth));
  return header.flatMap((name, column) => {
    const cell = row[column] ?? '';
    return cell === '' ? [] : [`${padEndText(name, width)}${GAP}${cell}`];
  });
}

/** A bar of progress; `end` removes it until the next update. */
export type Progress = {
  /** @param total undefined while it is unknown */
  update(doneCount: number, total: number | undefined): void;
  end(): void;
};

/**
 * Runs `work` with a bar of progress, and returns its result. The bar is removed at the end, also
 * after an error.
 * @param label text before the bar
 */
export async function withProgress<T>(
  terminal: Terminal,
  label: string,
  work: (update: Progress['update']) => T | Promise<T>,
): Promise<T> {
  const progress = terminal.startProgress(label);
  try {
    return await work(progress.update);
  } finally {
    progress.end();
  }
}

const NO_PROGRESS: Progress = { update: () => {}, end: () => {} };

const WIDEST_BAR = 24;
const REDRAW_MS = 80;
/** Shorter work needs no bar. */
const FIRST_AFTER_MS = 500;

/** A stream for text; `columns` is the width of a terminal. */
export type TextOutput = { readonly columns?: number; write(text: string): unknown };

/**
 * Returns the columns of a terminal; a serial line, or a terminal of a program, may report 0 for
 * unknown.
 */
function getWidth({ columns }: TextOutput): number | undefined {
  return columns === 0 ? undefined : columns;
}

/**
 * Makes a bar in the last line of the terminal. It appears with the first update after half a
 * second. Further updates are drawn at most every {@link REDRAW_MS}, but always when all is done;
 * `end` clears the line.
 * @param now milliseconds of any clock; only differences count
 */
export function makeProgressBar(stream: TextOutput, label: string, now: () => number): Progress {
  const startedAt = now();
  let drawnAt: number | undefined;
  const draw = (text: string) =>
    stream.write(`\r\u001b[2K${cutText(toPrintable(text), (getWidth(stream) ?? 80) - 1)}`);
  return {
    update(doneCount, total) {
      const at = now();
      if (at - startedAt < FIRST_AFTER_MS) return;
      if (drawnAt !== undefined && at - drawnAt < REDRAW_MS && doneCount !== total) return;
      drawnAt = at;
      const cells = Math.min(WIDEST_BAR, Math.floor((getWidth(stream) ?? 80) / 5));
      draw(`${label} ${formatProgress(doneCount, total, cells)}`);
    },
    end() {
      if (drawnAt !== undefined) draw('');
      drawnAt = undefined;
    },
  };
}

/** Formats `██████░░░░░░ 50/100`, with so many cells; only the count where the total is unknown. */
function formatProgress(doneCount: number, total: number | undefined, cells: number): string {
  if (total === undefined) return String(doneCount);
  const filled = total === 0 ? 0 : Math.round((Math.min(doneCount, total) / total) * cells);
  return `${'█'.repeat(filled)}${'░'.repeat(cells - filled)} ${doneCount}/${total}`;
}

/** Up to this number errors are listed one by one; more are grouped by kind. */
const MAX_LISTED = 20;
/** Distinct examples per group, and row numbers per group. */
const EXAMPLES = 3;
const ROWS_NAMED = 5;

/**
 * Prints issues in the order of files and rows, each with its place, element, cause and remedy.
 * More than {@link EXAMPLES} of one kind are folded into a line with their number, and up to that
 * many examples that differ: warnings always, errors only among more than {@link MAX_LISTED}
 * issues.
 * @param print called with each text; by default it is a line of the result
 * @returns false if errors were folded, so that some were not printed
 */
export function printIssues(
  terminal: Terminal,
  issues: readonly Issue[],
  print: (text: string) => void = terminal.printLine,
): boolean {
  const sorted = sortByRow(issues);
  const getKind = ({ severity, rule, element, column }: Issue): string =>
    [severity, rule, element ?? column].join(' ');
  const kinds = groupBy(sorted, getKind);
  const isFolded = (alike: readonly Issue[]): boolean =>
    alike.length > EXAMPLES && (sorted.length > MAX_LISTED || !hasErrors(alike));
  const printed = new Set<string>();
  for (const issue of sorted) {
    const kind = getKind(issue);
    const alike = kinds.get(kind) ?? [];
    if (!isFolded(alike)) print(formatIssue(terminal, issue));
    else if (!printed.has(kind)) {
      print(formatCount(terminal, alike));
      for (const example of selectDifferent(alike)) print(`    ${formatIssue(terminal, example)}`);
    }
    printed.add(kind);
  }
  return ![...kinds.values()].some((alike) => hasErrors(alike) && isFolded(alike));
}

function formatIssue({ color }: Terminal, issue: Issue): string {
  const place = [issue.find, formatIssuePlace(issue)]
    .filter((part) => part !== undefined && part !== '')
    .join(', ');
  const element =
    issue.element === undefined ? '' : color.bold(`${formatElementWithLabel(issue.element)}: `);
  return `${formatMark(color, issue)} ${place === '' ? '' : color.dim(`${escapeLineBreaks(place)}  `)}${element}${issue.message}`;
}

function formatMark(color: Terminal['color'], { severity }: Issue): string {
  return severity === 'error' ? color.red('✗') : color.yellow('!');
}

/** Formats a group: `✗ 356 × date (datum_nalezu): rows 4, 5, 9, 12, 13 …` */
function formatCount({ color }: Terminal, alike: readonly Issue[]): string {
  const [first] = alike;
  if (first === undefined) return '';
  const about = first.element ?? first.column;
  const kind = about === undefined ? first.rule : `${first.rule} (${escapeLineBreaks(about)})`;
  const rows = [...new Set(alike.map(({ row }) => row))].filter((row) => row !== undefined);
  const names = `${rows.slice(0, ROWS_NAMED).join(', ')}${rows.length > ROWS_NAMED ? ' …' : ''}`;
  const where = rows.length === 0 ? '' : `: ${first.unit === undefined ? t`rows ${names}` : names}`;
  return `${formatMark(color, first)} ${color.bold(`${alike.length} × ${kind}`)}${where}`;
}

/** Returns the first issues with different messages, at most {@link EXAMPLES}. */
function selectDifferent(alike: readonly Issue[]): Issue[] {
  const issuesByText = new Map<string, Issue>();
  for (const issue of alike) {
    if (issuesByText.size === EXAMPLES) break;
    if (!issuesByText.has(issue.message)) issuesByText.set(issue.message, issue);
  }
  return [...issuesByText.values()];
}

/** Sorts by file, in the order in which files first occur, and row; issues of no row come first. */
function sortByRow(issues: readonly Issue[]): readonly Issue[] {
  const files = new Map<string | undefined, number>();
  for (const { file } of issues) if (!files.has(file)) files.set(file, files.size);
  const getOrder = ({ file, row }: Issue): readonly [file: number, row: number] => [
    files.get(file) ?? 0,
    row ?? 0,
  ];
  return issues.toSorted((a, b) => {
    const one = getOrder(a);
    const other = getOrder(b);
    return one[0] - other[0] || one[1] - other[1];
  });
}

/** Where an issue is, in JSON. */
const PLACE = ['find', 'file', 'sheet', 'row', 'column', 'line', 'element'] as const;

/**
 * Converts issues to JSON, in their order. Each has its place (`find`, `file`, `sheet`, `row`,
 * `column`, `line`, `element`, null where unknown), the `unit` that `row` counts (null without a
 * row), `rule`, `severity` and `message`. Where they are known, it has the `written` text and
 * `candidates` as `id` and `label`; only a conflict has its three values as `base`, `ours` and
 * `theirs`.
 */
export function toIssuesJson(issues: readonly Issue[]): Record<string, unknown>[] {
  return issues.map((issue) => {
    const { rule, severity, message, written, candidates, base, ours, theirs } = issue;
    return {
      ...Object.fromEntries(PLACE.map((key) => [key, issue[key] ?? null])),
      unit: issue.row === undefined ? null : (issue.unit ?? 'row'),
      rule,
      severity,
      message,
      written,
      candidates: candidates?.map(({ id, label }) => ({ id, label })),
      base,
      ours,
      theirs,
    };
  });
}
