import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import {
  type Home,
  INIT_OFFLINE,
  makeHome,
  PROJECT,
  signedIn,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { useMock } from '../support/use-mock.ts';

/**
 * Steps of a recipe: a new file, and a row in the list of its kind, before the row that is named.
 */
type Recipe = {
  readonly file: string;
  readonly text: string;
  readonly list: string;
  readonly before: RegExp;
  readonly row: string;
};

const RECIPES: Readonly<Record<string, Recipe>> = {
  'Read another format of tables': {
    file: 'src/tables/formats/tiny-table.ts',
    text: `import { assertTableSize, type Table, makeTableOfRecords } from '../table.ts';

export function readTiny(file: string, bytes: Buffer): Table {
  const lines = bytes.toString('utf8').trim().split('\\n').slice(1);
  assertTableSize(file, { rows: lines.length });
  const records = lines.map((line, index) => ({ row: index + 2, values: new Map([['local_id', line], ['projekt', 'C-202400101']]) }));
  return makeTableOfRecords({ file, unit: 'feature' }, () => records);
}
`,
    list: 'src/tables/readers.ts',
    before: /^ {2}xml: \{/m,
    row: `  tiny: {
    extensions: ['tiny'],
    called: 'TINY',
    signatures: ['TINY'],
    read: async ({ file, bytes }) => (await import('./formats/tiny-table.ts')).readTiny(file, bytes),
  },
`,
  },
  'Write finds in another form': {
    file: 'src/tables/exports/tiny-rows.ts',
    text: `import type { ExportedFind } from './exported-find.ts';

export function* tinyRows(finds: Iterable<ExportedFind>): Generator<readonly string[]> {
  yield ['number'];
  for (const { localId } of finds) yield [localId];
}
`,
    list: 'src/tables/exports/exporters.ts',
    before: /^ {2}qgis: \{/m,
    row: `  tiny: {
    summary: 'a list of numbers',
    formats: ['csv', 'xlsx'],
    isAtService: false,
    render: async (finds, source) => renderRows((await import('./tiny-rows.ts')).tinyRows(finds), source),
  },
`,
  },
  'Make a form for another program on phones': {
    file: 'src/tables/forms/make-tiny-form.ts',
    text: `import { writeOutputFile } from '../../base/disk/output-file.ts';
import { type FieldFormRequest, makeFormLists } from './form-lists.ts';

export async function makeTinyForm({ destination, overwrite, vocabulary, rules }: FieldFormRequest): Promise<readonly string[]> {
  await writeOutputFile(destination, [...makeFormLists(vocabulary, rules).keys()].map((name) => name + '\\n'), { overwrite });
  return [destination];
}
`,
    list: 'src/tables/forms/field-tools.ts',
    before: /^ {2}qfield: /m,
    row: "  tiny: async (request) => (await import('./make-tiny-form.ts')).makeTinyForm(request),\n",
  },
};

const mock = useMock();
let copy: string;

beforeAll(() => {
  copy = join(tempFolder(), 'program');
  mkdirSync(copy);
  const parts = [
    'bin',
    'dist',
    'examples',
    'mock-server',
    'schemas',
    'scripts',
    'src',
    'test/conformance',
    'package.json',
  ];
  for (const name of [...parts, 'tsconfig.json', 'tsconfig.build.json'])
    cpSync(join(PROJECT, name), join(copy, name), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
  for (const { file, text, list, before, row } of Object.values(RECIPES)) {
    writeFileSync(join(copy, file), text);
    const rows = readFileSync(join(copy, list), 'utf8');
    const at = rows.search(before);
    if (at < 0) throw new Error(`${list} has no ${before}`);
    writeFileSync(join(copy, list), rows.slice(0, at) + row + rows.slice(at));
  }
  const compiler = join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc');
  const flags = ['-p', 'tsconfig.build.json', '--noCheck', 'false', '--declaration', 'false'];
  expect(
    spawnSync(process.execPath, [compiler, ...flags], { cwd: copy, encoding: 'utf8' }),
  ).toMatchObject({
    stdout: '',
    status: 0,
  });
  expect(
    spawnSync(process.execPath, [join(copy, 'scripts', 'bundle.mjs')], { encoding: 'utf8' }),
  ).toMatchObject({ status: 0 });
});

/** @returns what the changed program prints, however it ends */
function runIn({ env, folder }: Home, ...args: readonly string[]): Promise<string> {
  const argv = [join(copy, 'bin', 'pas.js'), ...args];
  return new Promise((done) => {
    execFile(process.execPath, argv, { env, cwd: folder }, (_, stdout, stderr) =>
      done(stdout || stderr),
    );
  });
}

test.each(Object.entries(RECIPES))(
  'the recipe “%s” names the file and the list to change, and no other source',
  (title, { file, list }) => {
    const [, section = ''] = readFileSync(join(PROJECT, 'CONTRIBUTING.md'), 'utf8').split(
      `\n## ${title}\n`,
    );
    const [steps = ''] = section.split(/^## /m);
    const named = [...steps.matchAll(/^\d\. `(src\/[\w/-]+\.ts)`/gm)].map(([, path = '']) =>
      path.replace('NAME', 'tiny'),
    );
    expect(named).toEqual([file, list]);
  },
);

test('a table format added by its recipe is imported', async () => {
  const home = makeHome();
  await runIn(home, ...INIT_OFFLINE);
  await runIn(home, 'import', home.file('finds.tiny', 'TINY\nT-1\nT-2\n'), '--set', 'stav=1');
  expect(await runIn(home, 'list')).toMatch(/T-1[\s\S]*T-2/);
  // An export that is added by its recipe is a word of `--for`.
  expect(await runIn(home, 'export', '--for', 'tiny')).toBe('\uFEFFnumber\r\nT-1\r\nT-2\r\n');
});

test('a form added by its recipe is written', async () => {
  const home = await signedIn(mock.service, WITHOUT_PAUSES);
  await home.do('harvest-vocab', 'heslo', 'organizace', 'osoba', '--quiet');
  await runIn(home, 'field', 'make', 'form.tiny', '--for', 'tiny');
  expect(readFileSync(join(home.folder, 'form.tiny'), 'utf8')).toMatch(/^obdobi$/m);
});
