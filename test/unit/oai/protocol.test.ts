import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/base/errors.ts';
import { checkArguments, type OaiArguments, queryOf, type Verb } from '../../../src/oai/protocol.ts';

describe('arguments are checked before anything is sent', () => {
  const refused: readonly [string, Verb, OaiArguments][] = [
    ['a missing format', 'ListRecords', { set: 'heslo' }],
    ['a missing identifier', 'GetRecord', { metadataPrefix: 'oai_dc' }],
    ['an argument of another verb', 'Identify', { set: 'heslo' }],
    ['an empty value', 'ListRecords', { metadataPrefix: 'oai_dc', set: '' }],
    ['a token in company', 'ListRecords', { metadataPrefix: 'oai_dc', resumptionToken: 'T' }],
    ['a year as a date', 'ListRecords', { metadataPrefix: 'oai_dc', from: '2024' }],
    ['a day that does not exist', 'ListRecords', { metadataPrefix: 'oai_dc', until: '2024-02-30' }],
    ['two granularities', 'ListRecords', { metadataPrefix: 'oai_dc', from: '2024-01-01', until: '2024-02-01T00:00:00Z' }],
    ['a window that ends before it begins', 'ListRecords', { metadataPrefix: 'oai_dc', from: '2024-02-01', until: '2024-01-01' }],
  ];
  test.each(refused)('%s is refused', (_, verb, given) => {
    expect(() => checkArguments(verb, given)).toThrow(UsageError);
  });

  const accepted: readonly [string, Verb, OaiArguments][] = [
    ['nothing for Identify', 'Identify', {}],
    ['a token alone', 'ListIdentifiers', { resumptionToken: 'T' }],
    ['a window of one day', 'ListRecords', { metadataPrefix: 'oai_dc', from: '2024-01-01', until: '2024-01-01' }],
    ['formats of one record', 'ListMetadataFormats', { identifier: 'https://x/id/A' }],
  ];
  test.each(accepted)('%s is accepted', (_, verb, given) => {
    expect(() => checkArguments(verb, given)).not.toThrow();
  });
});

test('the verb stands first and values are escaped', () => {
  expect(queryOf('ListRecords', { metadataPrefix: 'oai_dc', set: 'a:b&c' })).toBe(
    'verb=ListRecords&metadataPrefix=oai_dc&set=a%3Ab%26c',
  );
  expect(queryOf('ListRecords', { resumptionToken: 'a b/č' })).toBe('verb=ListRecords&resumptionToken=a+b%2F%C4%8D');
});
