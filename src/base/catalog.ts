import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { po } from 'gettext-parser';
import type { Language } from './language.ts';
import { packageRoot } from './package-root.ts';

/** The translated forms of each text; several where a number decides. */
export type Catalog = {
  readonly charset: string;
  readonly headers: Record<string, string>;
  readonly contexts: { '': Record<string, string[]> };
};

/** All texts of one language: the .po files of its folder, put together. */
export function readCatalog(language: Language): Catalog {
  const folder = join(packageRoot, 'src', 'language', language);
  const forms: Record<string, string[]> = {};
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.po'))) {
    const texts = po.parse(readFileSync(join(folder, name))).translations[''] ?? {};
    for (const [english, { msgstr }] of Object.entries(texts)) forms[english] = msgstr;
  }
  return { charset: 'utf-8', headers: { 'plural-forms': PLURAL_FORMS[language] }, contexts: { '': forms } };
}

/** Czech: one; two to four; all others. */
const PLURAL_FORMS: Readonly<Record<Language, string>> = {
  en: 'nplurals=2; plural=(n != 1);',
  cs: 'nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;',
};
