import { compareCzech, computeEditDistance, foldForSearch, splitWords } from '../../base/names.ts';
import type { Term, Vocabulary } from './term.ts';
import { listTermsOfSet } from './terms.ts';

/** Removes the case ending and folds: `nádoby`, `nádobu` and `nádobami` give the same. */
export function getWordStem(word: string): string {
  return withoutFleetingE(withoutEnding(foldForSearch(shortenLongU(word)), CASE_ENDINGS));
}

/**
 * Removes also the suffixes of diminutives and adjectives and unifies the final consonant:
 * `nádobka` and `nádoba`, `kovový` and `kov`, `knižní` and `kniha` give the same.
 */
export function getWordRoot(word: string): string {
  const root = withoutEnding(getWordStem(word), DERIVATIONS);
  const short = root.length > 4 ? root.replace(/e(\p{L})$/u, '$1') : root;
  return short.replace(/ch$/, 's').replace(/h$/, 'z').replace(/k$/, 'c');
}

/** `nůž` has the genitive `nože`. */
function shortenLongU(word: string): string {
  return word.toLowerCase().replaceAll('ů', 'o').replaceAll('u\u030a', 'o');
}

const MIN_STEM_CHARACTERS = 3;

function withoutEnding(word: string, endings: readonly string[]): string {
  const ending = endings.find(
    (one) => word.endsWith(one) && word.length - one.length >= MIN_STEM_CHARACTERS,
  );
  return ending === undefined ? word : word.slice(0, -ending.length);
}

/** Longest first; nouns and adjectives together, since an isolated word does not show its class. */
const CASE_ENDINGS = [
  'atech',
  'etem',
  'atum',
  'ami',
  'emi',
  'imi',
  'ymi',
  'ech',
  'ich',
  'ych',
  'ach',
  'eho',
  'iho',
  'emu',
  'imu',
  'ove',
  'ovi',
  'ata',
  'aty',
  'om',
  'em',
  'im',
  'ym',
  'am',
  'ou',
  'um',
  'ej',
  'a',
  'e',
  'i',
  'o',
  'u',
  'y',
];

const DERIVATIONS = [
  'ovsk',
  'ovit',
  'icek',
  'ecek',
  'ynek',
  'inek',
  'ynk',
  'ink',
  'ick',
  'eck',
  'ock',
  'enn',
  'sk',
  'ov',
  'en',
  'in',
  'ik',
  'ek',
  'ec',
  'k',
  'n',
];

/** Removes a fleeting e: `opasek` and `opasku`, `hrnec` and `hrnce`, `lahev` and `lahve`. */
function withoutFleetingE(stem: string): string {
  return stem.length > 4 ? stem.replace(/e([kclnv])$/, '$1') : stem;
}

