import { errorIssue, type Issue, warningIssue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { codePointName } from '../text/characters.ts';
import { type Unreadable, unreadable } from '../text/reading.ts';
import type { ShownCell } from './table.ts';

/** Control characters that neither XML nor a text needs: C0 except tab and line breaks, DEL, C1, and the non-characters. */
const CONTROL_CHARACTER = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/;

/** Maximum of a spreadsheet cell. */
const MAX_CELL_CHARACTERS = 32_767;

/** Error values of spreadsheets in any language, displayed, exported or pasted: `#DIV/0!`, `#HODNOTA!`, `#NV`, `Err:502`. */
const ERROR_RESULT =
  /^(?:#[\p{Lu}\d/_ ]*[\p{Lu}\d][!?]|#N\/[AD]|#NV|#NENÍ_K_DISPOZICI|#NEDOSTUPNÝ|#GETTING_DATA|#N\/A N\/A[!?]?|(?:Err|Chyba|Fehler|Error) ?: ?\d{3})$/u;
const TOO_NARROW = /^#{3,}$/;
/** A lost letter inside a word; addresses of pages have a `?` there, too. */
const LOST_LETTER = /\p{L}\uFFFD+\p{L}|\p{Ll}{2}\uFFFD|\p{Ll}\?\p{Ll}/u;

/** Returns one issue for each cell that differs from what its author saw; the caller adds the row. */
export function cellFaults(cells: readonly string[], header: readonly string[]): Issue[] {
  return cells.flatMap((cell, index) => {
    const issue = cell === '' ? undefined : cellFault(cell);
    return issue === undefined ? [] : [issue.with({ column: header[index] ?? '' })];
  });
}

function cellFault(cell: string): Issue | undefined {
  const { length } = cell;
  if (length > MAX_CELL_CHARACTERS) {
    const message = msg`The cell has ${length} characters; pas reads at most ${MAX_CELL_CHARACTERS}. Shorten it.`;
    return errorIssue('table-cell-length', message);
  }
  const character = CONTROL_CHARACTER.exec(cell)?.[0];
  if (character !== undefined) {
    const code = codePointName(character);
    const message = msg`The cell contains the control character ${code}. Remove it; it came from copying or a wrong character set.`;
    return errorIssue('table-control-character', message);
  }
  if (ERROR_RESULT.test(cell)) {
    const { rule, problem } = errorResult(cell);
    return errorIssue(rule, problem);
  }
  if (TOO_NARROW.test(cell)) {
    const message = msg`"${cell}" appears because a column was too narrow for its value. Widen the column in the spreadsheet and save the table again, or write the value.`;
    return errorIssue('table-too-narrow', message);
  }
  if (!LOST_LETTER.test(cell) || /:\/\/|\?\p{L}+=/u.test(cell)) return undefined;
  const shown = length > MAX_SHOWN ? `${cell.slice(0, MAX_SHOWN)}…` : cell;
  return warningIssue(
    'table-lost-letter',
    msg`"${shown}" seems to have lost a letter; a ? or � replaces it. Save the table as CSV UTF-8 from its source, or write the letter.`,
  );
}

const MAX_SHOWN = 60;

export const UNSAVED_RESULT: Unreadable = unreadable(
  'table-formula',
  msg`The result of the formula was not saved with the file. Open it in a spreadsheet and save it, or write the value.`,
);

export function errorResult(fault: string): Unreadable {
  return unreadable('table-formula', msg`The result of the formula is the error ${fault}. Correct it, or write the value.`);
}

/** Tells if a whole number loses its last digits when stored as a number. */
export function isOverlong(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

export function overlongNumber(shown: string): Unreadable {
  return unreadable(
    'table-number',
    msg`${shown} has more digits than programs store in a number, so the last ones may be wrong. Store it as a text with all its digits.`,
  );
}

/** Stored text of a cell, and the displayed text where it differs. */
export type CellValue = {
  readonly text: string;
  readonly shown?: ShownCell;
  /** Reason why the value is missing; a warning keeps the value. */
  readonly fault?: CellFault;
};

export type CellFault = Unreadable & { readonly isWarning?: true };

/** Keeps digits that are written in the file; digits behind an exponent are lost. */
export function overlongValue(raw: string): CellValue {
  const fault = overlongNumber(raw);
  return /^-?\d+$/.test(raw) ? { text: raw, fault: { ...fault, isWarning: true } } : { text: '', fault };
}
