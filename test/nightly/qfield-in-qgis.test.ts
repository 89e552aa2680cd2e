import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MockProcess, startMockProcess } from '../support/mock-process.ts';
import { type Home, PROJECT, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';

const run = promisify(execFile);
const MUCH_OUTPUT = {
  maxBuffer: 64 * 1024 * 1024,
  env: { ...process.env, QT_QPA_PLATFORM: 'offscreen' },
};
/** The system's own, for which Debian's QGIS is made. */
const PYTHON = '/usr/bin/python3';
const SCRIPT = join(PROJECT, 'test/nightly/qgis_form.py');

/** A missing QGIS is reported by the test; in CI it fails. */
const hasQgis = process.env['CI'] !== undefined || isThere();

function isThere(): boolean {
  try {
    execFileSync(PYTHON, ['-c', 'import qgis.gui'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function qgis<T>(...args: string[]): Promise<T> {
  const { stdout } = await run(PYTHON, [SCRIPT, ...args], MUCH_OUTPUT);
  return JSON.parse(stdout) as T;
}

type Checked = {
  readonly read: boolean;
  readonly messages: readonly string[];
  readonly shown: readonly string[];
  readonly widgets: number;
  readonly error: string;
  readonly layers: Readonly<Record<string, boolean>>;
  readonly network: readonly string[];
  readonly systems: readonly string[];
  readonly relations: readonly boolean[];
  readonly values: Readonly<
    Record<string, { readonly resolves: boolean; readonly choices: number }>
  >;
  readonly broken: readonly string[];
  readonly beginning: Readonly<Record<string, unknown>>;
  readonly missing: Readonly<Record<string, readonly string[]>>;
  readonly registered: Readonly<Record<string, readonly string[]>>;
  readonly attachment: string;
  readonly attachments: readonly string[];
  readonly themes: readonly string[];
};

type Answers = Readonly<Record<string, string | number | boolean>>;
type Collected = {
  readonly local_id: string;
  readonly answers: Answers;
  readonly photos: readonly string[];
};
type Listed = { readonly local_id: string; readonly elements: Readonly<Record<string, unknown>> };

describe.skipIf(!hasQgis)(
  'a form for QField in QGIS (Debian python3-qgis; skipped where it is not installed)',
  () => {
    let service: MockProcess;
    let home: Home;

    beforeAll(async () => {
      service = await startMockProcess('--min-interval', '0');
      home = await signedIn(service, WITHOUT_PAUSES);
      await home.do('harvest-vocab');
      await home.do('harvest-vocab', 'projekt');
    });
    afterAll(() => service.stop());

    async function makeForm(name: string, ...flags: string[]): Promise<string> {
      const folder = join(home.folder, name);
      await home.do(
        'field',
        'make',
        folder,
        '--for',
        'qfield',
        '--set',
        'projekt=C-202400101',
        '--set',
        'nalezce=OS-001507',
        ...flags,
      );
      return folder;
    }

    test.each(['en', 'cs'])('is read without a warning, in %s, and offline', async (language) => {
      const checked = await qgis<Checked>(
        'check',
        await makeForm(`form-${language}`, '--lang', language),
      );
      expect(checked).toMatchObject({
        read: true,
        messages: [],
        error: '',
        network: [],
        broken: [],
        systems: ['EPSG:4326'],
      });
      // An empty find in the form of widgets, of which QGIS says so.
      expect(checked.shown.join()).toMatch(
        /^Messages: Changes to this form will not be saved. 6 field\(s\) don't meet their constraints.$/,
      );
      expect(checked.widgets).toBeGreaterThan(50);
      expect(Object.values(checked.layers).every(Boolean)).toBe(true);
      expect(Object.keys(checked.layers)).toHaveLength(10);
      expect(checked.relations).toEqual([true]);
      expect(checked).toMatchObject({ attachment: 'ExternalResource', attachments: ['DCIM'] });
      expect(checked.themes).toHaveLength(1);
    });

    test('has its lists resolved, its default values and its constraints', async () => {
      const { values, beginning, missing, registered } = await qgis<Checked>(
        'check',
        await makeForm('form'),
      );
      expect(Object.keys(values).sort()).toEqual([
        'druh_nalezu',
        'nalezce',
        'obdobi',
        'okolnosti',
        'predano_organizace',
        'pristupnost',
        'projekt',
        'specifikace',
      ]);
      for (const { resolves, choices } of Object.values(values)) {
        expect(resolves).toBe(true);
        expect(choices).toBeGreaterThan(2);
      }
      expect(beginning).toMatchObject({
        projekt: 'C-202400101',
        nalezce: 'OS-001507',
        stav: 2,
        geom_system: '4326',
      });
      expect(beginning['local_id']).toMatch(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
      expect(beginning['datum_nalezu']).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      // Elements that `pas validate` requires for state 2, and the accessibility that every find
      // has; for state 1 nothing more.
      expect(Object.keys(missing).sort()).toEqual([
        'druh_nalezu',
        'hloubka',
        'lokalizace',
        'obdobi',
        'okolnosti',
        'pristupnost',
        'specifikace',
      ]);
      expect(missing['hloubka']?.join()).toContain('A find for state 2 needs hloubka');
      expect(registered).toEqual({});
    });

    test('returns 500 finds with 1,000 photographs exactly, and a second import changes nothing', async () => {
      const folder = await makeForm('season');
      const collected = await qgis<Collected[]>('fill', folder, '500', '1000', '5');
      // As a program leaves it that was not closed.
      expect(existsSync(join(folder, 'finds.gpkg-wal'))).toBe(true);
      const first = await home.json('import', folder);
      expect(first).toMatchObject({
        added: 500,
        updated: 0,
        invalid: 0,
        drafts: 0,
        photos: 1000,
        issues: [],
      });
      expect(await home.json('import', folder)).toMatchObject({
        added: 0,
        updated: 0,
        unchanged: 500,
        photos: 0,
        issues: [],
      });
      const listed = new Map(
        (await home.json<Listed[]>('list')).map((find) => [find.local_id, find.elements]),
      );
      for (const { local_id, answers } of collected)
        expect(said(listed.get(local_id))).toEqual(answers);
      const out = join(home.folder, 'back.geojson');
      await home.do('export', '--out', out);
      const { features } = JSON.parse(readFileSync(out, 'utf8')) as {
        features: { properties: { local_id: string; photos?: string } }[];
      };
      const photos = new Map(
        features.map(({ properties }) => [
          properties.local_id,
          (properties.photos ?? '').split(';').sort(),
        ]),
      );
      for (const find of collected)
        expect(photos.get(find.local_id)).toEqual([...find.photos].sort());
    });

    test('is read while QGIS holds it open', async () => {
      const folder = await makeForm('open');
      const held = spawn(PYTHON, [SCRIPT, 'hold', folder], {
        ...MUCH_OUTPUT,
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      const [find] = await new Promise<Collected[]>((done, fail) => {
        let text = '';
        held.stdout.on('data', (chunk: Buffer) => {
          text += chunk.toString('utf8');
          if (text.endsWith('\n')) done(JSON.parse(text) as Collected[]);
        });
        held.once('exit', () => fail(new Error('QGIS ended')));
      });
      const report = await home.json('import', join(folder, 'finds.gpkg'));
      held.stdin.end();
      expect(report).toMatchObject({ added: 1, issues: [] });
      expect((await home.json<Listed[]>('list')).map(({ local_id }) => local_id)).toContain(
        find?.local_id,
      );
    });

    test('is exported with a style that QGIS applies by itself, and reimported without a change', async () => {
      const out = join(home.folder, 'season.gpkg');
      await home.do('export', '--for', 'qgis', '--where', 'state=queued', '--out', out);
      const styled = await qgis<{ shown: string[][] }>('styled', out);
      expect(styled).toMatchObject({
        valid: true,
        renderer: 'categorizedSymbol',
        labels: true,
      });
      expect(new Set(styled.shown.map(([, state]) => state))).toEqual(new Set(['queued']));
      expect(
        styled.shown.every(([, , label = '']) => label !== '' && !label.startsWith('HES-')),
      ).toBe(true);
      const { added, updated, unchanged, photos } = await home.json<Record<string, number>>(
        'import',
        out,
      );
      expect({ added, updated, unchanged, photos }).toEqual({
        added: 0,
        updated: 0,
        unchanged: styled.shown.length,
        photos: 0,
      });
    });
  },
);

/** A find's elements as the widgets of the form took them. */
function said(elements: Readonly<Record<string, unknown>> = {}): Answers {
  const { geom_wkt: point, ...others } = elements;
  const [, x = '', y = ''] = /^POINT \(?(\S+) (\S+)\)$/.exec(String(point)) ?? [];
  const answers = Object.entries(others).map(([name, value]) => [
    name,
    typeof value === 'object' ? getCell(value) : value,
  ]);
  return { ...Object.fromEntries(answers), x, y };
}

function getCell(value: unknown): unknown {
  const { id, text } = value as { id: string; text: string };
  return id === ':tba' ? text : id;
}
