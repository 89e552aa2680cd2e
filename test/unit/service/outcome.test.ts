import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type HttpResponse, TransportError } from '../../../src/service/http/exchange.ts';
import { ChangedFileError } from '../../../src/service/http/request-body.ts';
import {
  classifyAnswer,
  classifyTransportError,
  type Operation,
} from '../../../src/service/outcome.ts';
import { inWords } from '../../support/in-words.ts';

const documentOf = (ident: string): string =>
  `<a><samostatny_nalez><ident_cely>${ident}</ident_cely></samostatny_nalez></a>`;

function answer(status: number, body: unknown, headers: Record<string, string> = {}): HttpResponse {
  return {
    status,
    headers,
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  };
}

function outcome(operation: Operation, response: HttpResponse): string {
  return classifyAnswer(operation, response, 0).kind;
}

describe('a success', () => {
  test('names its record in the header, the document, or both', () => {
    const header = { 'x-record-id': 'C-202400101-N00001' };
    expect(
      classifyAnswer('import', answer(201, documentOf('C-202400101-N00001'), header), 0),
    ).toEqual({
      kind: 'accepted',
      identCely: 'C-202400101-N00001',
    });
    expect(outcome('import', answer(201, '<html>', header))).toBe('accepted');
    expect(outcome('import', answer(201, documentOf('C-202400101-N00001')))).toBe('accepted');
  });

  test('that names no record, two, or a strange one leaves the entry uncertain', () => {
    expect(outcome('import', answer(201, 'nothing'))).toBe('uncertain');
    expect(
      outcome('import', answer(201, documentOf('C-1-N00002'), { 'x-record-id': 'C-1-N00001' })),
    ).toBe('uncertain');
    expect(outcome('import', answer(201, '', { 'x-record-id': '../../etc' }))).toBe('uncertain');
  });

  test('with the status of another operation is no success', () => {
    expect(outcome('import', answer(200, documentOf('C-1-N00001')))).toBe('uncertain');
    expect(outcome('number', answer(201, documentOf('C-1-N00001')))).toBe('uncertain');
  });
});

describe('a refusal as in the contract', () => {
  const detail = { detail: 'no' };
  test.each<[Operation, string]>([
    ['import', 'throttled'],
    ['number', 'busy'],
    ['photo', 'busy'],
  ])('%s with 429 is %s', (operation, kind) => {
    expect(outcome(operation, answer(429, detail))).toBe(kind);
  });

  test('does not quote an answer that is compressed all the same', () => {
    const coded = answer(422, '\u001f\ufffd', { 'content-encoding': 'gzip' });
    expect(inWords(classifyAnswer('import', coded, 0))).toMatchObject({ detail: 'status 422' });
  });

  test('of a number that the record already has counts only in the service’s own words, without findings and not as a page', () => {
    const findings = [
      { line: null, column: null, message: 'evidencni_cislo: wrong', error_type: 2 },
    ];
    expect(outcome('number', answer(422, detail))).toBe('already-applied');
    expect(outcome('number', answer(422, { validation_errors: findings }))).toBe('refused');
    expect(outcome('number', answer(422, '<html>blocked</html>'))).toBe('refused-by-intermediary');
    expect(outcome('number', answer(422, ''))).toBe('refused');
  });

  test('keeps every finding with its line', () => {
    const findings = [{ line: 7, column: null, message: 'hloubka: wrong', error_type: 2 }];
    expect(classifyAnswer('import', answer(422, { schema_errors: findings }), 0)).toEqual({
      kind: 'refused',
      detail: 'hloubka: wrong',
      findings: [{ line: 7, column: undefined, message: 'hloubka: wrong', errorType: 2 }],
    });
  });

  test.each([
    ['3', 3000],
    ['1.5', undefined],
  ])('for throttling gives the wait, if "%s" is one', (text, waitMs) => {
    const response = answer(429, detail, { 'retry-after': text });
    expect(classifyAnswer('photo', response, 0)).toEqual({ kind: 'throttled', waitMs });
  });
});

