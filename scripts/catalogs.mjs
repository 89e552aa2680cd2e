// Writes the texts of the .po files beside the built code: see src/base/language.ts.
import { writeFileSync } from 'node:fs';
import { builtCatalog, LANGUAGES, poFolder } from '../dist/src/base/language.js';
import { readPoFiles } from '../dist/src/base/po-files.js';

for (const language of LANGUAGES.filter((each) => each !== 'en')) {
  writeFileSync(builtCatalog(language), JSON.stringify(readPoFiles(poFolder(language))));
}
