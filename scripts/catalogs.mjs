// Writes the texts of the .po files beside the built code: see src/base/catalog.ts.
import { writeFileSync } from 'node:fs';
import { builtCatalog, poFolder } from '../dist/src/base/catalog.js';
import { LANGUAGES } from '../dist/src/base/languages.js';
import { readPoFiles } from '../dist/src/base/po-files.js';

for (const language of LANGUAGES.filter((each) => each !== 'en')) {
  writeFileSync(builtCatalog(language), JSON.stringify(readPoFiles(poFolder(language))));
}
