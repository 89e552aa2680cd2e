import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { AuthError, ContractError, PasError, UnavailableError } from '../../../src/base/errors.ts';
import { openOaiClient } from '../../../src/harvest/client.ts';
import type { HttpResponse } from '../../../src/service/http/exchange.ts';
import { classifyAnswer, parseErrorBody } from '../../../src/service/outcome.ts';
import { openSession } from '../../../src/service/session.ts';
import { listXml, OAI_BASE, recordXml } from '../../support/scripted-oai.ts';

/** Broken, malicious or foreign answers of a server. */
const anyBytes = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes));

/** A sound text with a piece cut out and another put in. */
function damaged(text: string) {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom(
      '<',
      '>',
      '&',
      ']]>',
      '<!--',
      '<![CDATA[',
      '<!DOCTYPE x [<!ENTITY a "b">]>',
      '&#0;',
      '&a;',
      '\u0000',
      'xmlns=""',
      '</record>',
    ),
  );
  return fc
    .tuple(fc.nat(text.length), fc.nat(200), piece)
    .map(([at, removed, inserted]) =>
      Buffer.from(text.slice(0, at) + inserted + text.slice(at + removed)),
    );
}

/** JSON in which any of these keys has any value. */
function jsonWith(...keys: readonly string[]) {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom({ toString: 1 }, [[{ valueOf: null }]], { constructor: 1 }),
  );
  const shaped = fc.record(Object.fromEntries(keys.map((key) => [key, value])), {
    requiredKeys: [],
  });
  return fc.oneof(shaped, value).map(toBytes);
}

const anyStatus = fc.oneof(
  fc.constantFrom(200, 201, 400, 401, 403, 404, 422, 429, 500, 503),
  fc.integer({ min: 200, max: 599 }),
);

/** @throws what no command expects */
async function findEnd(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'read';
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
    return thrown.code;
  }
}

function answering(response: Partial<HttpResponse>) {
  return async (): Promise<HttpResponse> => ({
    status: 200,
    headers: {},
    body: Buffer.alloc(0),
    ...response,
  });
}

describe('a harvested page', () => {
  const page = listXml(
    'ListRecords',
    [
      recordXml('HES-000001', '2024-01-01T00:00:00Z'),
      recordXml('HES-000002', '2024-01-02T00:00:00Z'),
    ],
    'token',
  );

  async function getOutcome(body: Buffer, maxAnswerBytes = 1_000_000): Promise<string> {
    const client = openOaiClient({
      oaiBase: OAI_BASE,
      version: '2.2',
      exchange: answering({ body }),
      credentials: { kind: 'none' },
      maxAnswerBytes,
    });
    try {
      const { items } = await client.listRecords({ metadataPrefix: 'oai_svc' });
      return `${items.length} records`;
    } catch (thrown) {
      if (!(thrown instanceof PasError)) throw thrown;
      return thrown.code;
    }
  }

  test('is read or refused, however it is changed, and no more is read than was sent', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 4, arbitrary: damaged(page) }, anyBytes),
        async (body) => {
          expect(await getOutcome(body)).toMatch(/^[012] records$|^oai-/);
        },
      ),
    );
  });
});

describe('what the write interface answers', () => {
  test('names one record or none, whatever the success document contains', () => {
    const document =
      '<svc:svc xmlns:svc="urn:s"><svc:samostatny_nalez><svc:ident_cely>C-1-N1</svc:ident_cely></svc:samostatny_nalez></svc:svc>';
    const read = (body: Buffer) => classifyAnswer('import', { status: 201, headers: {}, body }, 0);
    expect(read(Buffer.from(document))).toEqual({ kind: 'accepted', identCely: 'C-1-N1' });
    fc.assert(
      fc.property(fc.oneof(damaged(document), anyBytes), (body) => {
        expect(['accepted', 'uncertain']).toContain(read(body).kind);
      }),
    );
  });

  test('to a sign-in is a token, or a sign-in error', async () => {
    const bodies = fc.oneof(
      jsonWith('token', 'detail', 'non_field_errors'),
      damaged('{"token":"0123456789abcdef"}'),
      anyBytes,
    );
    await fc.assert(
      fc.asyncProperty(anyStatus, bodies, async (status, body) => {
        const { session, kept: keptNames } = signingIn(status, body);
        const end = await findEnd(() => session.token());
        expect(keptNames.length).toBe(end === 'read' ? 1 : 0);
      }),
    );
  });

  test.each([
    { schema_errors: [[{ toString: 1 }]] },
    { validation_errors: [{ toString: 1 }] },
    { schema_errors: [{ message: { toString: 1 } }, null, 4] },
  ])('about an error with a value that cannot become text is read (%#)', (errorBody) => {
    const read = parseErrorBody(toBytes(errorBody));
    expect(read.kind === 'findings' && typeof read.findings[0]?.message).toBe('string');
  });

  test.each([null, { toString: 1 }, 7, '', ['a'], 'two words', 'x'.repeat(1_000_000)])(
    'to a sign-in, a token that cannot be one is invalid (%#)',
    async (token) => {
      const { session, kept: keptNames } = signingIn(200, { token });
      await expect(session.token()).rejects.toBeInstanceOf(ContractError);
      expect(keptNames).toEqual([]);
    },
  );

  test.each([400, 401, 403])(
    'to a sign-in, an HTML page with status %i reveals nothing about the password',
    async (status) => {
      await expect(
        signingIn(status, '<html><h1>Forbidden</h1></html>').session.token(),
      ).rejects.toBeInstanceOf(UnavailableError);
      await expect(
        signingIn(status, { non_field_errors: ['no'] }).session.token(),
      ).rejects.toBeInstanceOf(AuthError);
    },
  );

  test('about a million errors is shortened', () => {
    const read = parseErrorBody(
      toBytes({ validation_errors: Array.from({ length: 100_000 }, () => ({ message: 'x' })) }),
    );
    expect(read.kind === 'findings' && read.findings.length).toBe(1000);
  });

  test.each([
    { detail: 'x'.repeat(1_000_000) },
    { schema_errors: [{ message: 'x'.repeat(1_000_000) }] },
    { schema_errors: ['x'.repeat(1_000_000)] },
    { validation_errors: [{ code: 'x'.repeat(1_000_000) }] },
  ])('about an error of a million letters is shortened (%#)', (errorBody) => {
    expect(JSON.stringify(parseErrorBody(toBytes(errorBody))).length).toBeLessThan(3000);
  });
});

function signingIn(status: number, output: object | string | Buffer) {
  const keptNames: string[] = [];
  const session = openSession({
    clock: systemClock,
    baseUrl: 'https://x.example',
    username: 'eva',
    password: 'a long password',
    keeper: { read: () => undefined, write: (token) => void keptNames.push(token) },
    send: answering({
      status,
      body: Buffer.isBuffer(output)
        ? output
        : typeof output === 'string'
          ? Buffer.from(output)
          : toBytes(output),
    }),
  });
  return { session, kept: keptNames };
}

function toBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