/**
 * Domain synonyms: abbreviations of Czech archaeology, symbols of chemical elements, and synonyms
 * that museums use for a vocabulary's words. Keys are folded and have no dot; readings are
 * separated by `|`, and the set decides between them (`stř.` is a sherd among objects, silver among
 * materials).
 */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  // materials
  ag: 'stříbro|stříbrný',
  au: 'zlato|zlatý|archeologický ústav',
  bar: 'barevný',
  br: 'bronz|bronzový|broušený',
  cu: 'měď|měděný',
  dr: 'dřevo|dřevěný|doba římská',
  fe: 'železo|železný',
  hl: 'hlína|hliněný',
  kam: 'kámen|kamenný',
  ker: 'keramika|keramický',
  ol: 'olovo|olověný',
  par: 'paroh|parohový',
  pb: 'olovo|olověný',
  si: 'štípaná industrie',
  skl: 'sklo|skleněný',
  sn: 'cín|cínový',
  str: 'stříbro|stříbrný|střep|středověk|střední',
  zl: 'zlomek|zlato|zlatý',
  zel: 'železo|železný',
  // objects
  fr: 'zlomek',
  frag: 'zlomek',
  fragm: 'zlomek',
  ks: 'kus',
  nad: 'nádoba',
  neurc: 'neurčený|neurčeno',
  nezj: 'neurčený|neurčeno',
  okr: 'okraj|okresní',
  pred: 'předmět',
  predm: 'předmět',
  // periods and cultures
  c: 'časný',
  d: 'doba',
  db: 'doba bronzová',
  dl: 'doba laténská',
  dsn: 'doba stěhování národů',
  dz: 'doba železná',
  ha: 'doba halštatská',
  k: 'kultura',
  kkk: 'kultura s kanelovanou keramikou',
  knp: 'kultura nálevkovitých pohárů',
  kpp: 'kultura popelnicových polí',
  ksk: 'kultura se šňůrovou keramikou',
  kult: 'kultura',
  kvk: 'kultura s vypíchanou keramikou',
  kzp: 'kultura zvoncovitých pohárů',
  lbk: 'kultura s lineární keramikou',
  lgk: 'kultura lengyelská',
  lnk: 'kultura s lineární keramikou',
  lt: 'doba laténská',
  mdr: 'mladší doba římská',
  ml: 'mladší|mladý',
  mmk: 'kultura lengyelská',
  nv: 'novověk',
  obd: 'období',
  poz: 'pozdní',
  ps: 'pozdní středověk',
  r: 'římský|raný',
  ran: 'raný',
  rn: 'raný novověk',
  rs: 'raný středověk',
  sdb: 'starší doba bronzová',
  sdr: 'starší doba římská',
  snk: 'kultura se šňůrovou keramikou',
  st: 'starší|století',
  stk: 'kultura s vypíchanou keramikou',
  stol: 'století',
  uk: 'únětická kultura',
  vrch: 'vrcholný',
  vs: 'vrcholný středověk',
  vypk: 'kultura s vypíchanou keramikou',
  // organisations
  muz: 'muzeum',
  ust: 'ústav',
};

const SYNONYMS: Readonly<Record<string, string>> = {
  // fragments
  fragment: 'zlomek',
  okraj: 'zlomek',
  strep: 'zlomek nádoby',
  torzo: 'zlomek',
  ulomek: 'zlomek',
  // objects
  brus: 'brousek',
  fibula: 'spona',
  figurka: 'plastika',
  helma: 'přilba',
  helmice: 'přilba',
  idol: 'plastika',
  medailka: 'devocionální medailka',
  mlat: 'sekeromlat',
  ocilka: 'křesadlo',
  penizek: 'mince',
  praska: 'přezka',
  privesek: 'závěsek',
  remen: 'opasek',
  soska: 'plastika',
  strela: 'šipka',
  svatostka: 'devocionální medailka',
  zavazicko: 'závaží',
  // coins
  brakteat: 'mince',
  denar: 'mince',
  dukat: 'mince',
  gros: 'mince',
  haler: 'mince',
  krejcar: 'mince',
  parvus: 'mince',
  penize: 'mince',
  penny: 'mince',
  tolar: 'mince',
  // materials
  hlina: 'keramika',
  silicit: 'pazourek',
  // periods
  bronz: 'doba bronzová',
  hradistni: 'raný středověk',
  nedatovano: 'neurčeno',
  slovansky: 'raný středověk',
};

type Word = {
  readonly text: string;
  readonly folded: string;
  readonly stem: string;
  readonly root: string;
  /** The word is abbreviated: it ends with a dot. */
  readonly cut: boolean;
};

/** A word of a term itself, or one of those that it stands for; `meaning` has all of these. */
type WordReading = { readonly word: Word; readonly meaning?: string };

type TermToken = { readonly word: Word; readonly readings: readonly WordReading[] };

/** Czech and English words that link others. */
const LINKS = new Set([
  'a',
  'do',
  'ke',
  'na',
  'nebo',
  'o',
  'od',
  'po',
  'pod',
  'pri',
  'pro',
  's',
  'se',
  'u',
  'v',
  've',
  'z',
  'ze',
  'and',
  'for',
  'of',
  'the',
  'with',
]);

/** A longer text is a description, which begins with the object. */
const MAX_LETTERS = 120;

