// Writes the texts of the .po files beside the built code: see src/base/message.ts.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { po } from 'gettext-parser';
import { getCatalogPath, LANGUAGES } from '../dist/src/base/message.js';

/** A placeholder with its name in the sources: a variable, a member, or a command. */
const PLACE = /\$\{([^{}]*)\}/g;

for (const language of LANGUAGES.filter((each) => each !== 'en')) {
  const folder = join(import.meta.dirname, '..', 'src', 'language', language);
  writeFileSync(getCatalogPath(language), JSON.stringify(readPoFiles(folder)));
}

/**
 * Reads all .po files of a folder: English texts with their translated forms, several where a number
 * decides. Places are numbered as in the English text.
 * @param {string} folder
 * @returns {Record<string, readonly string[]>}
 */
function readPoFiles(folder) {
  /** @type {Record<string, readonly string[]>} */
  const forms = {};
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.po'))) {
    const texts = po.parse(readFileSync(join(folder, name))).translations[''] ?? {};
    for (const [english, { msgstr }] of Object.entries(texts)) {
      const names = [...english.matchAll(PLACE)].map(([, value = '']) => value.trim());
      let count = 0;
      forms[english.replace(PLACE, () => `\${${count++}}`)] = msgstr.map((form) =>
        form.replace(PLACE, (_, value) => `\${${names.indexOf(value.trim())}}`),
      );
    }
  }
  return forms;
}
