import { errorIssue, type Issue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { codePointName } from '../text/printable.ts';

/** Control characters that neither XML nor a text needs: C0 but tab and line breaks, DEL, C1, and the non-characters. */
const CONTROL_CHARACTER = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/;

/** As many as a cell of a spreadsheet can have. */
const MAX_CELL_CHARACTERS = 32_767;

/** One issue for each cell that holds a character that no text needs, or too many; without the place of the row. */
export function cellFaults(cells: readonly string[], header: readonly string[]): Issue[] {
  return cells.flatMap((cell, index) => {
    const { length } = cell;
    if (length > MAX_CELL_CHARACTERS) {
      const message = msg`The cell has ${length} characters; at most ${MAX_CELL_CHARACTERS} are read. Shorten it.`;
      return [errorIssue('table-cell-length', message, { column: header[index] ?? '' })];
    }
    const character = CONTROL_CHARACTER.exec(cell)?.[0];
    if (character === undefined) return [];
    const code = codePointName(character);
    const message = msg`The cell holds the control character ${code}. Remove it; it came with copying or a wrong character set.`;
    return [errorIssue('table-control-character', message, { column: header[index] ?? '' })];
  });
}
