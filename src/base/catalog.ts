import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { po } from 'gettext-parser';
import { addLocale, setDedent, msgid as ttagMsgid, ngettext as ttagNgettext, t as ttagText, useLocale } from 'ttag';
import type { Language, Template } from './language.ts';
import { packageRoot } from './package-root.ts';

/** Finds a text, or its form for a number, in a catalog and puts the values in. */
export type Translator = {
  text(template: Template): string;
  counted(one: Template, many: string, count: number): string;
};

export function openTranslator(language: Language): Translator {
  setDedent(false);
  addLocale(language, readCatalog(language));
  useLocale(language);
  return {
    text: ({ strings, values }) => filled(ttagText(strings, ...marksFor(values)), values),
    counted: ({ strings, values }, many, count) =>
      filled(ttagNgettext(ttagMsgid(strings, ...marksFor(values)), many, count), values),
  };
}

/**
 * ttag puts values in one after the other, as replacement patterns: `$&` in a file name would be taken for one, and a value
 * could name the next. So it is given marks (of the private use area), and the values are put in here, all at once.
 */
function marksFor(values: readonly unknown[]): string[] {
  return values.map((_, index) => `\ue000${index}\ue001`);
}

function filled(text: string, values: readonly unknown[]): string {
  return text.replace(/\ue000(\d+)\ue001/g, (_, index: string) => String(values[Number(index)]));
}

/** The translated forms of each text; several where a number decides. */
type Catalog = {
  readonly charset: string;
  readonly headers: Record<string, string>;
  readonly contexts: { '': Record<string, string[]> };
};

/** All texts of one language: the .po files of its folder, put together. */
function readCatalog(language: Language): Catalog {
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
