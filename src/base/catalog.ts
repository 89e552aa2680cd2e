import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GetTextTranslations, po } from 'gettext-parser';
import type { Language } from './language.ts';
import { packageRoot } from './package-root.ts';

export type Catalog = Pick<GetTextTranslations, 'charset' | 'translations'> & { headers: Record<string, string> };

/** All texts of one language: the .po files of its folder, put together. */
export function readCatalog(language: Language): Catalog {
  const folder = join(packageRoot, 'src', 'language', language);
  const catalogs = readdirSync(folder)
    .filter((name) => name.endsWith('.po'))
    .map((name) => po.parse(readFileSync(join(folder, name))));
  return {
    charset: 'utf-8',
    headers: { 'plural-forms': PLURAL_FORMS[language] },
    translations: { '': Object.assign({}, ...catalogs.map(({ translations }) => translations[''])) },
  };
}

/** Czech: one; two to four; all others. */
const PLURAL_FORMS: Readonly<Record<Language, string>> = {
  en: 'nplurals=2; plural=(n != 1);',
  cs: 'nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;',
};
