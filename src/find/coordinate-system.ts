import { FileError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { GeomSystem } from './find.ts';

/** The system of an EPSG code; undefined where the service does not take it. */
export function geomSystemOf(epsg: number): GeomSystem | undefined {
  if (epsg === 4326) return '4326';
  return epsg === 5514 ? '5514' : undefined;
}

/** A file whose points are in a system that the service does not take. `named` is how the file calls it. */
export function strangeSystem(file: string, named: string): FileError {
  return new FileError(file, t`The points of ${file} are in the coordinate system ${named}, which is not read.`, {
    hint: t`Save the file in WGS 84 (EPSG:4326) or S-JTSK (EPSG:5514).`,
  });
}
