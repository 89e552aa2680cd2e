import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { INIT_OFFLINE, makeHome, PROJECT } from '../support/run-pas.ts';
import { tempFolder } from '../support/temp-folder.ts';

const ROW = `{ name: 'tvar', kind: 'text', alias: 'shape', requiredFrom: 2, gloss: 'shape of the find' }, `;

/**
 * The program as it would be with one more row in its list of fields, and the element in the
 * schema.
 */
function programWithAnotherField(): {
  readonly folder: string;
  readonly pas: (...args: string[]) => string;
} {
  const copy = join(tempFolder(), 'program');
  mkdirSync(copy);
  for (const name of [
    'bin',
    'dist',
    'schemas',
    'package.json',
    'scripts',
    'src/language',
    'src/report/page',
  ]) {
    cpSync(join(PROJECT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
  insert(join(copy, 'dist', 'src', 'finds', 'fields.js'), /\{\s+name: 'lokalizace'/, ROW);
  insert(
    join(copy, 'schemas', 'svc', '2.2', 'svc.xsd'),
    /<xs:element name="chranene_udaje" type="samostatny_nalez-/,
    '<xs:element name="tvar" type="xs:string" minOccurs="0"/>',
  );
  execFileSync(process.execPath, [join(copy, 'scripts', 'bundle.mjs')]);
  const { env, folder } = makeHome();
  const pas = (...args: string[]): string => {
    const argv = [join(copy, 'bin', 'pas.js'), ...args];
    return execFileSync(process.execPath, argv, {
      env,
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };
  return { folder, pas };
}

function insert(path: string, before: RegExp, text: string): void {
  const whole = readFileSync(path, 'utf8');
  const at = whole.search(before);
  if (at < 0) throw new Error(`${path} has no ${before}`);
  writeFileSync(path, whole.slice(0, at) + text + whole.slice(at));
}

const HEADER =
  'local_id;projekt;stav;geom_system;pristupnost;obdobi;okolnosti;druh_nalezu;specifikace;nalezce;datum_nalezu;hloubka;lokalizace;wkt';
const FIND =
  'C-202400101;2;4326;HES-000864;HES-000018;HES-000044;HES-000023;HES-000139;OS-001507;2024-04-03;35;Pole;POINT (14.4208 50.0871)';

test('an element added to the list of fields is imported, entered, compared, exported, reported and validated', () => {
  const { folder, pas } = programWithAnotherField();
  pas(...INIT_OFFLINE);
  const table = join(tempFolder(), 'finds.csv');
  writeFileSync(table, `${HEADER};shape\nK-1;${FIND};oval\nK-2;${FIND};\n`);

  const imported = JSON.parse(failing(() => pas('import', table, '--json')));
  expect(imported.issues).toContainEqual(
    expect.objectContaining({ find: 'K-2', severity: 'error', rule: 'required', element: 'tvar' }),
  );
  expect(
    pas(
      'add',
      '--same-as',
      'K-1',
      '--set',
      'local_id=K-3',
      '--set',
      'shape=round',
      '--point',
      '50.1 N 14.5 E',
      '--set',
      'depth_cm=5',
    ),
  ).toContain('K-3');

  expect(pas('export', '--format', 'csv')).toMatch(
    /^\W?local_id;.*;tvar;[\s\S]*K-1;.*;oval;[\s\S]*K-3;.*;round;/,
  );
  expect(pas('show', 'K-1', '--xml')).toContain('<svc:tvar>oval</svc:tvar>');
  pas('report', 'report.html');
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain(
    '<dt>shape of the find</dt><dd>oval</dd>',
  );
  expect(pas('show', 'K-3')).toContain('round');

  const other = join(tempFolder(), 'other.csv');
  const changed = FIND.replace('HES-000018', 'HES-000019').replace(';35;', ';60;');
  writeFileSync(other, `${HEADER};shape\nZ-1;${changed};square\n`);
  expect(JSON.parse(pas('import', other, '--json'))).toMatchObject({ added: 1 });
});

function failing(run: () => string): string {
  try {
    return run();
  } catch (thrown) {
    return String((thrown as { stdout: unknown }).stdout);
  }
}
