import { displayWidth } from './width.ts';

/**
 * Breaks a text between words at `columns` cells and keeps its own line breaks. A longer word has a line of its own, and so has a
 * command in backticks, which a person may copy. Continuation lines are indented as the text of the first.
 */
export function wrapped(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n');
}

function wrapLine(line: string, columns: number): string {
  if (displayWidth(line) <= columns || COMMAND.test(line)) return line;
  const head = HEAD.exec(line)?.[0] ?? '';
  const blanks = head.length - head.trimStart().length;
  const indent = [displayWidth(head), blanks].find((cells) => cells <= columns / 2) ?? 4;
  const lines: string[] = [];
  let current = head;
  let isEmpty = true;
  for (const [, gap = '', word = ''] of line.slice(head.length).matchAll(WORD)) {
    if (!isEmpty && displayWidth(`${current}${gap}${word}`) > columns) {
      lines.push(current);
      current = ' '.repeat(indent) + word;
    } else current += isEmpty ? word : gap + word;
    isEmpty = false;
  }
  return [...lines, current].join('\n');
}

/** A line that is a command; it is not broken. */
const COMMAND = /^ +(?:\$ )?(?:pas|chmod|source) /;
/** Indent, mark and label of a line. */
const HEAD = /^ *(?:(?:\u001b\[\d+m)*[✓✗!–→](?:\u001b\[\d+m)* )?(?:\S* {2,})?/;
const WORD = /( *)((?:`[^`]*`|[^ ])+)/g;
