import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/base/errors.ts';
import {
  assertOaiArguments,
  buildOaiQuery,
  type OaiArguments,
  type Verb,
} from '../../../src/harvest/protocol.ts';

describe('arguments are checked before anything is sent', () => {
  const refused: readonly [string, Verb, OaiArguments, string][] = [
    [
      'a missing format',
      'ListRecords',
      { set: 'heslo' },
      'The argument metadataPrefix of ListRecords is missing or empty.',
    ],
    [
      'a missing identifier',
      'GetRecord',
      { metadataPrefix: 'oai_dc' },
      'The argument identifier of GetRecord is missing or empty.',
    ],
    [
      'an argument of another verb',
      'Identify',
      { set: 'heslo' },
      'Identify takes no argument set; it takes: nothing.',
    ],
    [
      'an empty value',
      'ListRecords',
      { metadataPrefix: 'oai_dc', set: '' },
      'The argument set of ListRecords is missing or empty.',
    ],
    [
      'a token in company',
      'ListRecords',
      { metadataPrefix: 'oai_dc', resumptionToken: 'T' },
      'Use a resumption token alone: it already contains the set, the format and the dates.',
    ],
    [
      'a year as a date',
      'ListRecords',
      { metadataPrefix: 'oai_dc', from: '2024' },
      'from is "2024", which is not a date that the service can read.',
    ],
    [
      'a day that does not exist',
      'ListRecords',
      { metadataPrefix: 'oai_dc', until: '2024-02-30' },
      'until is "2024-02-30", which is not a date that the service can read.',
    ],
    [
      'two granularities',
      'ListRecords',
      { metadataPrefix: 'oai_dc', from: '2024-01-01', until: '2024-02-01T00:00:00Z' },
      'from and until must both be dates or both be times.',
    ],
    [
      'a window that ends before it begins',
      'ListRecords',
      { metadataPrefix: 'oai_dc', from: '2024-02-01', until: '2024-01-01' },
      'from (2024-02-01) is later than until (2024-01-01).',
    ],
  ];
  test.each(refused)('%s is refused', (_, verb, args, message) => {
    expect(() => assertOaiArguments(verb, args)).toThrow(UsageError);
    expect(() => assertOaiArguments(verb, args)).toThrow(message);
  });

  const accepted: readonly [string, Verb, OaiArguments][] = [
    ['nothing for Identify', 'Identify', {}],
    ['a token alone', 'ListIdentifiers', { resumptionToken: 'T' }],
    [
      'a window of one day',
      'ListRecords',
      { metadataPrefix: 'oai_dc', from: '2024-01-01', until: '2024-01-01' },
    ],
    ['a window without an end', 'ListRecords', { metadataPrefix: 'oai_dc', from: '2024-01-01' }],
    [
      'a window without a beginning',
      'ListRecords',
      { metadataPrefix: 'oai_dc', until: '2024-01-01T00:00:00Z' },
    ],
    ['formats of one record', 'ListMetadataFormats', { identifier: 'https://x/id/A' }],
  ];
  test.each(accepted)('%s is accepted', (_, verb, args) => {
    expect(() => assertOaiArguments(verb, args)).not.toThrow();
  });
});

test('the verb comes first and values are escaped', () => {
  expect(buildOaiQuery('ListRecords', { metadataPrefix: 'oai_dc', set: 'a:b&c' })).toBe(
    'verb=ListRecords&metadataPrefix=oai_dc&set=a%3Ab%26c',
  );
  expect(buildOaiQuery('ListRecords', { resumptionToken: 'a b/č' })).toBe(
    'verb=ListRecords&resumptionToken=a+b%2F%C4%8D',
  );
});
