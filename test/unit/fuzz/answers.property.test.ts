import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AuthError, ContractError, PasError } from '../../../src/base/errors.ts';
import { parseRecordIdent } from '../../../src/flows/harvest/read-record-ident.ts';
import { readAccount } from '../../../src/flows/push/read-account.ts';
import type { HttpResponse } from '../../../src/http/exchange.ts';
import { createRedactor } from '../../../src/http/redaction.ts';
import { openOaiClient } from '../../../src/oai/client.ts';
import { parseErrorBody } from '../../../src/pas-api/error-body.ts';
import { openSession } from '../../../src/pas-api/session.ts';
import { listXml, OAI_BASE, recordXml } from '../../support/scripted-oai.ts';

/** What a server may send that is broken, malicious or not the service at all. */
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
    .map(([at, removed, inserted]) => Buffer.from(text.slice(0, at) + inserted + text.slice(at + removed)));
}

function answering(response: Partial<HttpResponse>) {
  return async (): Promise<HttpResponse> => ({ status: 200, headers: {}, body: Buffer.alloc(0), ...response });
}

describe('a harvested page', () => {
  const page = listXml(
    'ListRecords',
    [recordXml('HES-000001', '2024-01-01T00:00:00Z'), recordXml('HES-000002', '2024-01-02T00:00:00Z')],
    'token',
  );

  async function outcomeOf(body: Buffer, maxAnswerBytes = 1_000_000): Promise<string> {
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

  test('is read when it is sound', async () => {
    expect(await outcomeOf(Buffer.from(page))).toBe('2 records');
  });

  test('is read or refused, whatever was done to it, and never more is read than was sent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 4, arbitrary: damaged(page) }, anyBytes), async (body) => {
        expect(await outcomeOf(body)).toMatch(/^[012] records$|^oai-/);
      }),
    );
  });

  test('that unpacks to more than was agreed is refused before it fills the memory', async () => {
    const bomb = gzipSync(Buffer.alloc(300_000_000, 0x20));
    const before = process.memoryUsage().rss;
    expect(await outcomeOf(bomb, 1_000_000)).toBe('oai-malformed');
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });
});

describe('what the write interface answers', () => {
  test('names a record or none, whatever the success document holds', () => {
    const document =
      '<svc:svc xmlns:svc="urn:s"><svc:samostatny_nalez><svc:ident_cely>C-1-N1</svc:ident_cely></svc:samostatny_nalez></svc:svc>';
    expect(parseRecordIdent(Buffer.from(document))).toBe('C-1-N1');
    fc.assert(
      fc.property(fc.oneof(damaged(document), anyBytes), (body) => {
        expect(['string', 'undefined']).toContain(typeof parseRecordIdent(body));
      }),
    );
  });

  test('about the account is read or refused', async () => {
    const session = { token: async () => 't', renew: async () => 't' };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 200, max: 599 }),
        fc.oneof(damaged('<a><uzivatel><jmeno>E</jmeno></uzivatel></a>'), anyBytes),
        async (status, body) => {
          try {
            expect(
              await readAccount({ baseUrl: 'https://x.example', session, send: answering({ status, body }) }),
            ).toHaveProperty('role');
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(PasError);
          }
        },
      ),
    );
  });

  test('about an error is short and never throws, whatever JSON it is', () => {
    const shaped = fc.record(
      { detail: fc.jsonValue(), schema_errors: fc.jsonValue(), validation_errors: fc.jsonValue() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(anyBytes, fc.jsonValue().map(toBytes), shaped.map(toBytes)), (body) => {
        const read = parseErrorBody({ body });
        if (read.kind === 'other') expect(read.excerpt.length).toBeLessThanOrEqual(201);
        if (read.kind === 'findings') expect(read.findings.every(({ message }) => typeof message === 'string')).toBe(true);
      }),
    );
  });

  test.each([
    { schema_errors: [[{ toString: 1 }]] },
    { validation_errors: [{ toString: 1 }] },
    { schema_errors: [{ message: { toString: 1 } }, null, 4] },
  ])('about an error with a value that no text can be made of is read (%#)', (said) => {
    const read = parseErrorBody({ body: toBytes(said) });
    expect(read.kind === 'findings' && typeof read.findings[0]?.message).toBe('string');
  });

  test.each([null, { toString: 1 }, 7, '', ['a'], 'two words'])('to a sign-in, the token %j is none', async (token) => {
    const { session, kept } = signingIn(200, { token });
    await expect(session.token()).rejects.toBeInstanceOf(ContractError);
    expect(kept).toEqual([]);
  });

  test.each([400, 401, 403])('to a sign-in, an HTML page with status %i says nothing about the password', async (status) => {
    await expect(signingIn(status, '<html><h1>Forbidden</h1></html>').session.token()).rejects.toBeInstanceOf(ContractError);
    await expect(signingIn(status, { non_field_errors: ['no'] }).session.token()).rejects.toBeInstanceOf(AuthError);
  });

  test.each(['<script', '<', '<head><', '</script', '{"detail":', '[[['])(
    'about an error is read where it is %j a million times, which a reader that goes back would not end',
    (piece) => {
      expect(parseErrorBody({ body: Buffer.from(piece.repeat(1_000_000)) }).kind).toBe('other');
    },
  );

  test('about a million errors is cut', () => {
    const read = parseErrorBody({
      body: toBytes({ validation_errors: Array.from({ length: 100_000 }, () => ({ message: 'x' })) }),
    });
    expect(read.kind === 'findings' && read.findings.length).toBe(1000);
  });

  test.each([
    { detail: 'x'.repeat(1_000_000) },
    { schema_errors: [{ message: 'x'.repeat(1_000_000) }] },
    { schema_errors: ['x'.repeat(1_000_000)] },
    { validation_errors: [{ code: 'x'.repeat(1_000_000) }] },
  ])('about an error of a million letters is cut (%#)', (said) => {
    expect(JSON.stringify(parseErrorBody({ body: toBytes(said) })).length).toBeLessThan(3000);
  });

  test('never repeats a secret', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 6, maxLength: 40 }), fc.string(), fc.string(), (secret, before, after) => {
        const { body, headers } = createRedactor([secret])({
          status: 500,
          headers: { 'x-echo': secret + after },
          body: Buffer.from(before + secret + after),
        });
        // Masks beside one another may spell a secret that is made of asterisks.
        fc.pre(!secret.includes('*'));
        expect(body.toString()).not.toContain(secret);
        expect(headers['x-echo']).not.toContain(secret);
      }),
    );
  });
});

function signingIn(status: number, said: object | string) {
  const kept: string[] = [];
  const session = openSession({
    ...{ baseUrl: 'https://x.example', username: 'eva', password: 'a long password' },
    keeper: { read: () => undefined, write: (token) => void kept.push(token) },
    send: answering({ status, body: typeof said === 'string' ? Buffer.from(said) : toBytes(said) }),
  });
  return { session, kept };
}

function toBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
