import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { po } from 'gettext-parser';

/**
 * Translated forms by English text with numbered placeholders; several forms where a number
 * decides.
 */
export type Forms = Readonly<Record<string, readonly string[]>>;

/**
 * Reads all .po files of a folder: English texts with their translated forms; places are numbered
 * as in the English text.
 */
export function readPoFiles(folder: string): Forms {
  const forms: Record<string, readonly string[]> = {};
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.po'))) {
    const texts = po.parse(readFileSync(join(folder, name))).translations[''] ?? {};
    for (const [english, { msgstr }] of Object.entries(texts)) {
      const names = [...english.matchAll(PLACE)].map(([, value = '']) => value.trim());
      let count = 0;
      forms[english.replace(PLACE, () => `\${${count++}}`)] = msgstr.map((form) =>
        form.replace(PLACE, (_, value: string) => `\${${names.indexOf(value.trim())}}`),
      );
    }
  }
  return forms;
}

/** A placeholder with its name in the sources: a variable, a member, or a command. */
const PLACE = /\$\{([^{}]*)\}/g;
