/**
 * Messages of the mock in Czech and English; `{0}` and `{1}` are filled in. No client may branch on
 * them.
 */
const MESSAGES = {
  closed: ['Rozhraní je dočasně uzavřeno.', 'The interface is temporarily closed.'],
  'not-acceptable': [
    'Požadavku na formát odpovědi (Accept) nelze vyhovět.',
    'The requested answer format (Accept) cannot be served.',
  ],
  'token-missing': [
    'Nebyly zadány přihlašovací údaje.',
    'Authentication credentials were not provided.',
  ],
  'token-unknown': ['Neplatný token.', 'Invalid token.'],
  'token-expired': ['Platnost tokenu vypršela.', 'The token has expired.'],
  'account-inactive': ['Uživatel je neaktivní nebo smazaný.', 'The user is inactive or deleted.'],
  'address-refused': [
    'Přístup z této adresy není povolen.',
    'Access from this address is not allowed.',
  ],
  'user-refused': ['Přístup tohoto účtu není povolen.', 'Access of this account is not allowed.'],
  'no-whitelist': [
    'Přístup je omezen a žádný seznam povolených není nastaven.',
    'Access is restricted and no allow list is set.',
  ],
  throttled: [
    'Požadavek byl omezen, limit bude obnoven za {0} s.',
    'The request was throttled. It is expected to be available in {0} second(s).',
  ],
  'throttled-always': ['Požadavek byl omezen.', 'The request was throttled.'],
  'method-not-allowed': ['Metoda „{0}“ není povolena.', 'Method "{0}" is not allowed.'],
  'media-type': [
    'Nepodporovaný typ média „{0}“ v požadavku.',
    'Unsupported media type "{0}" in the request.',
  ],
  'multipart-malformed': ['Chyba při čtení multipart dat.', 'The multipart body cannot be read.'],
  'not-found': ['Nenalezeno.', 'Not found.'],
  'file-missing': ['Chybí soubor v poli „file“.', 'The field "file" holds no file.'],
  'file-many': ['Lze poslat právě jeden soubor.', 'Exactly one file may be sent.'],
  'digest-missing': ['Chybí hlavička Content-Digest.', 'The header Content-Digest is missing.'],
  'digest-malformed': [
    'Hlavička Content-Digest nemá tvar sha-512=:<base64>:.',
    'The header Content-Digest is not of the form sha-512=:<base64>:.',
  ],
  'digest-base64': [
    'Hodnota Content-Digest není platné Base64.',
    'The value of Content-Digest is no valid Base64.',
  ],
  'digest-mismatch': [
    'Content-Digest neodpovídá obsahu souboru.',
    'Content-Digest does not match the bytes of the file.',
  ],
  'xml-malformed': ['Soubor není správně utvořené XML.', 'The file is no well-formed XML.'],
  'schema-prefix': [
    'Kořenový element nemá předponu {0} svázanou s podporovaným jmenným prostorem {1}.',
    'The root does not bind the prefix {0} to the supported namespace {1}.',
  ],
  'schema-location-missing': ['Chybí xsi:schemaLocation.', 'xsi:schemaLocation is missing.'],
  'schema-location-odd': [
    'xsi:schemaLocation nemá sudý počet položek.',
    'xsi:schemaLocation has an odd number of entries.',
  ],
  'schema-location-wrong': [
    'xsi:schemaLocation neuvádí {0}.',
    'xsi:schemaLocation does not name {0}.',
  ],
  'schema-version': ['Verze schématu {0} není povolena.', 'Schema version {0} is not allowed.'],
  'schema-unreachable': ['Schéma {0} nelze načíst.', 'The schema {0} cannot be loaded.'],
  'root-empty': ['Kořenový element je prázdný.', 'The root element is empty.'],
  'root-many': [
    'Dokument obsahuje více než jeden nález.',
    'The document holds more than one find.',
  ],
  'root-content': [
    'Kořenový element musí obsahovat právě jeden samostatny_nalez a nic jiného.',
    'The root must hold exactly one samostatny_nalez and nothing else.',
  ],
  'finder-text': [
    'nový nálezce musí být zapsán jako „Příjmení, Jméno“',
    'a new finder must be written as "Surname, Given name"',
  ],
  'project-empty': ['atribut id nesmí být prázdný', 'the attribute id must not be empty'],
  'ident-not-tba': ['hodnota musí být „:tba“', 'the value must be ":tba"'],
  'state-range': ['povolené stavy jsou 1, 2 a 3', 'allowed states are 1, 2 and 3'],
  'geom-system': ['povolené hodnoty jsou 4326 a 5514', 'allowed values are 4326 and 5514'],
  'wkt-epsg': ['atribut EPSG musí být {0}', 'the attribute EPSG must be {0}'],
  'wkt-syntax': ['geometrie není platný bod WKT', 'the geometry is no valid WKT point'],
  'wkt-range': [
    'souřadnice jsou mimo převoditelný rozsah',
    'the coordinates are outside the convertible range',
  ],
  'project-unknown': ['Projekt {0} neexistuje.', 'The project {0} does not exist.'],
  'project-refused': [
    'K projektu {0} nemáte potřebná oprávnění.',
    'You do not have the necessary permission for the project {0}.',
  ],
  'state-refused': [
    'Vaše role smí zakládat nálezy jen ve stavu 1.',
    'Your role may create finds in state 1 only.',
  ],
  'person-unknown': ['osoba {0} neexistuje', 'the person {0} does not exist'],
  'entry-unknown': [
    'heslo {0} neexistuje nebo nepatří do hesláře {1}',
    'the entry {0} does not exist or is not of the vocabulary {1}',
  ],
  'organisation-unknown': ['organizace {0} neexistuje', 'the organisation {0} does not exist'],
  'depth-range': ['hloubka musí být 0 až 2147483647', 'the depth must be 0 to 2147483647'],
  'date-form': ['datum musí mít tvar RRRR-MM-DD', 'the date must have the form YYYY-MM-DD'],
  'geometry-required': [
    'pro stav {0} je geometrie povinná',
    'the geometry is required for state {0}',
  ],
  'state-3-missing': ['pro stav 3 chybí: {0}', 'missing for state 3: {0}'],
  'handover-required': [
    'pro stav 3 musí být nález předán',
    'for state 3 the find must be handed over',
  ],
  'outside-areas': [
    'bod neleží v žádném katastrálním území',
    'the point lies in no cadastral area',
  ],
  incomplete: ['chybí {0}', 'missing {0}'],
  collision: [
    'Záznam se stejným jedinečným klíčem již existuje.',
    'A record with the same unique key exists already.',
  ],
  'storage-failed': ['Záznam se nepodařilo uložit.', 'The record could not be saved.'],
  'read-back-failed': [
    'Záznam byl uložen, ale jeho XML nelze načíst.',
    'The record was saved, but its XML could not be read back.',
  ],
  'numbers-exhausted': [
    'Projekt {0} již má nález číslo 99999.',
    'The project {0} already has find number 99999.',
  ],
  'find-unknown': ['Nález {0} neexistuje.', 'The find {0} does not exist.'],
  'find-refused': [
    'K nálezu {0} nemáte potřebná oprávnění.',
    'You do not have the necessary permission for the find {0}.',
  ],
  'number-missing': [
    'Chybí parametr evidencni_cislo.',
    'The parameter evidencni_cislo is missing.',
  ],
  'number-empty': [
    'Evidenční číslo nesmí být prázdné.',
    'The registration number must not be empty.',
  ],
  'number-long': [
    'Evidenční číslo má více než 255 znaků.',
    'The registration number has more than 255 characters.',
  ],
  'number-same': [
    'Evidenční číslo se shoduje se současnou hodnotou.',
    'The registration number equals the current value.',
  ],
  'number-label': ['Evidenční číslo', 'Registration number'],
  'record-locked': [
    'Záznam právě zpracovává jiný požadavek.',
    'The record is being processed by another request.',
  ],
  'photo-large': ['Soubor je větší než {0} bajtů.', 'The file is larger than {0} bytes.'],
  'photo-encrypted': ['Soubor je chráněn heslem.', 'The file is protected by a password.'],
  'photo-type': ['Nepodporovaný typ souboru {0}.', 'Unsupported file type {0}.'],
  'photo-unrecognised': ['Typ souboru nelze určit.', 'The type of the file cannot be told.'],
  virus: ['Soubor obsahuje škodlivý kód.', 'The file holds malicious code.'],
  'antivirus-down': [
    'Antivirovou kontrolu se nepodařilo provést.',
    'The antivirus check could not be completed.',
  ],
  'photo-names': ['Nález {0} již má fotografii F99.', 'The find {0} already has a photograph F99.'],
  'photo-name': ['Jméno souboru „{0}“ není povoleno.', 'The file name "{0}" is not allowed.'],
  'imported-note': [
    'Záznam byl importován z externího zdroje.',
    'The record was imported from an external source.',
  ],
  'bad-credentials': [
    'Zadanými údaji se nelze přihlásit.',
    'Unable to log in with the provided credentials.',
  ],
  'field-required': ['Toto pole je vyžadováno.', 'This field is required.'],
  'fault-other': ['Odpověděl někdo jiný.', 'Something else answered.'],
  'fault-failed': ['Vnitřní zpracování selhalo.', 'The internal processing failed.'],
  'fault-closed': ['Rozhraní je uzavřeno.', 'The interface is closed.'],
  'fault-throttled': ['Požadavek byl omezen.', 'The request was throttled.'],
  'body-malformed': ['Tělo požadavku nelze přečíst.', 'The body of the request cannot be read.'],
} as const satisfies Record<string, readonly [string, string]>;