/** Returns the meaningful words of a text, each with its readings. */
function splitOwnTerm(text: string): TermToken[] {
  return splitIntoWords(text.slice(0, MAX_LETTERS)).map((word) => {
    const readings = listMeanings(word).flatMap((meaning) =>
      splitIntoWords(meaning).map((other): WordReading => ({ word: other, meaning })),
    );
    return { word, readings: [{ word }, ...readings] };
  });
}

/** Splits a text into words and drops linking words, unless it has no others. */
function splitIntoWords(text: string): Word[] {
  const words = (text.match(/[\p{L}\p{N}\p{M}]+\.?/gu) ?? []).map(makeWord);
  const meaningful = words.filter(({ cut, folded }) => cut || !LINKS.has(folded));
  return meaningful.length === 0 ? words : meaningful;
}

function makeWord(written: string): Word {
  const text = written.replace('.', '');
  return {
    text,
    folded: foldForSearch(text),
    stem: getWordStem(text),
    root: getWordRoot(text),
    cut: written !== text,
  };
}

function listMeanings({ folded, stem }: Word): string[] {
  const synonym = findMeaningOfStem(stem);
  return [...expandAbbreviation(folded), ...(synonym === undefined ? [] : [synonym])];
}

/** By stem, since a list may have any inflected form. */
function findMeaningOfStem(stem: string): string | undefined {
  alternatives ??= new Map(
    Object.entries(SYNONYMS).map(([word, meaning]) => [getWordStem(word), meaning]),
  );
  return alternatives.get(stem);
}

/** Made on first use, since most commands look up no word. */
let alternatives: ReadonlyMap<string, string> | undefined;

/** Each wording is searched; the words behind these are details. */
const MAX_REPLACED = 3;

/**
 * Returns a typed text with one word at a time replaced by what it may stand for; empty where no
 * word has another meaning. Only the first {@link MAX_REPLACED} words are replaced.
 */
export function listOtherWordings(typed: string): string[] {
  const folded = foldForSearch(typed);
  return splitIntoWords(folded)
    .slice(0, MAX_REPLACED)
    .flatMap((word) => listMeanings(word).map((meaning) => folded.replace(word.text, meaning)));
}

function expandAbbreviation(folded: string): string[] {
  return Object.hasOwn(ABBREVIATIONS, folded) ? (ABBREVIATIONS[folded] ?? '').split('|') : [];
}

/**
 * A candidate entry for a museum's own term; `score` is 1 for the entry's own name. `why` pairs the
 * words of the term with those of the entry, `nože ~ nůž`, with `?` for one without a partner.
 */
export type Suggestion = {
  readonly term: Term;
  readonly score: number;
  readonly why: readonly string[];
};

/** Returns the entries of one set that fit a term, best first. A person decides which is meant. */
type Suggest = (ownTerm: string, limit: number) => Suggestion[];

type Name = {
  readonly term: Term;
  readonly text: string;
  readonly words: readonly Word[];
};

const NAMES = ['label', 'labelEn', 'abbreviation'] as const;

const MIN_SCORE = 0.45;
const NOT_QUITE_THE_SAME = 0.99;
/**
 * Makes a function that suggests entries of a set for a museum's own term, best first, at most
 * `limit`, each with its score and evidence. The set is loaded once, so that many terms are fast.
 */
export function makeTermSuggester(vocabulary: Vocabulary, setSpec: string): Suggest {
  const names = listTermsOfSet(vocabulary, setSpec).flatMap((term) =>
    NAMES.flatMap((name): Name[] => {
      const text = term[name];
      return text === null ? [] : [{ term, text, words: splitIntoWords(text) }];
    }),
  );
  return (text, limit) => {
    const tokens = splitOwnTerm(text);
    const best = new Map<string, Suggestion>();
    for (const name of names) {
      const fit = compareLetters(text, name) ?? compareTokens(tokens, name);
      if (fit.score >= Math.max(MIN_SCORE, best.get(name.term.ident)?.score ?? 0))
        best.set(name.term.ident, { term: name.term, ...fit });
    }
    return [...best.values()]
      .sort((a, b) => b.score - a.score || compareNames(a.term, b.term))
      .slice(0, limit);
  };
}

