import { foldForSearch } from '../../base/names.ts';

/** Stems of Czech words, which make inflected forms comparable. The result need not be a word. */

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

export const ABBREVIATIONS: Readonly<Record<string, string>> = {
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

export const SYNONYMS: Readonly<Record<string, string>> = {
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
