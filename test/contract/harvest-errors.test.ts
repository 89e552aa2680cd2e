import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { useTestMock } from '../support/start-mock.ts';
import { ask, parseError } from './raw-harvest.ts';
import { answerValidator, faults, SCHEMA_BASE } from './schema-validators.ts';

// OAI-PMH 2.0, section 3.6: every condition under which an answer is an error. noSetHierarchy and
// noMetadataFormats cannot arise here: there are sets, and every record is disseminated in both
// formats.

const mock = await useTestMock();

const KNOWN = (): string => `${mock.server.oai_base}/id/HES-000253`;
const LIST = 'verb=ListRecords&metadataPrefix=oai_dc';

const BAD_VERB: ReadonlyArray<readonly [title: string, query: string]> = [
  ['the verb is empty', 'verb='],
  ['the verb is unknown', 'verb=ListAll'],
  ['the verb is repeated', 'verb=Identify&verb=Identify'],
];

const BAD_ARGUMENT: ReadonlyArray<readonly [title: string, query: string]> = [
  ['Identify has an argument', 'verb=Identify&set=heslo'],
  ['ListSets has an argument', 'verb=ListSets&metadataPrefix=oai_dc'],
  ['ListMetadataFormats has an unknown argument', 'verb=ListMetadataFormats&set=heslo'],
  ['GetRecord has no metadataPrefix', 'verb=GetRecord&identifier=x'],
  ['GetRecord has a set', 'verb=GetRecord&metadataPrefix=oai_dc&identifier=x&set=heslo'],
  ['ListIdentifiers has no metadataPrefix', 'verb=ListIdentifiers&set=heslo'],
  ['an argument is misspelled', `${LIST}&Set=heslo`],
  ['an argument is repeated', `${LIST}&set=heslo&set=heslo`],
  ['an argument is empty', `${LIST}&set=`],
  ['the token has company', 'verb=ListRecords&resumptionToken=x&metadataPrefix=oai_dc'],
  ['the token is empty', 'verb=ListRecords&resumptionToken='],
  ['the prefix could be none', 'verb=ListRecords&metadataPrefix=oai%20dc'],
  ['the set could be none', `${LIST}&set=heslo%3A%3Aobdobi`],
  ['from is no date', `${LIST}&from=yesterday`],
  ['from is a year only', `${LIST}&from=2024`],
  ['until does not exist in the calendar', `${LIST}&until=2024-02-30`],
  ['from has milliseconds, against the granularity', `${LIST}&from=2024-05-01T00:00:00.000Z`],
  ['from has no zone', `${LIST}&from=2024-05-01T00:00:00`],
  ['from has an offset', `${LIST}&from=2024-05-01T00:00:00%2B02:00`],
  ['from and until differ in granularity', `${LIST}&from=2024-05-01&until=2024-05-02T00:00:00Z`],
  ['from is later than until', `${LIST}&from=2024-05-02&until=2024-05-01`],
  ['from is in a year that no schema knows', `${LIST}&from=0000-01-01`],
  [
    'until is in such a year, and the format is unknown too',
    'verb=ListRecords&metadataPrefix=marc21&until=0000-12-31',
  ],
  ['the set holds a bare percent sign', `${LIST}&set=hesl%`],
  [
    'the identifier of a record holds a bare percent sign',
    'verb=GetRecord&metadataPrefix=oai_dc&identifier=100%',
  ],
  [
    'the identifier holds one, and the format is unknown too',
    'verb=GetRecord&metadataPrefix=marc21&identifier=%25zz',
  ],
  [
    'the identifier of the formats holds a bare percent sign',
    'verb=ListMetadataFormats&identifier=%',
  ],
  ['the identifier has two fragments', 'verb=ListMetadataFormats&identifier=a%23b%23c'],
];

describe('badVerb, when', () => {
  test.each(BAD_VERB)('%s', async (_title, query) => {
    const { status, text } = await ask(mock, query);
    expect([status, parseError(text)]).toEqual([200, 'badVerb']);
    expect(text).toContain(`<request>${mock.server.oai_base}/2.2/oai</request>`);
  });
});

describe('badArgument, when', () => {
  test.each(BAD_ARGUMENT)('%s', async (_title, query) => {
    const { status, text } = await ask(mock, query);
    expect([status, parseError(text)]).toEqual([200, 'badArgument']);
    expect(text).toContain(`<request>${mock.server.oai_base}/2.2/oai</request>`);
  });
});

