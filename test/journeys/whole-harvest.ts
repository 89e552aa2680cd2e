import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchPages, parseRecords } from '../contract/raw-harvest.ts';
import { type Home, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';

/** One line of `pas harvest … --out FILE.jsonl`. */
export type Line = {
  readonly identifier: string;
  readonly deleted?: true;
  readonly masked?: true;
  readonly sets: readonly string[];
  readonly metadata?: Record<string, unknown>;
};
export type HarvestSummary = {
  readonly records: number;
  readonly written: number;
  readonly deleted: number;
  readonly masked: number;
  readonly held: number;
};

export const REFUSAL = 'HTTP/1.1 403 Forbidden';

export const lines = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
export const readLines = (home: Home, name: string): Line[] =>
  lines(readFileSync(join(home.folder, name), 'utf8'));
export const getIdent = ({ identifier }: Line): string => identifier.split('/').at(-1) ?? '';

/** Every record that the mock lists, as the text between its tags, by identifier. */
export async function served(
  mock: TestMock,
  set: string,
  prefix: string,
  options: { version?: string; as?: string } = {},
) {
  const pages = await fetchPages(
    mock,
    `verb=ListRecords&metadataPrefix=${prefix}&set=${set}`,
    options,
  );
  return new Map(pages.flatMap((page) => [...parseRecords(page)]));
}

/**
 * That every set is harvested whole, in both forms of output. Half of it is starting pas, so each
 * version is asked for by name.
 */
export function testWholeHarvests(...versions: readonly string[]): void {
  describe.each(
    versions.flatMap((version) => [
      { version, manner: 'in strict mode', deployed: false },
      { version, manner: 'as deployed', deployed: true },
    ]),
  )('a service $manner in version $version', ({ version, deployed }) => {
    let mock: TestMock;
    let home: Home;
    beforeAll(async () => {
      mock = await startMock({ deployed, pageSize: 20 });
      home = await signedIn(mock.server, [...WITHOUT_PAUSES, '--set', `schema_version=${version}`]);
      for (const ident of ['HES-000300', 'HES-000301'])
        await mock.control('POST', `/records/${ident}/delete`);
    });
    afterAll(() => mock.close());

    test.each([
      ['heslo', 'oai_svc'],
      ['samostatny_nalez', 'oai_svc'],
      ['samostatny_nalez', 'oai_dc'],
      ['dokument', 'oai_svc'],
    ])(
      'gives its set %s in %s whole, as lines and as the bytes that it sent',
      async (set, prefix) => {
        const expected = await served(mock, set, prefix, { version, as: 'archaeologist' });
        const flags = ['--format', prefix];
        const [name, xml] = ['jsonl', 'xml'].map(
          (ending) => `${set}-${prefix}-${version}.${ending}`,
        );
        const summary = await home.json<HarvestSummary>(
          'harvest',
          set,
          ...flags,
          '--out',
          name ?? '',
        );
        expect(summary).toMatchObject({
          records: expected.size,
          written: expected.size,
          held: expected.size,
        });
        const lines = readLines(home, name ?? '');
        expect(lines.map(getIdent).sort()).toEqual([...expected.keys()].sort());
        for (const line of lines) {
          const source = expected.get(getIdent(line)) ?? '';
          expect(line.deleted === true).toBe(source.includes('status="deleted"'));
          expect(JSON.stringify(line)).not.toContain(REFUSAL);
          expect(JSON.stringify(line).includes('"masked":true')).toBe(source.includes(REFUSAL));
        }
        const run = await home.pas('harvest', set, ...flags, '--out', xml ?? '');
        expect(run.code, run.stderr).toBe(0);
        expect(parseRecords(readFileSync(join(home.folder, xml ?? ''), 'utf8'))).toEqual(expected);
      },
    );
  });
}
