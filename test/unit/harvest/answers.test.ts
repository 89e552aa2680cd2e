import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type PasError, UsageError } from '../../../src/base/errors.ts';
import { openOaiClient } from '../../../src/harvest/client.ts';
import {
  type HttpResponse,
  TransportError,
  WEB_PAGE_ADVICE,
} from '../../../src/service/http/exchange.ts';
import {
  answer,
  listXml,
  OAI_BASE,
  oaiError,
  oaiXml,
  recordXml,
  scripted,
} from '../../support/scripted-oai.ts';
import { makeClient, RECORDS, readPage } from './scripted-client.ts';

const ENDPOINT = `${OAI_BASE}/2.2/oai`;
const PAGE = listXml('ListRecords', [recordXml('A')]);

async function catchFailure(step: HttpResponse | string | Error): Promise<PasError> {
  const failure = await readPage(step).then(
    () => undefined,
    (thrown: unknown) => thrown as PasError,
  );
  if (failure === undefined) throw new Error('it was read');
  return failure;
}

const typed = (type: string, body: string | Buffer): HttpResponse =>
  answer(body, { headers: { 'content-type': type } });

describe('an invalid answer', () => {
  const FIREWALL = String(WEB_PAGE_ADVICE);
  const AGAIN =
    'Run the command again; what was stored is kept. If it happens again, tell the operator of the service.';
  const SIGN_IN = 'Check username and oai_auth in the profile, then run `pas login`.';
  const ADDRESS =
    'Check oai_base in the profile. A training instance has no harvesting interface: use the production one.';
  const root = (name: string, namespace: string) => `<${name} xmlns="${namespace}"/>`;
  const stray = (inner: string) => oaiXml(inner);

  test.each<[string, HttpResponse | string | Error, string, string | undefined]>([
    ['401', answer('', { status: 401 }), `${ENDPOINT} refuses this account (status 401).`, SIGN_IN],
    [
      '408',
      answer('', { status: 408 }),
      `${ENDPOINT} is closed or overloaded (status 408).`,
      AGAIN,
    ],
    [
      '499',
      answer('', { status: 499 }),
      `${ENDPOINT} answered with status 499, not with OAI-PMH.`,
      ADDRESS,
    ],
    [
      'packed, but no success',
      answer(gzipSync(PAGE).subarray(0, 15), { status: 404 }),
      `${ENDPOINT} answered with status 404, not with OAI-PMH.`,
      ADDRESS,
    ],
    ['nothing', '', `${ENDPOINT} sent an empty answer.`, AGAIN],
    [
      'another root',
      root('html', 'urn:x'),
      `${ENDPOINT} answered with <html xmlns="urn:x">, not with OAI-PMH. It is a web page, as a firewall or the sign-in page of a network sends.`,
      FIREWALL,
    ],
    [
      'its root in another namespace',
      root('OAI-PMH', 'urn:x'),
      `${ENDPOINT} answered with <OAI-PMH xmlns="urn:x">, not with OAI-PMH.`,
      AGAIN,
    ],
    [
      'two lists',
      oaiXml('<ListRecords/><ListRecords/>'),
      `${ENDPOINT} sent an answer in which <ListRecords> is missing, repeated, invalid or misplaced.`,
      AGAIN,
    ],
    [
      'two tokens',
      oaiXml('<ListRecords><resumptionToken/><resumptionToken>T</resumptionToken></ListRecords>'),
      `${ENDPOINT} sent an answer in which <resumptionToken> is missing, repeated, invalid or misplaced.`,
      AGAIN,
    ],
    [
      'text behind the root',
      `${PAGE}<p>Bye`,
      `^${ENDPOINT} sent XML that cannot be read: [^,]* \\(line 6, byte 441\\)\\.$`,
      AGAIN,
    ],
    [
      'another verb',
      oaiXml('<Identify/>'),
      `${ENDPOINT} sent an answer in which <ListRecords> is missing, repeated, invalid or misplaced.`,
      AGAIN,
    ],
    [
      'no date',
      oaiXml('<ListRecords/>').replace(/<responseDate>.*<\/responseDate>/, ''),
      `${ENDPOINT} sent an answer in which <responseDate> is missing, repeated, invalid or misplaced.`,
      AGAIN,
    ],
    [
      'a token beside the list',
      stray('<ListRecords/><resumptionToken>T</resumptionToken>'),
      `${ENDPOINT} sent an answer in which <resumptionToken> is missing, repeated, invalid or misplaced.`,
      AGAIN,
    ],
    [
      'a token of another namespace in the list',
      stray('<ListRecords><resumptionToken xmlns="urn:x">T</resumptionToken></ListRecords>'),
      `${ENDPOINT} sent an answer in which <resumptionToken> is missing, repeated, invalid or misplaced.`,
      AGAIN,
    ],
    [
      'XML that is cut',
      PAGE.slice(0, PAGE.indexOf('<metadata>')),
      `^${ENDPOINT} sent XML that cannot be read: .*, in the record ${OAI_BASE}/id/A\\.$`,
      AGAIN,
    ],
    [
      'XML that is none',
      'no',
      `^${ENDPOINT} sent XML that cannot be read: .* \\(line 1, byte 0\\)\\.$`,
      AGAIN,
    ],
    [
      'damaged bytes',
      answer(gzipSync(PAGE).subarray(0, 40)),
      `^${ENDPOINT} sent a damaged or oversized gzip answer: .+\\.$`,
      AGAIN,
    ],
    [
      'silence',
      new TransportError('timeout', true, 'too slow'),
      `${ENDPOINT} did not answer: too slow.`,
      AGAIN,
    ],
    [
      'too much',
      new TransportError('too-large', true, 'larger than 5 MB'),
      `${ENDPOINT}: larger than 5 MB.`,
      AGAIN,
    ],
    [
      'an error that the protocol has',
      oaiError('badVerb', ' Illegal verb '),
      `${ENDPOINT} answered with an error: badVerb: Illegal verb.`,
      'Check oai_base in the profile.',
    ],
    [
      'an error without words',
      oaiError('idDoesNotExist'),
      `${ENDPOINT} answered with an error: idDoesNotExist.`,
      'Check the identifier.',
    ],
    [
      'an error of its own',
      oaiError('outOfCoffee', 'sorry'),
      `${ENDPOINT} answered with an error: outOfCoffee: sorry.`,
      AGAIN,
    ],
    [
      'an error with the name of a method',
      oaiError('toString'),
      `${ENDPOINT} answered with an error: toString.`,
      AGAIN,
    ],
    [
      'an error without a code',
      oaiXml('<error>sorry</error>'),
      `${ENDPOINT} answered with an error: sorry.`,
      AGAIN,
    ],
    [
      'two errors',
      oaiXml(
        '<error code="noRecordsMatch"/><error code="badArgument">set</error><error code="badArgument"> until </error>',
      ),
      `${ENDPOINT} answered with an error: noRecordsMatch: set: until.`,
      AGAIN,
    ],
  ])('%s', async (_, step, message, hint) => {
    const failure = await catchFailure(step);
    if (message.startsWith('^')) expect(failure.message).toMatch(new RegExp(message));
    else expect(failure.message).toBe(message);
    expect(failure.hint === undefined ? undefined : String(failure.hint)).toBe(hint);
    if (step instanceof Error) expect(failure.cause).toBe(step);
  });

  test('to a token is never an empty list', async () => {
    const listing = makeClient(scripted(oaiError('noRecordsMatch'))).listRecords({
      resumptionToken: 'T',
    });
    await expect(listing).rejects.toMatchObject({ oaiCode: 'noRecordsMatch' });
  });

  test('is not requested for an invalid request', async () => {
    const exchange = scripted(PAGE);
    await expect(makeClient(exchange).listRecords({})).rejects.toBeInstanceOf(UsageError);
    expect(exchange.requests).toEqual([]);
  });

  test('another kind of error stays what it is', async () => {
    const fault = new RangeError('a fault');
    await expect(readPage(fault)).rejects.toBe(fault);
  });
});

