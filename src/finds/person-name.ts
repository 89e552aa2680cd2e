import { collapseWhiteSpace, trimText } from '../base/characters.ts';
import {
  canAbbreviate,
  computeEditDistance,
  foldName,
  makePersonKey,
  splitNameWords,
} from '../base/names.ts';

/** A name whose parts are known. */
export type PersonName = { readonly surname: string; readonly givenName: string };

/**
 * Splits a name as the service does (A-FINDER-1): at the first comma, both parts trimmed, with
 * single blanks in the given name. Either part may be empty; without a comma all is the surname.
 */
export function splitNameAtComma(text: string): PersonName {
  const [surname = '', ...others] = text.split(',');
  return { surname: trimText(surname), givenName: collapseWhiteSpace(others.join(',')) };
}

/** A person's name as written, without titles and forms of address. */
export type WrittenName = {
  /** Parts between commas; one without a comma. */
  readonly parts: readonly string[];
  /** `st.` or `ml.` (senior, junior), which distinguishes people of the same name. */
  readonly suffix: string | undefined;
};

const SUFFIXES: Readonly<Record<string, string>> = {
  st: 'st.',
  starsi: 'st.',
  sen: 'st.',
  senior: 'st.',
  sr: 'st.',
  ml: 'ml.',
  mladsi: 'ml.',
  jun: 'ml.',
  junior: 'ml.',
  jr: 'ml.',
};

/**
 * A dot ends a word, so a blank is inserted behind it (`Ing.arch.`, `P.J.Novák`), except within
 * `Ph.D.` and the like.
 */
