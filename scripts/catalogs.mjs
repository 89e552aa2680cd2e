// Writes the texts of the .po files beside the built code: see src/base/language.ts.
import { writeFileSync } from 'node:fs';
import { getBuiltCatalogPath, getPoFolder, LANGUAGES } from '../dist/src/base/language.js';
import { readPoFiles } from '../dist/src/base/po-files.js';

for (const language of LANGUAGES.filter((each) => each !== 'en')) {
  writeFileSync(getBuiltCatalogPath(language), JSON.stringify(readPoFiles(getPoFolder(language))));
}
