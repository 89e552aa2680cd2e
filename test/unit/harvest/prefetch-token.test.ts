import { describe, expect, test } from 'vitest';
import { peekResumptionToken } from '../../../src/harvest/send-request.ts';

const page = (token: string): string =>
  `<OAI-PMH><ListRecords><record/>${token}</ListRecords></OAI-PMH>`;

describe('the next token is guessed from the end of a page', () => {
  test.each([
    ['plain', page('<resumptionToken>T1</resumptionToken>')],
    [
      'with attributes',
      page('<resumptionToken cursor="0" completeListSize="9">T1</resumptionToken>'),
    ],
    [
      'with a prefix',
      page('<oai:resumptionToken>T1</oai:resumptionToken>').replaceAll(
        'ListRecords',
        'oai:ListRecords',
      ),
    ],
    [
      'with blanks and breaks',
      page('<resumptionToken >\n  T1\n </resumptionToken>\n  ')
        .replace('</OAI', '\n\t</OAI')
        .concat('\n'),
    ],
    ['without any between', `${'x'.repeat(5000)}${page('<resumptionToken>T1</resumptionToken>')}`],
  ])('%s', (_name, body) => {
    expect(peekResumptionToken(Buffer.from(body))).toBe('T1');
  });

  test.each([
    ['there is none', page('')],
    ['it is empty', page('<resumptionToken/>')],
    ['its element is closed by another', page('<a:resumptionToken>T1</b:resumptionToken>')],
    ['it holds what stands for something else', page('<resumptionToken>a&amp;b</resumptionToken>')],
    ['it holds a blank', page('<resumptionToken>a b</resumptionToken>')],
    ['it holds an element', page('<resumptionToken><b/></resumptionToken>')],
    ['something stands behind it', page('<resumptionToken>T1</resumptionToken>x')],
    [
      'something stands behind the list',
      page('<resumptionToken>T1</resumptionToken>').replace('</OAI', 'x</OAI'),
    ],
    ['something stands behind the page', `${page('<resumptionToken>T1</resumptionToken>')}x`],
    ['it is longer than any', page(`<resumptionToken>${'T'.repeat(3000)}</resumptionToken>`)],
  ])('not if %s', (_name, body) => {
    expect(peekResumptionToken(Buffer.from(body))).toBeUndefined();
  });
});
