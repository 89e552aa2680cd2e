import type { ClauseName } from '../conformance/clauses.ts';

/**
 * A difference that was put into the mock server: a text of its source that stands there once, and in the build too, is another.
 * `clauses` are those of the contract that it breaks: the suite must name these and no others.
 */
export type Planted = {
  readonly name: string;
  /** Below mock-server. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly clauses: readonly ClauseName[];
  /** Seen only where requests are throttled. */
  readonly isOfPace?: true;
};

const field = <Name extends string>(name: Name) => `Resources, Find import document: ${name}` as const;

/** Differences of the mock's write interface. */
export const PLANTED_IN_WRITES: readonly Planted[] = [
  {
    name: 'no address of the record',
    file: 'pas/find-answer.ts',
    from: 'location: recordAddressOf(mock.addresses, find.ident)',
    to: `location: '/'`,
    clauses: ['Endpoints, Interface A: success', 'Errors, registration number: 200', 'Errors, photograph: 201'],
  },
  {
    name: 'a digest that is not compared',
    file: 'digest.ts',
    from: 'digest.equals(sha512)',
    to: 'digest.length > 0',
    clauses: ['Endpoints, File integrity header', 'Errors, photograph: 422'],
  },
  {
    name: 'an import without a digest',
    file: 'pas/import-xml.ts',
    from: 'if (digest !== undefined)',
    to: `if (digest !== undefined && digest !== 'digest-missing')`,
    clauses: ['Endpoints, File integrity header'],
  },
  {
    name: 'two files in one import',
    file: 'pas/import-xml.ts',
    from: 'parts.length > 1',
    to: 'parts.length > 9',
    clauses: ['Limits: files per request'],
  },
  {
    name: 'another status for malformed XML',
    file: 'pas/import-xml.ts',
    from: `refusal(400, say('xml-malformed'))`,
    to: `refusal(422, say('xml-malformed'))`,
    clauses: ['Errors, import: 400'],
  },
  {
    name: 'another status for an empty root',
    file: 'pas/find-document.ts',
    from: `refusal(400, say('root-empty'))`,
    to: `refusal(422, say('root-empty'))`,
    clauses: ['Errors, import: 400'],
  },
  {
    name: 'a schema location that is not read',
    file: 'pas/declaration.ts',
    from: 'declared !== xsd',
    to: 'declared === undefined',
    clauses: ['Errors, import: 422'],
  },
  {
    name: 'finds that are archived at once',
    file: 'pas/find-document.ts',
    from: 'stav !== 3)',
    to: 'stav !== 3 && stav !== 4)',
    clauses: ['States and transitions, 1'],
  },
  {
    name: 'Researchers who submit',
    file: 'pas/import-xml.ts',
    from: 'find.stav > 1 && !isAtLeast',
    to: 'find.stav > 2 && !isAtLeast',
    clauses: ['Authentication, Interface A, 4'],
  },
  {
    name: 'projects of others',
    file: 'pas/import-xml.ts',
    from: '!mayImportInto(mock, account, project)',
    to: '!mayImportInto(mock, account, project) && project.deleted',
    clauses: ['Authentication, Interface A, 3'],
  },
  {
    name: 'another status for an unknown project',
    file: 'pas/import-xml.ts',
    from: `refusal(404, say('project-unknown'`,
    to: `refusal(422, say('project-unknown'`,
    clauses: ['Errors, import: 404'],
  },
  {
    name: 'entries of any vocabulary',
    file: 'pas/references.ts',
    from: `entry?.setSpec === \`heslo:\${vocabulary}\``,
    to: 'entry !== undefined',
    clauses: [field('okolnosti'), field('obdobi'), field('druh_nalezu'), field('specifikace'), field('pristupnost')],
  },
  ...(['hloubka', 'lokalizace', 'nalezce'] as const).map(
    (name): Planted => ({
      name: `state 2 without ${name}`,
      file: 'pas/state-rules.ts',
      from: `['${name}', find.${name}],`,
      to: '',
      clauses: [field(name)],
    }),
  ),
  {
    name: 'state 3 without a handover',
    file: 'pas/state-rules.ts',
    from: 'find.predano ?',
    to: 'find.stav === 3 ?',
    clauses: [field('predano')],
  },
  {
    name: 'state 3 without a number',
    file: 'pas/state-rules.ts',
    from: '{ evidencni_cislo: find.evidencni_cislo, ',
    to: '{ ',
    clauses: [field('evidencni_cislo')],
  },
  {
    name: 'state 2 that needs a handover',
    file: 'pas/state-rules.ts',
    from: 'if (find.stav !== 3)',
    to: 'if (find.stav === 1)',
    clauses: [field('predano')],
  },
  {
    name: 'coarse coordinates',
    file: 'pas/geometry.ts',
    from: 'inPlaces(7,',
    to: 'inPlaces(1,',
    clauses: [field('geom_sjtsk_wkt')],
  },
  {
    name: 'points outside of the country',
    file: 'pas/state-rules.ts',
    from: 'find.geometry !== undefined && placement === undefined',
    to: 'find.geometry === null && placement === undefined',
    clauses: ['Errors, import: 422'],
  },
  {
    name: 'an EPSG code that is not read',
    file: 'pas/find-document.ts',
    from: 'if (!deployed && Number(',
    to: 'if (deployed && Number(',
    clauses: [field('geom_wkt'), field('geom_sjtsk_wkt')],
  },
  {
    name: 'identifiers that a client chooses',
    file: 'pas/find-document.ts',
    from: `![':tba', undefined].includes(textIn(ident))`,
    to: `textIn(ident) === ':tbd'`,
    clauses: [field('ident_cely')],
  },
  {
    name: 'a finder without a given name',
    file: 'pas/find-document.ts',
    from: ` || givenName === ''`,
    to: '',
    clauses: [field('nalezce')],
  },
  {
    name: 'a finder who is made anew with each find',
    file: 'pas/references.ts',
    from: 'existing !== undefined)',
    to: 'existing === null)',
    clauses: [field('nalezce')],
  },
  {
    name: 'a history of the last step alone',
    file: 'pas/save-find.ts',
    from: '.slice(0, find.stav)',
    to: '.slice(find.stav - 1, find.stav)',
    clauses: ['Events, 2'],
  },
  {
    name: 'a number without its inner blanks',
    file: 'pas/registration-number.ts',
    from: 'given.trim()',
    to: `given.trim().replace(/\\s+/g, ' ')`,
    clauses: ['Endpoints, PATCH evidencni-cislo, 2'],
  },
  {
    name: 'a number of 250 characters at most',
    file: 'pas/registration-number.ts',
    from: 'MOST_CHARACTERS = 255',
    to: 'MOST_CHARACTERS = 250',
    clauses: ['Limits: registration number'],
  },
  {
    name: 'a number that is set twice',
    file: 'pas/registration-number.ts',
    from: `textOf(find.body['evidencni_cislo']) === value`,
    to: `value === ''`,
    clauses: ['Errors, rule 2: registration number'],
  },
  {
    name: 'another status for no number',
    file: 'pas/registration-number.ts',
    from: `refusal(400, say('number-missing'))`,
    to: `refusal(422, say('number-missing'))`,
    clauses: ['Errors, registration number: 400'],
  },
  {
    name: 'Researchers who set numbers',
    file: 'pas/permission.ts',
    from: `return isAtLeast(account, 'archaeologist') && isOwn`,
    to: 'return isOwn',
    clauses: ['Endpoints, PATCH evidencni-cislo, 4'],
  },
  {
    name: 'a number that replaces the note',
    file: 'pas/registration-number.ts',
    from: 'evidencni_cislo: value, historie',
    to: 'evidencni_cislo: value, poznamka: value, historie',
    clauses: ['Endpoints, PATCH evidencni-cislo, 3'],
  },
  {
    name: 'a number that opens a confirmed find',
    file: 'pas/registration-number.ts',
    from: 'evidencni_cislo: value, historie',
    to: `evidencni_cislo: value, stav: find.stav === 3 ? '2' : String(find.stav), historie`,
    clauses: ['States and transitions, 3', 'Endpoints, PATCH evidencni-cislo, 3'],
  },
  {
    name: 'another status for the digest of a photograph',
    file: 'pas/photograph.ts',
    from: `digest === 'digest-mismatch' ? 422 : 400`,
    to: '400',
    clauses: ['Endpoints, File integrity header', 'Errors, photograph: 422'],
  },
  {
    name: 'two photographs at once',
    file: 'pas/photograph.ts',
    from: 'parts.length > 1)',
    to: 'parts.length > 9)',
    clauses: ['Limits: files per request'],
  },
  {
    name: 'one name for all photographs',
    file: 'pas/save-photograph.ts',
    from: 'Math.max(0, ...numbers) + 1',
    to: 'Math.min(1, numbers.length + 1)',
    clauses: ['Errors, rule 2: photograph'],
  },
  {
    name: 'another status for what is no photograph',
    file: 'pas/photograph.ts',
    from: `refusal(422, say('photo-type', found.type))`,
    to: `refusal(415, say('photo-type', found.type))`,
    clauses: ['Endpoints, POST upload-foto, 2'],
  },
  {
    name: 'another status for a photograph of no find',
    file: 'pas/photograph.ts',
    from: `refusal(404, say('find-unknown', ident))`,
    to: `refusal(400, say('find-unknown', ident))`,
    clauses: ['Errors, photograph: 404'],
  },
  {
    name: 'Researchers who attach to anybody’s find',
    file: 'pas/permission.ts',
    from: 'find.creator === account.user && find.stav === 1',
    to: 'find.stav === 1',
    clauses: ['Endpoints, POST upload-foto, 3'],
  },
  {
    name: 'another status without a token',
    file: 'gate.ts',
    from: 'new AnswerNow(detail(401, text',
    to: 'new AnswerNow(detail(400, text',
    clauses: [
      'Authentication, Interface A, 1',
      'Errors, import: 401, 403',
      'Errors, registration number: 401, 403',
      'Errors, photograph: 401, 403',
      'Endpoints, Interface A: uzivatel-info',
    ],
  },
  {
    name: 'errors of a kind that there is not',
    file: 'pas/import-xml.ts',
    from: '...error, error_type: 2 }',
    to: '...error, error_type: 7 }',
    clauses: ['Errors, Interface A'],
  },
  {
    name: 'the user as plain text',
    file: 'pas/user-info.ts',
    from: `'application/xml; charset=utf-8'`,
    to: `'text/plain; charset=utf-8'`,
    clauses: ['Endpoints, Interface A: uzivatel-info'],
  },
  {
    name: 'no throttle',
    file: 'throttle.ts',
    from: 'intervalMs === 0',
    to: 'intervalMs >= 0',
    clauses: ['Limits: minimum interval'],
    isOfPace: true,
  },
  {
    name: 'a throttle for half a second',
    file: 'throttle.ts',
    from: 'last + intervalMs - atMs',
    to: 'last + 5 * intervalMs - atMs',
    clauses: ['Limits, 1'],
    isOfPace: true,
  },
  {
    name: 'a pause in words',
    file: 'gate.ts',
    from: `{ 'retry-after': String(retryAfterSeconds) }`,
    to: `{ 'retry-after': 'soon' }`,
    clauses: ['Errors, rule 3'],
    isOfPace: true,
  },
];