/** Bodies behind a status: the service's own words, and what others put in their place. */
const BODIES: readonly (readonly [string, unknown])[] = [
  ['a word of the service', { detail: 'no' }],
  ['findings', { schema_errors: [{ line: 7, column: null, message: 'wrong', error_type: 2 }] }],
  [
    'other findings',
    { validation_errors: [{ line: null, column: null, message: 'wrong', error_type: 1 }] },
  ],
  ['JSON of another kind', { error: 'no', file: ['missing'] }],
  ['a page', '<html><head><title>No</title></head><body>No</body></html>'],
  ['nothing', ''],
  ['half of a word', '{"detail": "no'],
  ['bytes', '\u0000\u0001\ufffd'],
];

const OPERATIONS: readonly Operation[] = ['import', 'number', 'photo'];

/** For each operation and each body, by its name. */
function expectOutcomes(status: number, getKind: (name: string) => string): void {
  for (const operation of OPERATIONS)
    for (const [name, body] of BODIES)
      expect([operation, name, outcome(operation, answer(status, body))]).toEqual([
        operation,
        name,
        getKind(name),
      ]);
}

describe('the status decides, whatever the body:', () => {
  test.each<[number, string]>([
    [413, 'refused'],
    [500, 'uncertain'],
    [503, 'closed'],
  ])('%i is %s', (status, kind) => {
    expectOutcomes(status, () => kind);
  });

  test.each([404, 405, 406, 415])(
    '%i is refused by the service in JSON or XML, and otherwise by an intermediary',
    (status) => {
      const own = ['a word of the service', 'findings', 'other findings'];
      expectOutcomes(status, (name) =>
        own.includes(name) ? 'refused' : 'refused-by-intermediary',
      );
      for (const type of [
        'application/json',
        'application/problem+json; charset=utf-8',
        'application/xml',
        'text/xml',
      ])
        expect(outcome('import', answer(status, '', { 'content-type': type }))).toBe('refused');
      for (const type of ['text/html', 'text/plain', 'application/xhtml+xml'])
        expect(outcome('import', answer(status, '<p>', { 'content-type': type }))).toBe(
          'refused-by-intermediary',
        );
    },
  );

  test.each<[number, string]>([
    [400, 'refused'],
    [401, 'unauthorised'],
    [403, 'forbidden'],
  ])('%i is %s by the service, but for a web page', (status, kind) => {
    expectOutcomes(status, (name) => (name === 'a page' ? 'refused-by-intermediary' : kind));
  });

  test('422 refuses a find and a photograph, but for a web page', () => {
    for (const [name, body] of BODIES) {
      const kind = name === 'a page' ? 'refused-by-intermediary' : 'refused';
      expect([name, outcome('import', answer(422, body))]).toEqual([
        name,
        name === 'a word of the service' ? 'refused-unspecified' : kind,
      ]);
      expect([name, outcome('photo', answer(422, body))]).toEqual([name, kind]);
    }
  });

  test('a failure of the service itself is within the contract, even as a page', () => {
    for (const [, body] of BODIES)
      expect(classifyAnswer('import', answer(500, body), 0)).toMatchObject({
        kind: 'uncertain',
        outsideContract: false,
      });
  });

  test('a refusal by a page quotes the page', () => {
    expect(
      inWords(classifyAnswer('photo', answer(413, '<h1>Request Entity Too Large</h1>'), 0)),
    ).toMatchObject({
      detail: 'a proxy in front of the service does not take a request of this size (status 413)',
    });
  });
});

describe('an answer outside the contract', () => {
  const known = new Set([200, 201, 400, 401, 403, 404, 405, 406, 413, 415, 422, 429, 500, 503]);
  const strange = fc.integer({ min: 200, max: 599 }).filter((status) => !known.has(status));

  test('leaves the entry uncertain, even if it looks like one of the service', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...OPERATIONS),
        fc.oneof(
          fc.constantFrom(
            202,
            204,
            301,
            302,
            303,
            307,
            308,
            402,
            408,
            409,
            410,
            418,
            425,
            451,
            499,
            502,
            504,
            511,
          ),
          strange,
        ),
        fc.constantFrom(...BODIES.map(([, body]) => body), documentOf('C-1-N00001')),
        (operation, status, body) => {
          expect(
            classifyAnswer(operation, answer(status, body, { 'x-record-id': 'C-1-N00001' }), 0),
          ).toMatchObject({
            kind: 'uncertain',
            outsideContract: true,
          });
        },
      ),
    );
  });

  test('that redirects names its target, since the address may be wrong', () => {
    const moved = answer(301, '', { location: 'https://elsewhere.example/api/pas/import-xml' });
    expect(inWords(classifyAnswer('import', moved, 0))).toMatchObject({
      detail: 'status 301, which redirects to https://elsewhere.example/api/pas/import-xml',
    });
  });
});

