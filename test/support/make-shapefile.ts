import { makeZip } from './make-zip.ts';

export type DbfColumn = {
  readonly name: string;
  readonly type: 'C' | 'N' | 'F' | 'D' | 'L' | 'M';
  readonly width: number;
};
/** A point, the bytes of another shape, or none. */
export type Shape = readonly [x: number, y: number] | Buffer | null;

export const WGS_84 =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]';

function makeContent(shape: Shape): Buffer {
  if (shape === null) return Buffer.alloc(4);
  return shape instanceof Buffer ? shape : pointShape(shape[0], shape[1]);
}

/** The shapes as ESRI describes them. */
export function makeShp(shapes: readonly Shape[], type = 1): Buffer {
  const records = shapes.map((shape, index) => {
    const content = makeContent(shape);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(index + 1, 0);
    head.writeUInt32BE(content.length / 2, 4);
    return Buffer.concat([head, content]);
  });
  const header = Buffer.alloc(100);
  header.writeUInt32BE(9994, 0);
  header.writeUInt32BE((100 + records.reduce((sum, { length }) => sum + length, 0)) / 2, 24);
  header.writeUInt32LE(1000, 28);
  header.writeUInt32LE(type, 32);
  return Buffer.concat([header, ...records]);
}

/** @param type of the shape; the numbers behind the two are heights and measures */
export function pointShape(x: number, y: number, type = 1, ...more: readonly number[]): Buffer {
  const shape = Buffer.alloc(20 + more.length * 8);
  shape.writeUInt32LE(type, 0);
  for (const [index, value] of [x, y, ...more].entries()) shape.writeDoubleLE(value, 4 + index * 8);
  return shape;
}

/** The table as dBASE III wrote it. @param driver byte of the language driver */
export function makeDbf(
  columns: readonly DbfColumn[],
  rows: readonly (readonly (string | Buffer)[])[],
  {
    driver = 0,
    deleted = [],
  }: { readonly driver?: number; readonly deleted?: readonly number[] } = {},
): Buffer {
  const rowBytes = 1 + columns.reduce((sum, { width }) => sum + width, 0);
  const header = Buffer.alloc(32);
  header.writeUInt8(3, 0);
  header.set([124, 6, 15], 1);
  header.writeUInt32LE(rows.length, 4);
  header.writeUInt16LE(32 + columns.length * 32 + 1, 8);
  header.writeUInt16LE(rowBytes, 10);
  header.writeUInt8(driver, 29);
  const fields = columns.map(({ name, type, width }) => {
    const field = Buffer.alloc(32);
    field.write(name, 0, 10);
    field.write(type, 11, 'latin1');
    field.writeUInt8(width, 16);
    return field;
  });
  const records = rows.map((cells, index) => {
    const record = Buffer.alloc(rowBytes, 0x20);
    if (deleted.includes(index)) record.write('*', 0);
    let at = 1;
    for (const [place, { width }] of columns.entries()) {
      Buffer.from(cells[place] ?? '').copy(record, at, 0, width);
      at += width;
    }
    return record;
  });
  return Buffer.concat([header, ...fields, Buffer.from('\r'), ...records, Buffer.from('\u001a')]);
}

/** An archive of one shapefile; what is undefined is left out. */
export function zipShapefile(parts: Readonly<Record<string, Buffer | string | undefined>>): Buffer {
  return makeZip(
    Object.entries(parts).flatMap(([ending, content]) =>
      content === undefined ? [] : [{ name: `nalezy/body${ending}`, content }],
    ),
  );
}
