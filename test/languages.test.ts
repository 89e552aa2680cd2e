import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { po } from 'gettext-parser';
import { describe, expect, test } from 'vitest';
import { type Literal, readSources, type SourceText, type Template } from './source-texts.ts';
import { PROJECT } from './support/run-pas.ts';

/**
 * The sources and the Czech catalog agree: every text has its Czech, and every Czech text is said
 * somewhere.
 */

const sources = readSources('src', 'bin');
const texts = sources.flatMap((source) => source.texts);

/** Key of a text at run time: its values are numbered in order, whatever their names. */
type Key = string;

type Translation = {
  readonly file: string;
  readonly english: string;
  readonly forms: readonly string[];
  readonly plural: boolean;
  readonly fuzzy: boolean;
};

const translations = readTranslations(join(PROJECT, 'src', 'language', 'cs'));
const keys = new Set(translations.map(({ english }) => getKey(english)));

function readTranslations(folder: string): Translation[] {
  return readdirSync(folder).flatMap((file) => {
    const texts = po.parse(readFileSync(join(folder, file))).translations[''] ?? {};
    return Object.values(texts)
      .filter(({ msgid }) => msgid !== '')
      .map(({ msgid, msgid_plural: plural, msgstr, comments }) => ({
        file,
        english: msgid,
        forms: msgstr,
        plural: plural !== undefined,
        fuzzy: comments?.flag?.includes('fuzzy') === true,
      }));
  });
}

function getKey(english: string): Key {
  let count = 0;
  return english.replace(/\$\{\s*[^}]*\}/g, () => `\${${count++}}`);
}

function templateKey({ parts, expressions }: Template): Key {
  return getKey(formatEnglish({ parts, expressions }));
}

function formatEnglish({ parts, expressions }: Pick<Template, 'parts' | 'expressions'>): string {
  return parts
    .map(
      (part, index) =>
        `${part}${expressions[index] === undefined ? '' : `\${${expressions[index]}}`}`,
    )
    .join('');
}

function listPlaceholders(text: string): string[] {
  return [...text.matchAll(/\$\{\s*([^}]*?)\s*\}/g)].map(([, name = '']) => name).sort();
}

const listPlaces = (of: (text: SourceText) => boolean): string[] =>
  texts.filter(of).map(({ place, one }) => `${place} ${formatEnglish(one)}`);
const translated = (of: (translation: Translation) => boolean): string[] =>
  translations.filter(of).map(({ file, english }) => `${file}: ${english}`);

describe('a text in the sources', () => {
  test('has a Czech translation', () => {
    expect(listPlaces(({ one }) => !keys.has(templateKey(one)))).toEqual([]);
  });

  test('contains plain variables and members only, which a translator can name', () => {
    expect(listPlaces(({ one, many }) => !one.plain || many?.plain === false)).toEqual([]);
  });

  test('with a number has the same values in singular and plural', () => {
    expect(
      listPlaces(
        ({ one, many }) =>
          many !== undefined &&
          `${listPlaceholders(formatEnglish(one))}` !== `${listPlaceholders(formatEnglish(many))}`,
      ),
    ).toEqual([]);
  });

  test('has three Czech forms if it depends on a number, else one', () => {
    const plurals = new Set(
      translations.filter(({ plural }) => plural).map(({ english }) => getKey(english)),
    );
    expect(
      listPlaces(({ one, many }) => (many !== undefined) !== plurals.has(templateKey(one))),
    ).toEqual([]);
  });

  test('is translated when it is shown, not while its module loads', () => {
    expect(listPlaces(({ frozen }) => frozen)).toEqual([]);
  });

  test('is not broken over lines', () => {
    expect(listPlaces(({ one }) => formatEnglish(one).includes('\n'))).toEqual([]);
  });
});

describe('a Czech text', () => {
  test('is used somewhere', () => {
    const used = new Set(texts.map(({ one }) => templateKey(one)));
    expect(translated(({ english }) => !used.has(getKey(english)))).toEqual([]);
  });

  test('is in one file, once', () => {
    const seen = new Map<Key, string>();
    const twice = translations.flatMap(({ file, english }) => {
      const before = seen.get(getKey(english));
      seen.set(getKey(english), file);
      return before === undefined ? [] : [`${before} and ${file}: ${english}`];
    });
    expect(twice).toEqual([]);
  });

  test('contains each value of the English text', () => {
    const differs = (english: string, czech: string): boolean =>
      `${listPlaceholders(english)}` !== `${listPlaceholders(czech)}`;
    expect(
      translated(({ english, forms }) => forms.some((form) => differs(english, form))),
    ).toEqual([]);
  });

  test('has all Czech plural forms: one, two to four, and others', () => {
    expect(translated(({ plural, forms }) => forms.length !== (plural ? 3 : 1))).toEqual([]);
  });

  test('is translated, differs from the English text, and is not marked for review', () => {
    const same = (english: string, form: string): boolean =>
      form === english && /\p{L}\S* +\p{L}/u.test(english.replace(/\$\{[^}]*\}/g, ''));
    expect(
      translated(
        ({ english, forms, fuzzy }) =>
          fuzzy || forms.some((form) => form.trim() === '' || same(english, form)),
      ),
    ).toEqual([]);
  });
});