/** Texts of histories and faults, which belong to no refusal. */
const NOTES: ReadonlySet<string> = new Set<MessageKey>([
  'imported-note',
  'number-label',
  'fault-other',
  'fault-failed',
  'fault-closed',
  'fault-throttled',
]);

/** Name of a wording. For a refusal it is the rule that the journal and assertions know. */
export type MessageKey = keyof typeof MESSAGES;
type Listener = {
  readonly headers: { readonly 'accept-language'?: string | undefined };
  readonly reported: string[];
};
/** Puts a message into words; `values` replace `{0}`, `{1}` and so on in it. */
export type Say = (key: MessageKey, ...values: string[]) => string;

/** Tells if there is a rule of this name that refuses requests. */
export function isRefusal(key: string): boolean {
  return Object.hasOwn(MESSAGES, key) && !NOTES.has(key);
}

/**
 * Makes the wording: Czech unless the client prefers English. It varies with the seed number, as
 * the contract promises none.
 * @param request `told` gets the rule of each refusal
 */
export function createWording(request: Listener, seedNumber: number): Say {
  const language = isEnglishPreferred(request.headers['accept-language']) ? 1 : 0;
  return (key, ...values) => {
    if (!NOTES.has(key)) request.reported.push(key);
    const text = MESSAGES[key][language].replace(
      /\{(\d)\}/g,
      (_, index: string) => values[Number(index)] ?? '',
    );
    return reword(text, seedNumber);
  };
}

function isEnglishPreferred(acceptLanguage: string | undefined): boolean {
  const ranked = (acceptLanguage ?? '')
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.trim().toLowerCase().split(';');
      const quality = parameters
        .map((parameter) => /^\s*q=([\d.]+)/.exec(parameter)?.[1])
        .find((choice) => choice !== undefined);
      return { language: tag.slice(0, 2), quality: Number(quality ?? 1) };
    })
    .filter(({ language, quality }) => (language === 'cs' || language === 'en') && quality > 0)
    .sort((a, b) => b.quality - a.quality);
  return ranked[0]?.language === 'en';
}

function reword(text: string, seedNumber: number): string {
  if (seedNumber === 0) return text;
  return seedNumber % 2 === 0
    ? `${text} (${seedNumber.toString(36)})`
    : `${seedNumber.toString(36)}: ${text}`;
}
