import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { FILE_BASE } from '../addresses.ts';
import type { Body } from '../records/record.ts';
import type { SeedPhotograph } from '../seed-content.ts';
import { ShapeError } from '../shape.ts';
import type { References } from './references.ts';

const MIMETYPES: Readonly<Record<string, string>> = { '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg', '.png': 'image/png' };

/** Reads `photographs/<name>` of the seed folder; the `soubor` element follows from its bytes (A-FILE-5). @throws ShapeError */
export function seedPhotograph(
  folder: string,
  find: string,
  name: string,
  upload: { readonly user: string; readonly at: string },
  references: References,
): { readonly element: Body; readonly photograph: SeedPhotograph } {
  const path = join(folder, 'photographs', name);
  const mimetype = MIMETYPES[extname(name).toLowerCase()];
  if (name.includes('/') || name.includes('\\') || mimetype === undefined) {
    throw new ShapeError('photographs', `${name} must be the name of a .jpg or .png file in the folder photographs`);
  }
  if (!existsSync(path)) throw new ShapeError('photographs', `${name} is not in the folder photographs`);
  const bytes = readFileSync(path);
  const uuid = uuidOf(`${find}/${name}`);
  const history = [
    { typ_zmeny: 'SBR0', uzivatel: upload.user, datum_zmeny: upload.at, poznamka: `IMG_${uuid.slice(0, 4)}${extname(name)}` },
  ];
  const element = {
    id: references.numbered('soub'),
    path: `rest/mock/record/${find}/file/${uuid}`,
    nazev: name,
    mimetype,
    rozsah: '1',
    size_mb: (bytes.length / 1_048_576).toFixed(10),
    sha_512: createHash('sha512').update(bytes).digest('hex'),
    url: `${FILE_BASE}/${find}/file/${uuid}`,
    historie: references.history(history, 'soubor'),
  };
  return { element, photograph: { uuid, find, mimetype, bytes } };
}

/** Always the same for the same photograph. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}
