import type { Help } from 'commander';
import { displayWidth, padded } from '../ui/width.ts';
import { wrapped } from '../ui/wrap.ts';

/** A description narrower than this is easier to read below its term. */
const NARROWEST = 28;

/** A flag, an argument or a command of a help page, within the terminal's width. */
export function helpItem(term: string, termWidth: number, description: string, helper: Help): string {
  const columns = helper.helpWidth ?? 80;
  if (description === '') return `  ${term}`;
  const beside = columns - termWidth - 4;
  if (beside >= NARROWEST && displayWidth(term) <= termWidth) {
    return indented(wrapped(description, beside), `  ${padded(term, termWidth)}  `, termWidth + 4);
  }
  return `  ${term}\n${indented(wrapped(description, Math.max(columns - 6, 12)), ' '.repeat(6), 6)}`;
}

function indented(text: string, head: string, indent: number): string {
  return head + text.replaceAll('\n', `\n${' '.repeat(indent)}`);
}
