import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../src/store/database.ts';
import { tinyPng, writeSeason } from '../support/a-season.ts';
import { damage } from '../support/hostile-disk.ts';
import { expectDone, type Home, type Run } from '../support/run-pas.ts';
import type { Planned } from './finish.ts';
import type { Stage } from './stage.ts';

/** A command, what there is before it, and what must hold when it was struck: each is told once the disk is well again. */
export type Story = {
  readonly command: string;
  readonly args: readonly string[];
  prepare(home: Home, stage: Stage): Promise<void>;
  /** What is wrong right after the struck run, in words. */
  look?(home: Home, run: Run): string[];
  /** What the service must hold in the end, after the command was run once more and all was pushed. */
  planned(home: Home): readonly Planned[];
  /** What is wrong with the command's own result, after it was run once more. */
  result?(home: Home, stage: Stage): string[];
};

/** The first finds of the season. */
export function finds(count: number, { photos = true, numbered = 0 } = {}): Planned[] {
  return Array.from({ length: count }, (_, index) => ({
    localId: `K-${index + 1}`,
    note: `nález ${index + 1}`,
    number: index < numbered ? `A ${index + 1}` : '',
    photos: photos ? [createHash('sha512').update(tinyPng(index)).digest('hex')] : [],
  }));
}

const importSeason = (home: Home, count: number, photos = true): Promise<Run> =>
  expectDone(home.pas('import', writeSeason(home, count, { photos })));

const ADDED = {
  local_id: 'K-2',
  projekt: 'C-202400101',
  stav: '1',
  geom_system: '4326',
  pristupnost: 'HES-000867',
  poznamka: 'nález 2',
};

const namesIn = (path: string): string[] => {
  const database = openSqlite(path, { readonly: true });
  try {
    const damaged = database.pragma('integrity_check', { simple: true });
    return damaged === 'ok'
      ? (database.prepare('select local_id from finds order by 1').pluck().all() as string[])
      : [String(damaged)];
  } finally {
    database.close();
  }
};

const outboxOf = ({ folder }: Home): string => join(folder, 'pas', 'outbox.sqlite');
const copyOf = ({ folder }: Home): string => join(folder, 'copy.sqlite');

/** A backup that was struck is the old one or a whole new one, and no piece of one lies beside it. */
function lookAtCopy(home: Home, run: Run): string[] {
  const names = String(namesIn(copyOf(home)));
  const isNew = names === 'K-1,K-2';
  return [
    ...(isNew || (names === 'K-1' && run.code !== 0) ? [] : [`the backup has ${names}`]),
    ...(run.code === 0 && readdirSync(`${copyOf(home)}.photos`, { recursive: true }).length < 2
      ? ['photographs are missing']
      : []),
  ];
}

/** What the outbox had is in it, or beside it. */
function lookForOld(home: Home): string[] {
  if (String(namesIn(outboxOf(home))) === 'K-1,K-2,K-3') return [];
  const asides = readdirSync(join(home.folder, 'pas')).filter((name) => /^outbox-replaced-.*\.sqlite$/.test(name));
  const kept = asides.map((name) => String(namesIn(join(home.folder, 'pas', name))));
  return kept.includes('K-1,K-2,K-3')
    ? []
    : [`the outbox has ${namesIn(outboxOf(home))}, and beside it is ${kept.join(' and ')}`];
}

const RESTORE: Story = {
  command: 'restore',
  args: ['restore', 'copy.sqlite', '--replace'],
  prepare: async (home) => {
    await importSeason(home, 2);
    await expectDone(home.pas('backup', copyOf(home), '--photos'));
    await importSeason(home, 3);
  },
  look: lookForOld,
  planned: () => finds(2),
};

