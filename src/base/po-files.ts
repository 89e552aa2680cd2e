import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { po } from 'gettext-parser';

/** The translated forms of each English text; several where a number decides. */
export type Forms = Readonly<Record<string, readonly string[]>>;

export function readPoFiles(folder: string): Forms {
  const forms: Record<string, readonly string[]> = {};
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.po'))) {
    const texts = po.parse(readFileSync(join(folder, name))).translations[''] ?? {};
    for (const [english, { msgstr }] of Object.entries(texts)) forms[english] = msgstr;
  }
  return forms;
}
