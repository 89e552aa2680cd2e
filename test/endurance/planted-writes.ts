import { CLAUSE_OF_ELEMENT, type ClauseId } from '../conformance/clauses.ts';

/**
 * A difference that was put into the mock server: a text of its source that stands there once, and
 * in the build too, is another. `clauses` are those of the contract that it breaks: the suite must
 * name these and no others.
 */
export type Planted = {
  readonly name: string;
  /** Below mock-server. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly clauses: readonly ClauseId[];
  /** Seen only where requests are throttled. */
  readonly isOfPace?: true;
};

/** Differences of the mock's write interface. */
export const PLANTED_IN_WRITES: readonly Planted[] = [
  {
    name: 'no address of the record',
    file: 'endpoints/pas/find-answer.ts',
    from: 'location: getRecordAddress(addresses, find.ident)',
    to: `location: '/'`,
    clauses: ['A-ANSWER-1', 'A-NUMBER-7', 'A-PHOTO-8'],
  },
  {
    name: 'a digest that is not compared',
    file: 'base/digest.ts',
    from: 'digest.equals(sha512)',
    to: 'digest.length > 0',
    clauses: ['A-DIGEST-2', 'A-PHOTO-12'],
  },
  {
    name: 'an import without a digest',
    file: 'endpoints/pas/import-xml.ts',
    from: 'if (digest !== undefined)',
    to: `if (digest !== undefined && digest !== 'digest-missing')`,
    clauses: ['A-DIGEST-2'],
  },
  {
    name: 'two files in one import',
    file: 'endpoints/pas/import-xml.ts',
    from: 'parts.length > 1',
    to: 'parts.length > 9',
    clauses: ['A-WIRE-1'],
  },
  {
    name: 'another status for malformed XML',
    file: 'endpoints/pas/import-xml.ts',
    from: `makeRefusal(400, say('xml-malformed'))`,
    to: `makeRefusal(422, say('xml-malformed'))`,
    clauses: ['A-IMPORT-11'],
  },
  {
    name: 'another status for an empty root',
    file: 'rules/find-document.ts',
    from: `makeRefusal(400, say('root-empty'))`,
    to: `makeRefusal(422, say('root-empty'))`,
    clauses: ['A-IMPORT-11'],
  },
  {
    name: 'a schema location that is not read',
    file: 'rules/find-document.ts',
    from: 'declared !== xsd',
    to: 'declared === undefined',
    clauses: ['A-IMPORT-14'],
  },
  {
    name: 'finds that are archived at once',
    file: 'rules/find-document.ts',
    from: 'stav !== 3)',
    to: 'stav !== 3 && stav !== 4)',
    clauses: ['A-STATE-5'],
  },
  {
    name: 'Researchers who submit',
    file: 'endpoints/pas/import-xml.ts',
    from: 'find.stav > 1 && !isAtLeast',
    to: 'find.stav > 2 && !isAtLeast',
    clauses: ['A-PROJECT-2'],
  },
  {
    name: 'projects of others',
    file: 'endpoints/pas/import-xml.ts',
    from: '!mayImportInto(mock, account, project)',
    to: '!mayImportInto(mock, account, project) && project.deleted',
    clauses: ['A-PROJECT-1'],
  },
  {
    name: 'another status for an unknown project',
    file: 'endpoints/pas/import-xml.ts',
    from: `makeRefusal(404, say('project-unknown'`,
    to: `makeRefusal(422, say('project-unknown'`,
    clauses: ['A-IMPORT-13'],
  },
  {
    name: 'entries of any vocabulary',
    file: 'rules/references.ts',
    from: `entry?.setSpec === \`heslo:\${vocabulary}\``,
    to: 'entry !== undefined',
    clauses: [
      CLAUSE_OF_ELEMENT.okolnosti,
      CLAUSE_OF_ELEMENT.obdobi,
      CLAUSE_OF_ELEMENT.druh_nalezu,
      CLAUSE_OF_ELEMENT.specifikace,
      CLAUSE_OF_ELEMENT.pristupnost,
    ],
  },
  ...(['hloubka', 'lokalizace', 'nalezce'] as const).map(
    (name): Planted => ({
      name: `state 2 without ${name}`,
      file: 'endpoints/pas/import-xml.ts',
      from: `['${name}', find.${name}],`,
      to: '',
      clauses: [CLAUSE_OF_ELEMENT[name]],
    }),
  ),
  {
    name: 'state 3 without a handover',
    file: 'endpoints/pas/import-xml.ts',
    from: 'find.predano ?',
    to: 'find.stav === 3 ?',
    clauses: [CLAUSE_OF_ELEMENT.predano],
  },
  {
    name: 'state 3 without a number',
    file: 'endpoints/pas/import-xml.ts',
    from: 'evidencni_cislo: find.evidencni_cislo,',
    to: '',
    clauses: [CLAUSE_OF_ELEMENT.evidencni_cislo],
  },
  {
    name: 'state 2 that needs a handover',
    file: 'endpoints/pas/import-xml.ts',
    from: 'if (find.stav !== 3)',
    to: 'if (find.stav === 1)',
    clauses: [CLAUSE_OF_ELEMENT.predano],
  },
  {
    name: 'coarse coordinates',
    file: 'state/records/geometry.ts',
    from: '[a.toFixed(places), b.toFixed(places)]',
    to: '[a.toFixed(1), b.toFixed(1)]',
    clauses: [CLAUSE_OF_ELEMENT.geom_sjtsk_wkt],
  },
  {
    name: 'points outside of the country',
    file: 'endpoints/pas/import-xml.ts',
    from: 'find.geometry !== undefined && placement === undefined',
    to: 'find.geometry === null && placement === undefined',
    clauses: ['A-IMPORT-14'],
  },
  {
    name: 'an EPSG code that is not read',
    file: 'rules/find-document.ts',
    from: 'if (!deployed && Number(',
    to: 'if (deployed && Number(',
    clauses: [CLAUSE_OF_ELEMENT.geom_wkt, CLAUSE_OF_ELEMENT.geom_sjtsk_wkt],
  },
  {
    name: 'identifiers that a client chooses',
    file: 'rules/find-document.ts',
    from: `![':tba', undefined].includes(getTextOf(ident))`,
    to: `getTextOf(ident) === ':tbd'`,
    clauses: [CLAUSE_OF_ELEMENT.ident_cely],
  },
  {
    name: 'a finder without a given name',
    file: 'rules/find-document.ts',
    from: ` || givenName === ''`,
    to: '',
    clauses: [CLAUSE_OF_ELEMENT.nalezce],
  },
  {
    name: 'a finder who is made anew with each find',
    file: 'rules/references.ts',
    from: 'existing !== undefined)',
    to: 'existing === null)',
    clauses: [CLAUSE_OF_ELEMENT.nalezce],
  },
  {
    name: 'a history of the last step alone',
    file: 'endpoints/pas/save-find.ts',
    from: '.slice(0, find.stav)',
    to: '.slice(find.stav - 1, find.stav)',
    clauses: ['A-HISTORY-1'],
  },
  {
    name: 'a number without its inner blanks',
    file: 'endpoints/pas/registration-number.ts',
    from: 'trimText(rawValue)',
    to: `trimText(rawValue).replace(/\\s+/g, ' ')`,
    clauses: ['A-NUMBER-2'],
  },
  {
    name: 'a number of 250 characters at most',
    file: 'endpoints/pas/registration-number.ts',
    from: 'MAX_CHARACTERS = 255',
    to: 'MAX_CHARACTERS = 250',
    clauses: ['A-NUMBER-6'],
  },
  {
    name: 'a number that is set twice',
    file: 'endpoints/pas/registration-number.ts',
    from: `getText(find.body['evidencni_cislo']) === value`,
    to: `value === ''`,
    clauses: ['A-NUMBER-15'],
  },
  {
    name: 'another status for no number',
    file: 'endpoints/pas/registration-number.ts',
    from: `makeRefusal(400, say('number-missing'))`,
    to: `makeRefusal(422, say('number-missing'))`,
    clauses: ['A-NUMBER-8'],
  },
  {
    name: 'Researchers who set numbers',
    file: 'rules/permission.ts',
    from: `return isAtLeast(account, 'archaeologist') && isOwn`,
    to: 'return isOwn',
    clauses: ['A-NUMBER-4'],
  },
  {
    name: 'a number that replaces the note',
    file: 'endpoints/pas/registration-number.ts',
    from: 'evidencni_cislo: value,',
    to: 'evidencni_cislo: value, poznamka: value,',
    clauses: ['A-NUMBER-3'],
  },
  {
    name: 'a number that opens a confirmed find',
    file: 'endpoints/pas/registration-number.ts',
    from: 'evidencni_cislo: value,',
    to: `evidencni_cislo: value, stav: find.stav === 3 ? '2' : String(find.stav),`,
    clauses: ['A-STATE-7', 'A-NUMBER-3'],
  },
  {
    name: 'another status for the digest of a photograph',
    file: 'endpoints/pas/photograph.ts',
    from: `digest === 'digest-mismatch' ? 422 : 400`,
    to: '400',
    clauses: ['A-DIGEST-2', 'A-PHOTO-12'],
  },
  {
    name: 'two photographs at once',
    file: 'endpoints/pas/photograph.ts',
    from: 'parts.length > 1)',
    to: 'parts.length > 9)',
    clauses: ['A-WIRE-1'],
  },
  {
    name: 'one name for all photographs',
    file: 'endpoints/pas/save-photograph.ts',
    from: 'Math.max(0, ...numbers) + 1',
    to: 'Math.min(1, numbers.length + 1)',
    clauses: ['A-PHOTO-16'],
  },
  {
    name: 'another status for what is no photograph',
    file: 'endpoints/pas/photograph.ts',
    from: `makeRefusal(422, say('photo-type', kind.type))`,
    to: `makeRefusal(415, say('photo-type', kind.type))`,
    clauses: ['A-PHOTO-2'],
  },
  {
    name: 'another status for a photograph of no find',
    file: 'endpoints/pas/photograph.ts',
    from: `makeRefusal(404, say('find-unknown', ident))`,
    to: `makeRefusal(400, say('find-unknown', ident))`,
    clauses: ['A-PHOTO-11'],
  },
  {
    name: 'Researchers who attach to anybody’s find',
    file: 'rules/permission.ts',
    from: 'find.creator === account.user && find.stav === 1',
    to: 'find.stav === 1',
    clauses: ['A-PHOTO-3'],
  },
  {
    name: 'another status without a token',
    file: 'rules/preconditions.ts',
    from: 'new HttpError(makeDetailAnswer(401, text',
    to: 'new HttpError(makeDetailAnswer(400, text',
    clauses: ['A-AUTH-1', 'A-IMPORT-12', 'A-NUMBER-9', 'A-PHOTO-10', 'A-USER-1'],
  },
  {
    name: 'errors of a kind that there is not',
    file: 'endpoints/pas/import-xml.ts',
    from: '...error, error_type: 2 }',
    to: '...error, error_type: 7 }',
    clauses: ['A-ERROR-1'],
  },
  {
    name: 'the user as plain text',
    file: 'endpoints/pas/token-auth.ts',
    from: `'application/xml; charset=utf-8'`,
    to: `'text/plain; charset=utf-8'`,
    clauses: ['A-USER-1'],
  },
  {
    name: 'no throttle',
    file: 'state/throttle.ts',
    from: 'intervalMs === 0',
    to: 'intervalMs >= 0',
    clauses: ['A-RATE-1'],
    isOfPace: true,
  },
  {
    name: 'a throttle for half a second',
    file: 'state/throttle.ts',
    from: 'Number.NEGATIVE_INFINITY) + intervalMs;',
    to: 'Number.NEGATIVE_INFINITY) + 5 * intervalMs;',
    clauses: ['A-RATE-3'],
    isOfPace: true,
  },
  {
    name: 'a pause in words',
    file: 'rules/preconditions.ts',
    from: `'retry-after': String(retryAfterSeconds)`,
    to: `'retry-after': 'soon'`,
    clauses: ['A-RATE-5'],
    isOfPace: true,
  },
];
