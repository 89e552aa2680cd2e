import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ChangedFileError } from '../../../src/http/digest.ts';
import { type HttpResponse, NoAnswerError } from '../../../src/http/exchange.ts';
import { outcomeOf, outcomeOfNoAnswer } from '../../../src/pas-api/outcome.ts';
import type { Operation } from '../../../src/pas-api/requests.ts';

const readIdent = (body: Buffer): string | undefined => body.toString().match(/ident:(\S+)/)?.[1];

function answer(status: number, body: unknown, headers: Record<string, string> = {}): HttpResponse {
  return { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) };
}

function outcome(operation: Operation, response: HttpResponse): string {
  return outcomeOf(operation, response, 0, readIdent).kind;
}

describe('a success', () => {
  test('names its record in the header, the document, or both', () => {
    const header = { 'x-record-id': 'C-202400101-N00001' };
    expect(outcomeOf('import', answer(201, 'ident:C-202400101-N00001', header), 0, readIdent)).toEqual({
      kind: 'accepted',
      identCely: 'C-202400101-N00001',
    });
    expect(outcome('import', answer(201, '<html>', header))).toBe('accepted');
    expect(outcome('import', answer(201, 'ident:C-202400101-N00001'))).toBe('accepted');
  });

  test('that names no record, two, or a strange one leaves the entry in doubt', () => {
    expect(outcome('import', answer(201, 'nothing'))).toBe('uncertain');
    expect(outcome('import', answer(201, 'ident:C-1-N00002', { 'x-record-id': 'C-1-N00001' }))).toBe('uncertain');
    expect(outcome('import', answer(201, '', { 'x-record-id': '../../etc' }))).toBe('uncertain');
  });

  test('with the status of another operation is no success', () => {
    expect(outcome('import', answer(200, 'ident:C-1-N00001'))).toBe('uncertain');
    expect(outcome('number', answer(201, 'ident:C-1-N00001'))).toBe('uncertain');
  });
});

describe('a refusal in the form of the contract', () => {
  const detail = { detail: 'no' };
  test.each<[Operation, number, string]>([
    ['import', 400, 'refused'],
    ['import', 401, 'unauthorised'],
    ['import', 403, 'forbidden'],
    ['import', 404, 'refused'],
    ['import', 422, 'refused-in-a-word'],
    ['photo', 422, 'refused'],
    ['number', 422, 'already-current'],
    ['import', 500, 'uncertain'],
    ['number', 500, 'uncertain'],
    ['photo', 500, 'uncertain'],
    ['import', 503, 'closed'],
    ['import', 429, 'throttled'],
    ['number', 429, 'busy'],
    ['photo', 429, 'busy'],
  ])('%s with %i is %s', (operation, status, kind) => {
    expect(outcome(operation, answer(status, detail))).toBe(kind);
  });

  test('is of a number that the record has already only in the service’s own words: it has no findings for that, and a page is a proxy’s', () => {
    const findings = [{ line: null, column: null, message: 'evidencni_cislo: wrong', error_type: 2 }];
    expect(outcome('number', answer(422, detail))).toBe('already-current');
    expect(outcome('number', answer(422, { validation_errors: findings }))).toBe('refused');
    expect(outcome('number', answer(422, '<html>blocked</html>'))).toBe('uncertain');
  });

  test('keeps every finding with its line', () => {
    const findings = [{ line: 7, column: null, message: 'hloubka: wrong', error_type: 2 }];
    expect(outcomeOf('import', answer(422, { schema_errors: findings }), 0, readIdent)).toEqual({
      kind: 'refused',
      detail: 'hloubka: wrong',
      findings: [{ line: 7, column: undefined, message: 'hloubka: wrong', errorType: 2 }],
    });
  });

  test('a throttle says how long, where it does', () => {
    expect(outcomeOf('photo', answer(429, detail, { 'retry-after': '3' }), 0, readIdent)).toEqual({
      kind: 'throttled',
      waitMs: 3000,
    });
  });
});

describe('an answer that is not the service’s own', () => {
  test.each([400, 403, 404, 422, 500, 502, 503, 504])('leaves the entry in doubt with status %i', (status) => {
    expect(outcome('import', answer(status, '<html><body>Bad gateway</body></html>'))).toBe('uncertain');
  });

  test('refuses with 413, because the proxy took no more of the request', () => {
    expect(outcome('photo', answer(413, '<html>'))).toBe('refused');
  });

  test('never accepts, and never throws, whatever it holds', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Operation>('import', 'number', 'photo'),
        fc.integer({ min: 200, max: 599 }),
        fc.string(),
        (operation, status, body) => {
          expect(outcomeOf(operation, answer(status, body), 0, () => undefined).kind).not.toBe('accepted');
        },
      ),
    );
  });
});

describe('no answer', () => {
  test('is safe to repeat only where the request cannot have arrived whole', () => {
    expect(outcomeOfNoAnswer('import', new NoAnswerError('connect', false, 'refused')).kind).toBe('never-arrived');
    expect(outcomeOfNoAnswer('import', new NoAnswerError('reset', true, 'reset')).kind).toBe('uncertain');
    expect(outcomeOfNoAnswer('import', new NoAnswerError('timeout', true, 'late')).kind).toBe('uncertain');
  });

  test('after the head of a success is a success', () => {
    const head = { status: 201, headers: { 'x-record-id': 'C-202400101-N00001' } };
    expect(outcomeOfNoAnswer('import', new NoAnswerError('reset', true, 'cut', { head }))).toEqual({
      kind: 'accepted',
      identCely: 'C-202400101-N00001',
    });
  });

  test('because the photograph changed is a matter for a person', () => {
    const error = new NoAnswerError('body', false, 'changed', { cause: new ChangedFileError() });
    expect(outcomeOfNoAnswer('photo', error).kind).toBe('file-changed');
  });
});
