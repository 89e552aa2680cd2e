import { cutTo, displayWidth, learnWidths, padded } from '../text/width.ts';

const GAP = '  ';
/** Minimum width of a column with several words. */
const NARROWEST = 10;

/**
 * Formats aligned columns; the last one may wrap.
 * @param columns width in cells: words are cut to fit, codes and numbers are not; where that is not enough, each row becomes
 * several lines. Without it nothing is cut.
 */
export async function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const all = [header, ...rows];
  await learnWidths(all.flat());
  const natural = header.map((_, column) => Math.max(...all.map((row) => displayWidth(row[column] ?? ''))));
  const widths = fitted(natural, least(natural, rows), columns - GAP.length * (header.length - 1));
  if (widths === undefined) return rows.flatMap((row, index) => [...(index === 0 ? [] : ['']), ...paragraph(header, row)]);
  return all.map((row) =>
    header
      .map((_, column) => {
        const [cell, cells] = [row[column] ?? '', widths[column] ?? 0];
        const isLast = column === header.length - 1;
        const shown = isLast && columns === Number.POSITIVE_INFINITY ? cell : cutTo(cell, cells);
        return isLast ? shown : padded(shown, cells);
      })
      .join(GAP)
      .trimEnd(),
  );
}

/** Returns the minimum width of each column: codes are not cut. */
function least(natural: readonly number[], rows: readonly (readonly string[])[]): number[] {
  return natural.map((width, column) => (rows.some((row) => row[column]?.includes(' ')) ? Math.min(width, NARROWEST) : width));
}

/** Shrinks the widest columns first. @returns undefined where they cannot be shrunk enough */
function fitted(natural: readonly number[], narrowest: readonly number[], room: number): number[] | undefined {
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

function paragraph(header: readonly string[], row: readonly string[]): string[] {
  const width = Math.max(...header.map(displayWidth));
  return header.flatMap((name, column) => {
    const cell = row[column] ?? '';
    return cell === '' ? [] : [`${padded(name, width)}${GAP}${cell}`];
  });
}