function withBlanks(text: string): string {
  return text
    .replace(/\b(Ph|Th|LL)\.?\s?([DM])\b\.?/gi, '$1$2.')
    .replace(/\.(?=\p{L})/gu, '. ')
    .replace(/\((\p{L}+\.?)\)/gu, (all, word: string) => (isSuffix(word) ? ` ${word} ` : all))
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Parses a person's name as written, with or without commas. Titles and forms of address are
 * dropped; `suffix` is `st.` or `ml.` for any word that means one of these. `parts` is empty for
 * titles alone.
 */
export function parsePersonName(text: string): WrittenName {
  const written = withBlanks(text)
    .split(',')
    .map((part) => part.trim());
  const names = written.map((part) => withoutTitles(part.split(' ')));
  const suffixes = names.flatMap(({ beside }) => beside.filter(isSuffix));
  // A part that was only a title is dropped; a part that was empty before stays, to be reported.
  const parts = names
    .filter(({ name }, index) => name !== '' || written[index] === '')
    .map(({ name }) => name);
  return { parts, suffix: SUFFIXES[foldName(suffixes[0] ?? '')] };
}

/** Separates the titles, addresses and suffixes at both ends of a part from its name. */
function withoutTitles(words: readonly string[]) {
  const isBeside = (word: string, index: number): boolean =>
    isTitle(word) ||
    isSuffix(word) ||
    (LINKS_OF_TITLES.has(foldName(word)) && isTitle(words[index - 1] ?? ''));
  const isBefore = (word: string, index: number): boolean =>
    isBeside(word, index) || (isAddress(word) && index < words.length - 1);
  const first = words.findIndex((word, index) => !isBefore(word, index));
  const end = words.findLastIndex((word, index) => !isBeside(word, index)) + 1;
  if (first === -1) return { name: '', beside: words };
  return {
    name: words.slice(first, end).join(' '),
    beside: [...words.slice(0, first), ...words.slice(end)],
  };
}

function isTitle(word: string): boolean {
  return TITLES.has(foldName(word)) && (isClear(word) || /^(?:DiS|MA)$/.test(word));
}

/** A capital `P.` may be the initial of a given name. */
function isAddress(word: string): boolean {
  return (
    ADDRESSES.has(foldName(word)) &&
    (isClear(word) || word.toLowerCase() === 'pí') &&
    !/^P\.?$/.test(word)
  );
}

function isClear(word: string): boolean {
  return word.endsWith('.') || !ONLY_WITH_DOT.has(foldName(word));
}

function isSuffix(word: string): boolean {
  return Object.hasOwn(SUFFIXES, foldName(word)) && !/^(?:St|Star|Mlad)/.test(word);
}

/**
 * Tells if a text stands in place of a name that is not known: `neznámý nálezce`, `?`, `n/a`. False
 * for an empty text.
 */
export function isUnknownPerson(text: string): boolean {
  return (
    text.toLowerCase() === 'n/a' ||
    (/[^\s,]/.test(text) && splitNameWords(text).every((word) => UNKNOWN.has(word)))
  );
}

/**
 * Returns the key by which names of finders are compared, whatever their case, accents and order of
 * words; `anonym` for each text of {@link isUnknownPerson}.
 */
export function makeFinderKey(text: string): string {
  return isUnknownPerson(text) ? 'anonym' : makePersonKey(text);
}

/** Characters that separate people, or occur in no name. */
const NO_NAME = /[;/&+\d@!?:=<>*_"„“”()[\]]/u;
const MAX_WORDS = 6;

/**
 * Tells if a text can be the name of one person: two to six words, all capitalised or none, without
 * the digits, signs and words (`a`, `et`, `roz.`) of lists of people, families and notes.
 */
export function isNameOfOnePerson(name: string): boolean {
  const all = name.split(/[\s,]+/).filter((word) => word !== '');
  if (all.length < 2 || all.length > MAX_WORDS || NO_NAME.test(name)) return false;
  if (
    all.some((word) => /^(?:a|and|et|und|s|se|nebo|kol\.?|al\.|roz\.?|rozen[áý]|née)$/.test(word))
  )
    return false;
  const proper = all.filter((word) => !PARTICLES.has(foldName(word)));
  const lower = proper.filter((word) => /^\p{Ll}/u.test(word));
  return lower.length === 0 || lower.length === proper.length;
}

/**
 * Splits a name without a comma. Known given names at one end are the given name; else words that
 * end in `ová`, at one end, are the surname. Undefined where no end or both show the order, or the
 * rest of the name contradicts it.
 */
export function splitNameWithoutComma(name: string): PersonName | undefined {
  const all = name.split(/\s+/);
  const given = findEnd(all, isGivenName);
  const end = given ?? findEnd(all, isFeminineSurname);
  if (end === undefined) return undefined;
  const front = all.slice(0, end.at);
  const back = all.slice(end.at);
  const isGivenFirst = end.isFront === (given !== undefined);
  const givenWords = isGivenFirst ? front : back;
  const surnameWords = isGivenFirst ? back : front;
  if (surnameWords.some(isGivenName) || givenWords.some(isFeminineSurname)) return undefined;
  return { surname: surnameWords.join(' '), givenName: givenWords.join(' ') };
}

/** Finds the one end of a name whose words are of a kind; undefined for both ends and for none. */
function findEnd(
  all: readonly string[],
  isOfKind: (word: string) => boolean,
): { readonly at: number; readonly isFront: boolean } | undefined {
  const first = all.findIndex((word) => !isOfKind(word));
  const behind = all.findLastIndex((word) => !isOfKind(word)) + 1;
  const isFront = first > 0;
  const isBack = behind < all.length;
  if (first === -1 || isFront === isBack) return undefined;
  return { at: isFront ? first : behind, isFront };
}

/**
 * Tells if {@link splitNameWithoutComma} finds the given name first; false also where it cannot
 * tell.
 */
export function isGivenNameFirst(name: string): boolean {
  const split = splitNameWithoutComma(name);
  return split !== undefined && !name.startsWith(split.surname);
}

/**
 * Tells if a word is a common given name of Czechia and its neighbours, or an initial; of a
 * hyphenated word, if each part is.
 */
export function isGivenName(word: string): boolean {
  return word.split('-').every((part) => GIVEN_NAMES.has(foldName(part)) || INITIAL.test(part));
}

/** A capital, or a letter with a full stop. */
const INITIAL = /^(?:\p{Lu}|\p{L}\.)$/u;

/** Tells if a word ends in `ová` or `ova` and is no given name. */
function isFeminineSurname(word: string): boolean {
  return /ov[aá]$/i.test(word.normalize('NFC')) && !isGivenName(word);
}

// Folded words that occur beside names, or in place of one, and are no part of them.

const TITLES = new Set(
  (
    'bc bca mga mgr magistr magistra ing arch phdr paeddr pharmdr rndr rsdr mudr mvdr mddr judr thdr thlic thmgr icdr artd dr doc docent ' +
    'docentka prof profesor profesorka akad mal soch sc phd thd csc drsc dsc dis mba mpa msc llm feng ma mphil dphil plk pplk mjr npor ppor por kpt ' +
    'gen rtm prap nprap muc rev mons'
  ).split(' '),
);

const LINKS_OF_TITLES = new Set('et a mult hab'.split(' '));

const ADDRESSES = new Set('p pi pan pani sl slecna mr mrs ms miss herr frau'.split(' '));

/** Words that are titles only with a dot, since they are parts of names as well. */
const ONLY_WITH_DOT = new Set('por gen dis p sl pi ma mal soch sc rev prap'.split(' '));

const UNKNOWN = new Set(
  (
    'neznamy neznama nezname neznamo anonym anonymni anonymne anonymous unknown neuveden neuvedena neuvedeno neurcen neurcena neurceno ' +
    'nezjisten nezjistena nezjisteno nevime nikdo none null nil xxx xx x nalezce nalezkyne finder ' +
    'bez jmena udaje udaju'
  ).split(' '),
);

/** Particles, which names have in lower case. */
const PARTICLES = new Set(
  'z ze von van de da di du del della der den la le el al bin ibn ter ten zu zum d o'.split(' '),
);

/**
 * Given names of Czechia and its neighbours, folded: they show which word of a name is the given
 * name.
 */
const GIVEN_NAMES: ReadonlySet<string> = new Set(
  (
    'adam amos adolf alan albert albin ales alexandr alexander alfons alfred alois alojz ambroz andrej andreas anton antonin arnold arnost arpad artur ' +
    'august augustin bartolomej bedrich benedikt benjamin bernard blazej blahoslav bohdan bohumil bohumir bohuslav bohus boleslav boris borivoj ' +
    'bozetech branislav bretislav brunon bruno cenek cestmir ctibor ctirad cyril dalibor dalimil daniel darius david denis detrich dezider dimitrij ' +
    'dobromil dobroslav dominik drahomir drahoslav dusan eduard edvard egon elias emanuel emerich emil erich erik ernest ervin eugen evzen ' +
    'fabian felix ferdinand fedor filip florian frantisek franz fridrich gabriel george gejza gregor gunter gustav hans havel heinrich helmut herbert ' +
    'herman hubert hugo hynek hyacint ignac igor imrich ivan ivo izidor izak jachym jakub jan jaromir jaroslav jarmil jeronym jeremias jindrich ' +
    'jiri jilji joachim john johann jonas jonatan josef jozef julius juraj justin kajetan kamil karel karol kazimir klaus klement konrad konstantin ' +
    'kornel krystof krystian kristian kryspin kvetoslav kvido ladislav leo leon leopold leos libor lubor lubomir lubos ludek ludomir ludovit ludvik ' +
    'lukas luis lumir luther magnus marcel marcin marek marian mario marius martin matej mathias matous matyas maxim max maxmilian medard mecislav ' +
    'metodej michael michal mikolas mikulas milan milivoj miloslav milos milutin miroslav mojmir moric narcis nikola nikolas norbert oldrich ' +
    'oleg oliver olivier ondrej oskar ota otakar otmar oto otokar otto pankrac patrik pavel paul pavol peter petr philip pravoslav premek premysl ' +
    'prokop radan radek radim radko radomil radomir radovan radoslav rafael rainer rastislav ratibor ray rene richard robert robin roland roman ' +
    'rostislav ruben rudolf samuel sebastian sergej servac severin silvestr simon slavomir slavoj slavomil sobeslav stanislav stefan stepan svatopluk ' +
    'svatoslav tadeas teodor theodor thomas tibor timotej tobias tomas vaclav valdemar valentin valerian vavrinec vendelin vilem viktor vilibald ' +
    'viliam vincenc vit vitezslav vladan vladimir vladislav vladivoj vlastimil vlastislav vojtech vojmir volker walter wenzel werner wilhelm wolfgang ' +
    'xaver zbynek zbysek zbyhnev zdenek zdislav zdenko zikmund ' +
    'adela adriana agata alena alexandra alice alzbeta amalie anastazie andrea andela aneta anezka anna antonie apolena barbora beata bela berta ' +
    'blanka blazena bohdana bohumila bohuslava bozena brigita bronislava cecilie dagmar dana daniela darina dasa denisa diana dobromila dobroslava ' +
    'dominika dorota drahomira drahoslava edita ela elena eleonora eliska elsa elvira ema emilie ester eugenie eva evelina evzenie filomena frantiska ' +
    'gabriela galina gerda gertruda gisela gita gizela hana hedvika helena helga henrieta hermina hilda ida ilona ingrid irena iris irma iva ivana ' +
    'iveta ivona ivanka izabela jana jarmila jaromira jaroslava jindra jindriska jirina jitka johana jolana josefa jozefina judita julie julia juliana ' +
    'justina kamila karina karla karolina katarina katerina klara kristina kristyna kveta kvetoslava kvetuse lada ladislava laura lea lenka leona ' +
    'libuse lidmila liliana linda livia lubica lubomira lucie ludmila luisa lydie magda magdalena marcela margareta margita maria mariana ' +
    'marie marketa marta martina matylda melanie michaela michala milada milena miloslava miluse mirka miroslava monika nada nadezda natalie nela ' +
    'nikol nina nora olga olina otilie otylie pavla pavlina patricie petra petronela radana radka radmila radomira radoslava regina renata ' +
    'romana rozalie rudolfa ruzena sabina sandra sara sarka silvie simona slavena slavka sofie sona stanislava stela stepanka svatava svetlana sylva ' +
    'sylvie tamara tana tatana tekla tereza terezie uljana ursula vaclava valerie vanda vendula vendulka vera veronika vesna viera vilma viktorie ' +
    'viola vladimira vladena vlasta vlastimila vojteska xenie yvona zaneta zdena zdenka zdislava zelmira zina zita zlata zlatuse zofie zora zuzana'
  ).split(' '),
);

/** More new people are hardly those of one table, and each is compared with each. */
const MAX_COMPARED = 300;

/**
 * Groups names that may mean one person: shortened, or spelled almost alike. Each is in at most one
 * group; names that resemble no other one are in none, nor those beyond the first
 * {@link MAX_COMPARED}.
 */
export function groupSimilarNames(names: readonly string[]): string[][] {
  const groups: string[][] = [];
  for (const name of names.slice(0, MAX_COMPARED)) {
    const group = groups.find((others) => others.some((other) => isSimilar(name, other)));
    if (group === undefined) groups.push([name]);
    else group.push(name);
  }
  return groups.filter(({ length }) => length > 1);
}

function isSimilar(name: string, other: string): boolean {
  const key = makePersonKey(name);
  const limit = key.length < 12 ? 1 : 2;
  return (
    canAbbreviate(name, other) ||
    canAbbreviate(other, name) ||
    computeEditDistance(key, makePersonKey(other), limit) <= limit
  );
}