describe('a success that names another record than the one written to', () => {
  const other = { 'x-record-id': 'C-1-N00002' };
  test.each<[Operation, number]>([
    ['number', 200],
    ['photo', 201],
  ])('is not accepted for a %s', (operation, status) => {
    const answers = [
      answer(status, '', other),
      answer(status, documentOf('C-1-N00002')),
      answer(status, documentOf('C-1-N00002'), other),
    ];
    for (const response of answers)
      expect(classifyAnswer(operation, response, 0, 'C-1-N00001')).toMatchObject({
        kind: 'uncertain',
        outsideContract: true,
      });
    const cut = new TransportError('reset', true, 'cut', { head: { status, headers: other } });
    expect(classifyTransportError(operation, cut, 0, 'C-1-N00001')).toMatchObject({
      kind: 'uncertain',
      outsideContract: true,
    });
  });

  test('is accepted if it names the same record', () => {
    const own = { 'x-record-id': 'C-1-N00001' };
    expect(classifyAnswer('number', answer(200, '', own), 0, 'C-1-N00001').kind).toBe('accepted');
    const cut = new TransportError('reset', true, 'cut', { head: { status: 201, headers: own } });
    expect(classifyTransportError('photo', cut, 0, 'C-1-N00001').kind).toBe('accepted');
  });
});

describe('a missing answer', () => {
  test('can be repeated only if the request cannot have arrived completely', () => {
    expect(
      classifyTransportError('import', new TransportError('connect', false, 'refused'), 0).kind,
    ).toBe('not-delivered');
    expect(
      classifyTransportError('import', new TransportError('reset', true, 'reset'), 0).kind,
    ).toBe('uncertain');
    expect(
      classifyTransportError('import', new TransportError('timeout', true, 'late'), 0).kind,
    ).toBe('uncertain');
  });

  test('after the head of a success is a success', () => {
    const head = { status: 201, headers: { 'x-record-id': 'C-202400101-N00001' } };
    expect(
      classifyTransportError('import', new TransportError('reset', true, 'cut', { head }), 0),
    ).toEqual({
      kind: 'accepted',
      identCely: 'C-202400101-N00001',
    });
  });

  test.each<[Operation, number, string]>([
    ['import', 400, 'refused'],
    ['import', 401, 'unauthorised'],
    ['photo', 403, 'forbidden'],
    ['import', 422, 'refused'],
    ['import', 429, 'throttled'],
    ['number', 503, 'closed'],
    ['import', 500, 'uncertain'],
    ['import', 502, 'uncertain'],
    // Sent again, it gets the whole word of the service, and a number may be sent again.
    ['number', 422, 'uncertain'],
  ])('to a %s after the head of a %i is %s: the status was complete', (operation, status, kind) => {
    const cut = new TransportError('reset', true, 'cut', {
      head: { status, headers: { 'retry-after': '3' } },
    });
    expect(classifyTransportError(operation, cut, 0).kind).toBe(kind);
  });

  test('after a refusal in the middle of the request is that refusal, and otherwise the request never arrived', () => {
    const early = (status: number) =>
      new TransportError('reset', false, 'cut', { head: { status, headers: {} } });
    expect(classifyTransportError('photo', early(413), 0).kind).toBe('refused');
    expect(classifyTransportError('photo', early(503), 0).kind).toBe('closed');
    for (const status of [201, 302, 500, 502])
      expect(classifyTransportError('photo', early(status), 0).kind).toBe('cut');
  });

  test('because the photograph changed is left to a person', () => {
    const error = new TransportError('body', false, 'changed', { cause: new ChangedFileError() });
    expect(classifyTransportError('photo', error, 0).kind).toBe('content-changed');
  });
});