describe('cannotDisseminateFormat, when the format is not one of the two', () => {
  test.each([
    ['ListIdentifiers', 'verb=ListIdentifiers&metadataPrefix=OAI_DC'],
    ['GetRecord', 'verb=GetRecord&metadataPrefix=oai_rdf&identifier=x'],
  ])('%s', async (_verb, query) => {
    const { text } = await ask(mock, query);
    expect(parseError(text)).toBe('cannotDisseminateFormat');
    expect(text).toMatch(/<request verb="/);
  });
});

describe('idDoesNotExist, when', () => {
  const cases: ReadonlyArray<readonly [title: string, identifier: () => string]> = [
    ['the identifier has no address before it', () => 'HES-000253'],
    ['the address before it is another', () => 'https://elsewhere.example/id/HES-000253'],
    ['nothing follows the address', () => `${mock.server.oai_base}/id/`],
    ['more follows the identifier', () => `${KNOWN()}/file`],
  ];
  test.each(cases)('%s', async (_title, identifier) => {
    for (const rest of ['verb=GetRecord&metadataPrefix=oai_svc', 'verb=ListMetadataFormats']) {
      const { text } = await ask(mock, `${rest}&identifier=${encodeURIComponent(identifier())}`);
      expect(parseError(text)).toBe('idDoesNotExist');
    }
  });
});

describe('noRecordsMatch, when', () => {
  test.each([
    ['there is no such set', `${LIST}&set=coins`],
    ['the set is a parent that does not exist', `${LIST}&set=heslo:coins`],
    ['nothing has changed since', `${LIST}&from=2999-01-01`],
    ['nothing is so old', `${LIST}&until=1999-12-31`],
    ['the set has nothing for this reader', `${LIST}&set=uzivatel`],
  ])('%s', async (_title, query) => {
    const { text } = await ask(mock, query);
    expect(parseError(text)).toBe('noRecordsMatch');
    expect(text).not.toMatch(/resumptionToken|<record>/);
  });
});

describe('badResumptionToken, when', () => {
  const token = async (query: string, as = 'anonymous'): Promise<string> => {
    const { text } = await ask(mock, query, { as });
    return encodeURIComponent(/<resumptionToken[^>]*>([^<]+)</.exec(text)?.[1] ?? '');
  };

  test('it is surrounded by blanks or other characters', async () => {
    const good = await token(LIST);
    for (const odd of [
      `%20${good}`,
      `${good}%20`,
      `%0A${good}`,
      `${good}=`,
      `${good.slice(0, 9)}%20${good.slice(9)}`,
    ]) {
      expect(parseError((await ask(mock, `verb=ListRecords&resumptionToken=${odd}`)).text)).toBe(
        'badResumptionToken',
      );
    }
  });

  test('it belongs to another verb, version or user', async () => {
    const good = await token(LIST);
    const askForError = async (
      query: string,
      options: Parameters<typeof ask>[2] = {},
    ): Promise<string | undefined> => parseError((await ask(mock, query, options)).text);
    expect(await askForError(`verb=ListIdentifiers&resumptionToken=${good}`)).toBe(
      'badResumptionToken',
    );
    expect(await askForError(`verb=ListRecords&resumptionToken=${good}`, { version: '2.1' })).toBe(
      'badResumptionToken',
    );
    expect(await askForError(`verb=ListRecords&resumptionToken=${good}`, { as: 'archivist' })).toBe(
      'badResumptionToken',
    );
    expect(await askForError(`verb=ListRecords&resumptionToken=${good}`)).toBeUndefined();
  });

  test('it has expired by the mock’s clock', async () => {
    await mock.clock({ frozen: true });
    const good = await token(LIST);
    await mock.clock({ advance_ms: 3_599_000 });
    expect(
      parseError((await ask(mock, `verb=ListRecords&resumptionToken=${good}`)).text),
    ).toBeUndefined();
    await mock.clock({ advance_ms: 2_000 });
    expect(parseError((await ask(mock, `verb=ListRecords&resumptionToken=${good}`)).text)).toBe(
      'badResumptionToken',
    );
  });
});

describe('every answer', () => {
  const ODD = [
    '%',
    '%zz',
    '%25',
    '%2525',
    '#',
    '[',
    '%20',
    '%00',
    'á',
    '%ff',
    '"',
    '&',
    '=',
    '<',
    ':',
    '/',
    '@',
    '?',
    '+',
    '0000-01-01',
  ];
  const SENSIBLE = [
    'heslo',
    'oai_dc',
    'marc21',
    'HES-000253',
    '2024-05-01',
    '2024-05-01T00:00:00Z',
    'http://a.example/id/',
  ];
  const value = fc
    .array(fc.constantFrom(...ODD, ...SENSIBLE), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join(''));
  const NAMES = [
    'metadataPrefix',
    'set',
    'from',
    'until',
    'identifier',
    'resumptionToken',
    'x',
  ] as const;
  const query = fc
    .tuple(
      fc.constantFrom(
        'Identify',
        'ListSets',
        'ListMetadataFormats',
        'GetRecord',
        'ListIdentifiers',
        'ListRecords',
      ),
      fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), value), {
        maxLength: 3,
        selector: ([name]) => name,
      }),
      fc.boolean(),
    )
    .map(([verb, pairs, isList]) => {
      const query = pairs.map(([name, text]) => `${name}=${text}`);
      const needed =
        isList && !pairs.some(([name]) => name === 'metadataPrefix')
          ? ['metadataPrefix=oai_dc']
          : [];
      return [`verb=${verb}`, ...needed, ...query].join('&');
    });

  test('is valid by the schema of the protocol', async () => {
    const validator = await answerValidator('2.2');
    await mock.settings({ page_size: 2 });
    await fc.assert(
      fc.asyncProperty(query, async (query) => {
        const { status, text } = await ask(mock, query);
        expect([
          status,
          faults(validator, text.replaceAll(mock.server.schema_base, SCHEMA_BASE)).slice(0, 2),
        ]).toEqual([200, []]);
      }),
    );
  });
});
