import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { serveMock } from '../support/mock-process.ts';
import { signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** pyxform 4 as one program; it comes with the npm package cht-conf. */
const PYXFORM = 'xls2xform-medic';

/** In CI it may not be missing. */
function hasPyxform(): boolean {
  if (process.env['CI'] !== undefined) return true;
  try {
    const env = { ...process.env, SHIV_ROOT: tempFolder() };
    execFileSync(PYXFORM, ['--help'], { stdio: 'ignore', env });
    return true;
  } catch {
    return false;
  }
}

test.skipIf(!hasPyxform())(
  'pyxform converts a form for ODK without warnings, except that photographs are not resized',
  async () => {
    const service = await serveMock();
    const home = await signedIn(service, WITHOUT_PAUSES);
    await home.do('harvest-vocab', '--quiet');
    const workbook = join(home.folder, 'finds.xlsx');
    const xform = join(tempFolder(), 'form.xml');
    await home.do('field', 'make', workbook, '--for', 'odk');
    await service.stop();
    const { stdout, stderr } = await promisify(execFile)(
      PYXFORM,
      ['--skip_validate', '--json', workbook, xform],
      { env: { ...process.env, SHIV_ROOT: tempFolder(), PYTHONIOENCODING: 'utf-8' } },
    );
    const line = `${stdout}\n${stderr}`.split('\n').findLast((each) => each.startsWith('{'));
    const { code, warnings } = JSON.parse(line ?? '{}') as { code: number; warnings: string[] };
    expect(code).toBe(101);
    expect(warnings.filter((warning) => !warning.includes('max-pixels'))).toEqual([]);
    const text = readFileSync(xform, 'utf8');
    expect(text).toContain('<translation lang="Čeština (cs)" default="true()">');
    expect(text).toContain('<translation lang="English (en)">');
  },
);