describe('the encoding of an answer', () => {
  const named = (value: string) =>
    listXml('ListRecords', [recordXml('A', `<x xmlns="urn:x">${value}</x>`)]);
  test.each<[string, string]>([
    ['text/xml;charset=utf-8', 'UTF-8'],
    ['text/xml; charset="UTF8"', 'utf-8'],
    ['text/xml;\tCharset = Utf-8', 'UTF-8'],
    ['text/xml', 'UTF-8'],
  ])('%s decodes %s', async (type, declared) => {
    const body = named('č').replace('encoding="UTF-8"', `encoding='${declared}'`);
    expect((await readPage(typed(type, body))).items).toHaveLength(1);
  });

  test.each(['ISO-8859-1', 'windows-1250', 'us-ascii'])(
    'UTF-8 is read as such although the header says %s',
    async (charset) => {
      const body = named('č').replace(' encoding="UTF-8"', '');
      const { items } = await readPage(typed(`text/xml;charset=${charset}`, body));
      expect(items[0]?.element.children[1]?.children[0]?.text).toBe('č');
    },
  );

  test('that is not UTF-8 must be declared in the answer itself', async () => {
    const body = Buffer.from(named('č').replace('č', '\u00e8'), 'latin1');
    const { message } = await catchFailure(typed('text/xml;charset=iso-8859-2', body));
    expect(message).toContain('this byte is not UTF-8');
    const declared = body.toString('latin1').replace('UTF-8', 'iso-8859-2');
    const { items } = await readPage(typed('text/xml', Buffer.from(declared, 'latin1')));
    expect(items[0]?.element.children[1]?.children[0]?.text).toBe('č');
  });

  test.each(['no-encoding="klingon"', '?xml encoding="klingon"?'])(
    '%s declares no encoding',
    async (text) => {
      const body = PAGE.replace(' encoding="UTF-8"', '').replace('?>', `?><!-- ${text} -->`);
      expect((await readPage(typed('text/xml', body))).items).toHaveLength(1);
    },
  );

  test('compressed bytes are recognised by two bytes, and a page may compress well', async () => {
    const large = gzipSync(named('a'.repeat(900_000)));
    expect((await readPage(answer(large))).items).toHaveLength(1);
    for (const first of [
      [0x1f, 0x20],
      [0x20, 0x8b],
    ])
      expect((await catchFailure(answer(Buffer.from([...first, 0])))).message).toMatch(
        /XML that cannot be read/,
      );
  });

  test('no more is unpacked than the limit', async () => {
    const small = openOaiClient({
      oaiBase: OAI_BASE,
      version: '2.2',
      credentials: { kind: 'none' } as const,
      maxAnswerBytes: 1000,
      exchange: scripted(answer(gzipSync(named('a'.repeat(2000))))),
    });
    await expect(small.listRecords(RECORDS)).rejects.toThrow(/damaged or oversized gzip/);
  });
});

describe('a request', () => {
  test('with a sign-in removes it from a compressed answer as well', async () => {
    const secret = Buffer.from('eva:secret').toString('base64');
    const packed = answer(
      gzipSync(listXml('ListRecords', [recordXml('A', `<x xmlns="urn:x">${secret}</x>`)])),
    );
    const client = makeClient(scripted(packed), {
      kind: 'basic',
      username: 'eva',
      password: 'secret',
    });
    expect((await client.listRecords(RECORDS)).document.bytes.toString()).not.toContain(secret);
  });
});