/** Literals with words that are not messages. */
const NOT_FOR_PEOPLE: readonly (readonly [why: string, path: RegExp, text: RegExp])[] = [
  ['a command to type', /^src\//, /^ *pas [a-z]/],
  [
    'SQL',
    /^src\//,
    /\b(select|insert|update|delete|create|pragma|alter|attach|detach|vacuum|order by|cross join|limit 1|collate|excluded)\b|= [:?]|_at as /i,
  ],
  [
    'SQL',
    /^src\/outbox\//,
    /^(coalesce\(|document = coalesce|exists \(|finds join |finds\.uuid, |from entries |seq, id,|id, kind,|held is |entry is |\+?(entries\.)?(kind|state|project|later\.state) (=|<>|in) )/,
  ],
  ['XML', /^src\//, /^(\uFEFF?<\?xml |<schema xmlns=)/],
  ['the first bytes of a file', /^src\/(tables|base\/disk)\//, /^SQLite format 3/],
  ['SQL, and what a table is made of', /^src\/tables\/exports\/gpkg-layers\.ts$/, /^fid integer /],
  ['expressions of QGIS', /^src\/tables\/forms\/(make-)?qfield-\w+\.ts$/, /"[\w…]+"|current_value/],
  ['what QGIS calls them', /^src\/tables\/exports\/gpkg-layers\.ts$/, /^No geometry$/],
  ['HTML', /^src\/report\/page\.ts$/, /^<!doctype html>/],
  ['a policy for browsers', /^src\/report\/html\.ts$/, /^img-src /],
  ['a folder of macOS', /^src\/cli\/context\/places\.ts$/, /^Application Support$/],
  ['Lua', /^src\/service\/http\/redis-pace-store\.ts$/, /redis\.call/],
  [
    'what the library says to those who program with it',
    /^src\/(connection|oai-client|write-client)\.ts$/,
    /./,
  ],
  [
    'XLSForm',
    /^src\/tables\/forms\/make-odk-form\.ts$/,
    /^(selected-at|select_one|string-length|minimal|… =)/,
  ],
  ['what KoboToolbox says of a form', /^src\/tables\/formats\/form-return\.ts$/, /^not approved$/],
  ['Czech words of the trade, to be recognised', /^src\/finds\/vocabulary\/search\.ts$/, /./],
  [
    'names of columns, to be recognised',
    /^src\/(finds\/fields|tables\/columns\/column-meaning)\.ts$/,
    /^[a-z0-9 ,]+$/,
  ],
  [
    'names of people and words beside them, to be recognised',
    /^src\/finds\/person-name\.ts$/,
    /^[a-z ]+$/,
  ],
];

/** Thrown where only a bug leads; what is foreseen is a PasError. */
const BUGS = ['new Error', 'new RangeError', 'new TypeError'];

/** Text of markup for a reader: between the tags, and in the attributes that are read out. */
function saidInMarkup(markup: string): string {
  const readOut = [...markup.matchAll(/(?:aria-label|alt|title|placeholder)="([^"]*)"/g)].map(
    ([, text]) => text,
  );
  const between = markup.replace(/<code>.*?<\/code>/g, ' ').replace(/<[^>]*>/g, ' ');
  return [between, ...readOut].join(' ');
}

function isSentence({ text, givenTo }: Literal): boolean {
  if (givenTo.some((receiver) => BUGS.includes(receiver))) return false;
  if (givenTo.includes('html') && text.includes('<')) return /\p{L}{2,}/u.test(saidInMarkup(text));
  return (
    /\p{L}{2,}[,;:]? +\p{L}{2,}/u.test(text) ||
    (givenTo.includes('table') && /\p{L}{2,}/u.test(text))
  );
}

test('no text of several words, and no heading of a table, bypasses the translation', () => {
  const past = sources.flatMap(({ path, literals }) =>
    literals
      .filter(isSentence)
      .filter(
        ({ text }) =>
          !NOT_FOR_PEOPLE.some(([, where, what]) => where.test(path) && what.test(text)),
      )
      .map(({ place, text }) => `${place} ${text}`),
  );
  expect(past).toEqual([]);
});
