import { findLines, makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken } from '../support/contract-requests.ts';
import { Described } from '../support/openapi.ts';
import { tinyPng } from '../support/season.ts';
import type { TestMock } from '../support/start-mock.ts';
import { ask, Fuzz, type FuzzRequest, type Known } from './openapi-fuzz.ts';

const USERS = ['researcher', 'archaeologist', 'archivist', 'admin'];
/** The find's record could not be written (README: what the contract does not say). */
const NOT_XML = /evidencni_cislo=[^&]*%(?:0[0-8BCEF]|1[0-9A-F]|EF%BF%B[EF])/i;

/** Outcomes of many requests. */
export type Fuzzed = {
  /** Each with the request that met it. */
  readonly faults: readonly string[];
  /** Count of each status. */
  readonly statuses: Readonly<Record<string, number>>;
};

/** Asks the write interface what its description makes. */
export async function fuzzService(mock: TestMock, count: number, seed: number): Promise<Fuzzed> {
  const tokens = await Promise.all(USERS.map((user) => fetchToken(mock, user)));
  const finds = (
    (await mock.control('GET', '/finds?limit=50')).value as { finds: { ident: string }[] }
  ).finds;
  const documents = [smallestFind(), findLines(1), findLines(2), findLines(3)].map((lines) => ({
    fileName: 'find.xml',
    type: 'application/xml',
    bytes: makeDocument(mock, lines),
  }));
  const photographs = [1, 2].map((size) => ({
    fileName: 'a.png',
    type: 'image/png',
    bytes: tinyPng(size),
  }));
  const knownValues: Known = {
    values: {
      ident_cely: finds.map(({ ident }) => ident),
      evidencni_cislo: ['A 1', 'A 2', 'B/3', ' C  4 '],
      username: USERS,
      password: USERS,
    },
    files: {
      '/api/pas/import-xml': documents,
      '/api/pas/nalez/{ident_cely}/upload-foto': photographs,
    },
    signedIn: tokens.map((token) => ({ Authorization: `Bearer ${token}` })),
  };
  const described = new Described('service');
  return run(mock.url, described, new Fuzz(described, knownValues, seed), count);
}

/** Asks the control interface what its description makes. */
export async function fuzzControl(mock: TestMock, count: number, seed: number): Promise<Fuzzed> {
  const finds = (
    (await mock.control('GET', '/finds?limit=20')).value as { finds: { ident: string }[] }
  ).finds;
  const idents = [...finds.map(({ ident }) => ident), 'HES-000253', 'OS-001507', 'C-202400101'];
  const knownValues: Known = {
    values: {
      ident: idents,
      id: ['1', '2', '5', '40'],
      name: ['one', 'two', 'three'],
      username: USERS,
      user: USERS,
      records: [0, 5],
      organisation: ['ORG-000091'],
      find: idents,
      datestamp: ['2030-01-01T00:00:00Z', '1999-12-31T23:59:59Z'],
      advance_ms: [0, 1000, 86_400_000],
    },
    files: {},
    signedIn: [{}],
  };
  const described = new Described('control');
  const fuzz = new Fuzz(described, knownValues, seed);
  // An operation that empties everything would leave nothing to ask about; thousands of records
  // take seconds, and add nothing.
  const skips = ({ method, target, body }: FuzzRequest, at: number): boolean =>
    (method === 'POST' && target === '/reset' && at % 50 !== 0) ||
    /"records":\d{3}/.test(body?.toString('utf8') ?? '');
  return run(mock.server.control_url, described, fuzz, count, skips);
}

async function run(
  base: string,
  described: Described,
  fuzz: Fuzz,
  count: number,
  skips: (request: FuzzRequest, at: number) => boolean = () => false,
): Promise<Fuzzed> {
  const faults: string[] = [];
  const statuses: Record<string, number> = {};
  for (let at = 0; at < count; at += 1) {
    const request = fuzz.next();
    if (skips(request, at)) continue;
    const answered = await ask(base, request);
    statuses[answered.status] = (statuses[answered.status] ?? 0) + 1;
    const isFailure = answered.status >= 500 && !NOT_XML.test(request.target);
    const fault = isFailure ? `failed with ${answered.status}` : described.fault(answered);
    if (fault !== undefined) faults.push(`${fault} <- ${shown(request)}`);
  }
  return { faults, statuses };
}

function shown({ method, target, headers, body }: FuzzRequest): string {
  return `${method} ${target} ${JSON.stringify(headers)} ${body?.toString('utf8').slice(0, 1500) ?? ''}`;
}
