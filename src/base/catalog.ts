import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { addLocale, setDedent, msgid as ttagMsgid, ngettext as ttagNgettext, t as ttagText, useLocale } from 'ttag';
import type { Language } from './languages.ts';
import { packageRoot } from './package-root.ts';
import type { Forms } from './po-files.ts';

/** A text with its values, not yet put together. */
export type Template = { readonly strings: TemplateStringsArray; readonly values: readonly unknown[] };

/** Finds a text, or its form for a number, in a catalog and puts the values in. */
export type Translator = {
  text(template: Template): string;
  counted(one: Template, many: string, count: number): string;
};

export async function openTranslator(language: Language): Promise<Translator> {
  setDedent(false);
  addLocale(language, await readCatalog(language));
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

type Catalog = {
  readonly charset: string;
  readonly headers: Record<string, string>;
  readonly contexts: { '': Record<string, string[]> };
};

async function readCatalog(language: Language): Promise<Catalog> {
  const folder = poFolder(language);
  // Reading .po files takes longer than most commands, so the build leaves their texts beside the code.
  const forms = readBuilt(language, folder) ?? (await import('./po-files.ts')).readPoFiles(folder);
  const texts = Object.fromEntries(Object.entries(forms).map(([english, czech]) => [english, [...czech]]));
  return { charset: 'utf-8', headers: { 'plural-forms': PLURAL_FORMS[language] }, contexts: { '': texts } };
}

export function poFolder(language: Language): string {
  return join(packageRoot, 'src', 'language', language);
}

/** Where the build leaves the texts of a language. */
export function builtCatalog(language: Language): string {
  return join(packageRoot, 'dist', `language-${language}.json`);
}

/** Undefined where nothing was built, or a .po file was edited since. */
function readBuilt(language: Language, folder: string): Forms | undefined {
  try {
    const builtMs = statSync(builtCatalog(language)).mtimeMs;
    const edited = [folder, ...readdirSync(folder).map((name) => join(folder, name))].some(
      (path) => statSync(path).mtimeMs > builtMs,
    );
    return edited ? undefined : (JSON.parse(readFileSync(builtCatalog(language), 'utf8')) as Forms);
  } catch {
    return undefined;
  }
}

/** Czech: one; two to four; all others. */
const PLURAL_FORMS: Readonly<Record<Language, string>> = {
  en: 'nplurals=2; plural=(n != 1);',
  cs: 'nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;',
};