/** Puts the more specific of equals first: `vrcholný středověk` before `středověk`. */
function compareNames({ label }: Term, other: Term): number {
  return other.label.length - label.length || compareCzech(label, other.label);
}

type Fit = Omit<Suggestion, 'term'>;

/** Compares the whole texts, with their words joined or separated. */
function compareLetters(text: string, name: Name): Fit | undefined {
  if (reduceToLetters(text) !== reduceToLetters(name.text)) return undefined;
  const score = text.trim() === name.text ? 1 : NOT_QUITE_THE_SAME;
  return { score, why: [`${text.trim()} ~ ${name.text}`] };
}

/** Removes accents, case, spaces, dots and hyphens. */
function reduceToLetters(text: string): string {
  return splitWords(foldForSearch(text)).join('');
}

type Pair = { readonly closeness: number; readonly token: TermToken; readonly entry: Word };

/** Compares word by word; each word of the term and of the entry counts with its best match. */
function compareTokens(tokens: readonly TermToken[], { words }: Name): Fit {
  const pairs = tokens.flatMap((token) =>
    words.map((entry): Pair => {
      const closeness = token.readings.map((reading) => measureCloseness(reading, entry));
      return { token, entry, closeness: Math.max(...closeness) };
    }),
  );
  const findBest = (isOfPart: (pair: Pair) => boolean): Pair | undefined =>
    pairs
      .filter((pair) => isOfPart(pair) && pair.closeness > 0)
      .sort((a, b) => b.closeness - a.closeness)[0];
  const ofEntry = words.map((entry) => findBest((pair) => pair.entry === entry));
  const ofTerm = tokens.map((token) => findBest((pair) => pair.token === token));
  const parts = [...ofEntry, ...ofTerm];
  const sum = parts.reduce((all, pair) => all + (pair?.closeness ?? 0), 0);
  const described = [
    ...ofEntry.map((pair, index) => [pair?.token.word.text, words[index]?.text]),
    ...ofTerm.map((pair, index) => [tokens[index]?.word.text, pair?.entry.text]),
  ];
  return {
    score: (NOT_QUITE_THE_SAME * sum) / Math.max(1, parts.length),
    why: [...new Set(described.map(([own = '?', entry = '?']) => `${own} ~ ${entry}`))],
  };
}

const SAME = 1;
const RELATED = 0.8;
const SHORT_ROOT = 0.74;
const MISTYPED = 0.7;

/** Returns how close two words are; 0 where they have nothing in common. */
function measureCloseness({ word, meaning }: WordReading, entry: Word): number {
  if (word.folded === entry.folded) return SAME;
  if (isRelated(word, entry)) return RELATED;
  if (word.root === entry.root && word.root.length === 3) return SHORT_ROOT;
  // The expansion of an abbreviation was not typed, so it has no typing errors.
  if (word.cut || meaning !== undefined) return 0;
  const limit = [4, 7, 11].filter((from) => word.folded.length >= from).length;
  const errors = limit === 0 ? 1 : computeEditDistance(word.folded, entry.folded, limit);
  return errors <= limit ? MISTYPED : 0;
}

/** A shorter part is one of too many words. */
const MIN_PART_CHARACTERS = 4;

/** Compares roots, beginnings, and parts of compounds: `mlat` in `sekeromlat`. */
function isRelated(word: Word, entry: Word): boolean {
  const isPart = (short: string, long: string): boolean =>
    short.length >= MIN_PART_CHARACTERS && (long.startsWith(short) || long.endsWith(short));
  return (
    (word.cut && entry.folded.startsWith(word.folded)) ||
    (word.stem === entry.stem && word.stem.length > 2) ||
    (word.root === entry.root && word.root.length > 3) ||
    isPart(word.folded, entry.folded) ||
    isPart(word.stem, entry.stem) ||
    isPart(entry.stem, word.stem)
  );
}
