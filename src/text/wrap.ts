import { displayWidth } from './width.ts';

/**
 * Breaks a text between words, so that no line is wider than `columns` cells; its own line breaks stay. What is longer stands
 * alone, and so does a command in backticks, which somebody may copy. Further lines begin where the first one's text does.
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

/** A line that is typed as it stands. */
const COMMAND = /^ +(?:\$ )?(?:pas|chmod|source) /;
/** Blanks, a mark, and a label with a gap behind it. */
const HEAD = /^ *(?:(?:\u001b\[\d+m)*[✓✗!–→](?:\u001b\[\d+m)* )?(?:\S* {2,})?/;
const WORD = /( *)((?:`[^`]*`|[^ ])+)/g;
