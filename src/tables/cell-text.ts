import type { Doubt } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import type { CellValue } from './table.ts';

/** Looks of a text that change its meaning; an undefined `isStruck` is that of the whole cell. */
export type TextLook = {
  readonly isStruck?: boolean;
  readonly position?: 'superscript' | 'subscript';
};

export type TextPiece = TextLook & { readonly text: string };

const NOT_RAISED = '0123456789+-=()';
const RAISED = {
  superscript: [...'⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾'],
  subscript: [...'₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎'],
};

/**
 * Joins the pieces of a cell: without what is struck through, raised digits as characters of their
 * own. A warning says so. A text that is struck through as a whole stays, for the row to decide.
 */
export function makeTextValue(pieces: readonly TextPiece[], isCellStruck: boolean): CellValue {
  const filled = pieces.filter(({ text }) => text !== '');
  const isStruck = (piece: TextPiece): boolean => piece.isStruck ?? isCellStruck;
  const kept = filled.filter((piece) => !isStruck(piece));
  const keptText = joinPieces(kept);
  if (keptText === '') return { text: joinPieces(filled), isStruck: filled.some(isStruck) };
  if (kept.length < filled.length)
    return {
      text: keptText,
      fault: makeStruckFault(joinPieces(filled.filter(isStruck)), keptText),
    };
  return kept.some(({ position }) => position !== undefined)
    ? { text: keptText, fault: makeRaisedFault(keptText) }
    : { text: keptText };
}

function joinPieces(pieces: readonly TextPiece[]): string {
  return pieces
    .map(({ text, position }) => (position === undefined ? text : raise(text, position)))
    .join('')
    .trim();
}

function raise(text: string, position: 'superscript' | 'subscript'): string {
  return Array.from(text, (letter) => RAISED[position][NOT_RAISED.indexOf(letter)] ?? letter).join(
    '',
  );
}

function makeStruckFault(struck: string, kept: string): Doubt {
  const problem = msg`"${struck}" is struck through and does not count. The cell is read as "${kept}".`;
  return { severity: 'warning', rule: 'cell-struck', problem };
}

/** Reports a struck cell of a row that counts. */
export function makeStruckCellFault(struck: string): Doubt {
  const problem = msg`"${struck}" is struck through and does not count. The cell is read as empty.`;
  return { severity: 'warning', rule: 'cell-struck', problem };
}

function makeRaisedFault(text: string): Doubt {
  const problem = msg`The cell has a superscript or subscript and is read as "${text}". If that is a remark, remove it.`;
  return { severity: 'warning', rule: 'cell-raised', problem };
}
