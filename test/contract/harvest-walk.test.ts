import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Validator } from '../../src/base/xml/xsd.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';
import { ask, fetchPages, parseError, parseHeaders } from './raw-harvest.ts';
import {
  answerValidator,
  faults,
  SCHEMA_BASE,
  SCHEMA_VERSIONS,
  type SchemaVersion,
} from './schema-validators.ts';

// Every verb and error in each version; every set and format in the newest one, also as roles that
// see less. Each answer must be valid against the schema of OAI-PMH, of Dublin Core or of the
// version that was asked.

let mock: TestMock;
/** As the schema wants it; what is written otherwise is told apart. */
const TIME = /(?<=<responseDate>|expirationDate=")\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
const validators = new Map<SchemaVersion, Validator>();
/** Valid answers without their time. Most are the same for several roles. */
const valid = new Set<string>();
let answers = 0;

beforeAll(async () => {
  mock = await startMock();
  for (const version of SCHEMA_VERSIONS) validators.set(version, await answerValidator(version));
});
afterAll(async () => {
  await mock.close();
  process.stdout.write(`harvest walk: ${answers} answers, ${valid.size} of them validated\n`);
});

function expectValid(version: SchemaVersion, text: string): void {
  const validator = validators.get(version);
  if (validator === undefined) throw new Error(`no validator for ${version}`);
  answers += 1;
  const timeless = version + text.replaceAll(TIME, '');
  if (valid.has(timeless)) return;
  expect(
    faults(validator, text.replaceAll(mock.server.schema_base, SCHEMA_BASE)).slice(0, 3),
  ).toEqual([]);
  valid.add(timeless);
}

async function listSets(version: SchemaVersion): Promise<string[]> {
  const { text } = await ask(mock, 'verb=ListSets', { version });
  return [...text.matchAll(/<setSpec>([^<]*)</g)].map((match) => match[1] ?? '');
}

describe.each(SCHEMA_VERSIONS)('version %s', (version) => {
  test('the verbs that describe the repository', async () => {
    for (const query of ['verb=Identify', 'verb=ListMetadataFormats', 'verb=ListSets']) {
      const { text } = await ask(mock, query, { version });
      expectValid(version, text);
      expect(text).toMatch(/^<\?xml [^>]+>\n<\?xml-stylesheet /);
    }
  });
});

const NEWEST: SchemaVersion = '2.2';

// Each record of the seed is valid in each version (harvest-seed.test.ts), and answers are made in
// the same way in all of them.
const ROLES = ['anonymous', 'researcher', 'archivist'] as const;

test.each(ROLES)('lists of every set in both formats, as %s', async (as) => {
  for (const set of await listSets(NEWEST)) {
    for (const format of ['oai_dc', 'oai_svc']) {
      const query = `metadataPrefix=${format}&set=${set}`;
      for (const page of await fetchPages(mock, `verb=ListRecords&${query}`, {
        version: NEWEST,
        as,
      }))
        expectValid(NEWEST, page);
    }
    const query = `verb=ListIdentifiers&metadataPrefix=oai_dc&set=${set}`;
    for (const page of await fetchPages(mock, query, { version: NEWEST, as }))
      expectValid(NEWEST, page);
  }
});

test.each(ROLES)('one record of every set, with its formats, as %s', async (as) => {
  for (const set of await listSets(NEWEST)) {
    // View of an archivist; other roles may get the refusal in place of it.
    const { text } = await ask(mock, `verb=ListIdentifiers&metadataPrefix=oai_dc&set=${set}`, {
      version: NEWEST,
      as: 'archivist',
    });
    const identifier = encodeURIComponent(parseHeaders(text)[0]?.identifier ?? '');
    for (const format of ['oai_dc', 'oai_svc']) {
      const query = `verb=GetRecord&metadataPrefix=${format}&identifier=${identifier}`;
      const record = await ask(mock, query, { version: NEWEST, as });
      // Users are hidden from the anonymous: for them there is no such record.
      expect(parseError(record.text)).toBe(
        as === 'anonymous' && set === 'uzivatel' ? 'idDoesNotExist' : undefined,
      );
      expectValid(NEWEST, record.text);
    }
    expectValid(
      NEWEST,
      (
        await ask(mock, `verb=ListMetadataFormats&identifier=${identifier}`, {
          version: NEWEST,
          as,
        })
      ).text,
    );
  }
});