export const STORIES: readonly Story[] = [
  {
    command: 'push',
    args: ['push'],
    prepare: async (home) => {
      await importSeason(home, 2);
      await expectDone(home.pas('number', 'set', 'K-1', 'A 1'));
    },
    planned: () => finds(2, { numbered: 1 }),
  },
  {
    command: 'add',
    args: ['add', ...Object.entries(ADDED).flatMap(([name, value]) => ['--set', `${name}=${value}`]), '--photo', 'photo-2.png'],
    prepare: async (home) => {
      await importSeason(home, 1);
      home.file('photo-2.png', tinyPng(1));
    },
    planned: () => finds(2),
  },
  {
    command: 'import',
    args: ['import', 'season.csv'],
    prepare: async (home) => {
      await importSeason(home, 1);
      writeSeason(home, 3, { photos: true });
    },
    planned: () => finds(3),
  },
  {
    command: 'reconcile',
    args: ['reconcile'],
    prepare: async (home, { mock }) => {
      await importSeason(home, 3, false);
      mock.faults.set([
        { endpoint: 'import', when: { nth: 2 }, fault: '500-after-save' },
        { endpoint: 'import', when: { nth: 3 }, fault: '500-before-save' },
        // Else the push itself would look for them.
        { endpoint: 'oai', when: { every: 1 }, fault: 'malformed' },
      ]);
      const run = await home.pas('push');
      if (run.code !== 6) throw new Error(`nothing is uncertain: ${run.code}\n${run.stdout}${run.stderr}`);
      mock.faults.set([]);
    },
    planned: () => finds(3, { photos: false }),
  },
  {
    command: 'backup',
    args: ['backup', 'copy.sqlite', '--photos', '--force'],
    prepare: async (home) => {
      await importSeason(home, 1);
      await expectDone(home.pas('backup', copyOf(home)));
      await importSeason(home, 2);
    },
    look: lookAtCopy,
    planned: () => finds(2),
    result: (home) => lookAtCopy(home, { code: 0, signal: null, stdout: '', stderr: '' }),
  },
  RESTORE,
  {
    ...RESTORE,
    command: 'restore a damaged one',
    prepare: async (home, stage) => {
      await RESTORE.prepare(home, stage);
      copyFileSync(outboxOf(home), join(home.folder, 'whole.sqlite'));
      damage(outboxOf(home));
      copyFileSync(outboxOf(home), join(home.folder, 'damaged.sqlite'));
    },
    look: (home) => {
      const folder = join(home.folder, 'pas');
      const damaged = readFileSync(join(home.folder, 'damaged.sqlite'));
      const there = readdirSync(folder).filter((name) => /^outbox.*\.sqlite$/.test(name));
      return there.some((name) => readFileSync(join(folder, name)).equals(damaged))
        ? []
        : [`the damaged one is not among ${there}`];
    },
  },
  ...(['jsonl', 'xml', 'sqlite'] as const).map(
    (form): Story => ({
      command: `harvest ${form}`,
      args: ['harvest', 'projekt', '--out', `sites.${form}`],
      prepare: async (home) => {
        await expectDone(home.pas('harvest', 'projekt', '--out', `whole.${form}`));
      },
      planned: () => [],
      result: (home) => {
        const [whole, made] = [`whole.${form}`, `sites.${form}`].map((name) => recordsIn(join(home.folder, name)));
        return whole === made
          ? []
          : [`the harvest is not as one that nothing struck: ${made?.length} bytes in place of ${whole?.length}`];
      },
    }),
  ),
  {
    command: 'harvest-vocab',
    args: ['harvest-vocab', 'heslo:obdobi'],
    prepare: async (home) => {
      await importSeason(home, 1);
    },
    planned: () => finds(1),
  },
];

/** What a harvest holds, whatever it says of itself. */
function recordsIn(path: string): string {
  if (!existsSync(path)) return '';
  if (!path.endsWith('.sqlite')) return readFileSync(path, 'utf8').replaceAll(/[\d-]{10}T[\d:.]+Z/g, '');
  const database = openSqlite(path, { readonly: true });
  try {
    return JSON.stringify(database.prepare('select * from records order by 1').all());
  } finally {
    database.close();
  }
}
