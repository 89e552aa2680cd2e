import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tempFolder } from '../support/temp-folder.ts';
import { COLUMNS, type RandomRow, randomRow, wrongCells } from '../unit/tables/random-cells.ts';
import { makeWorkbook } from '../unit/tables/random-spreadsheets.ts';
import { readFinds } from '../unit/tables/read-finds.ts';

/** Rows of six random cells each, of every way to write them. */
const ROWS = Number(process.env['CELL_ROWS'] ?? 800);
const SEED = Number(process.env['CELL_SEED'] ?? 41);
/** Decimals in texts have the separator of the computer that wrote them. */
const withPoints = (text: string): string => text.replace(/(?<=\d),(?=\d)/g, '.');

const sample = (seed: number, sound = false): RandomRow[] =>
  fc.sample(sound ? randomRow.filter(isSound) : randomRow, { numRuns: ROWS, seed: SEED + seed });

/**
 * A spreadsheet that computes and formats again leaves no formula without its result, and has
 * errors of its own.
 */
function isSound(row: RandomRow): boolean {
  return COLUMNS.every((column) =>
    ['text', 'number', 'day', 'truth'].includes(row[column].stored.kind),
  );
}

function runs(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const PYTHON = process.env['PYTHON'] ?? 'python3';
const hasOpenpyxl = runs(PYTHON, '-c', 'import openpyxl');
const hasOffice = runs('soffice', '--version');
const hasGdal = runs('ogr2ogr', '--version');

const WRITE = `
import json, sys
from datetime import datetime, timedelta
from openpyxl import Workbook
path, columns, rows = json.load(sys.stdin)
book = Workbook()
sheet = book.active
sheet.append(['local_id'] + columns + ['lat'])
for number, row in enumerate(rows, start=2):
    sheet.cell(number, 1, 'R-%d' % number)
    sheet.cell(number, len(columns) + 2, 49.84)
    for place, name in enumerate(columns, start=2):
        stored, cell = row[name]['stored'], sheet.cell(number, place)
        kind = stored['kind']
        if kind == 'day': cell.value = datetime(1899, 12, 30) + timedelta(days=stored['days'])
        elif kind == 'number': cell.value = stored['value']
        elif kind == 'truth': cell.value = stored['isTrue']
        elif kind == 'unsaved': cell.value = '=B1'
        else: cell.value = stored['text']
        cell.number_format = row[name]['format']
book.save(path)
`;

describe('a cell that another program wrote is queued as intended, or named in an issue', () => {
  test('as Excel writes it', async () => {
    const rows = sample(1);
    expect(wrongCells(rows, await readFinds('season.xlsx', makeWorkbook(rows)))).toEqual([]);
  });

  test.skipIf(!hasOpenpyxl)('by openpyxl', async () => {
    const rows = sample(3);
    const path = join(tempFolder(), 'season.xlsx');
    execFileSync(PYTHON, ['-c', WRITE], { input: JSON.stringify([path, COLUMNS, rows]) });
    expect(wrongCells(rows, await readFinds(path, readFileSync(path)))).toEqual([]);
  });

  test.skipIf(!hasOffice)('by LibreOffice', async () => {
    const rows = sample(4, true);
    const folder = tempFolder();
    writeFileSync(join(folder, 'season.xlsx'), makeWorkbook(rows));
    const out = join(folder, 'out');
    const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
    execFileSync(
      'soffice',
      [profile, '--headless', '--convert-to', 'xlsx', '--outdir', out, join(folder, 'season.xlsx')],
      {
        stdio: 'ignore',
      },
    );
    const path = join(out, 'season.xlsx');
    expect(wrongCells(rows, await readFinds(path, readFileSync(path)), withPoints)).toEqual([]);
  });

  test.skipIf(!hasGdal).each([
    ['XLSX', 'xlsx'],
    ['GPKG', 'gpkg'],
    ['CSV', 'csv'],
  ])('by GDAL as %s', async (driver, ending) => {
    const text = fc.constantFrom('spona', '00012', '12.10', 'A 12/24', '1-2', 'Šárka');
    const day = fc
      .integer({ min: 10_958, max: 19_000 })
      .map((days) => new Date(days * 86_400_000).toISOString().slice(0, 10));
    const find = fc.record({
      poznamka: text,
      hloubka: fc.integer({ min: 0, max: 500 }),
      datum_nalezu: day,
      evidencni_cislo: text,
    });
    const finds = fc.sample(find, { numRuns: ROWS, seed: SEED });
    const features = finds.map((properties, index) => ({
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [15, 49.8] },
      properties: { local_id: `R-${index}`, ...properties },
    }));
    const folder = tempFolder();
    writeFileSync(
      join(folder, 'season.geojson'),
      JSON.stringify({ type: 'FeatureCollection', features }),
    );
    const path = join(folder, `out.${ending}`);
    execFileSync('ogr2ogr', ['-f', driver, path, join(folder, 'season.geojson')], {
      stdio: 'ignore',
    });
    const { finds: read, issues } = await readFinds(path, readFileSync(path));
    expect(issues.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(
      read.map(({ elements: { poznamka, hloubka, datum_nalezu, evidencni_cislo } }) => ({
        poznamka,
        hloubka,
        datum_nalezu,
        evidencni_cislo,
      })),
    ).toEqual(finds);
  });
});
