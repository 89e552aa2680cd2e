import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../src/base/disk/database.ts';
import { damage } from '../support/hostile-disk.ts';
import { pushUnchecked } from '../support/outbox-files.ts';
import type { Home, Run } from '../support/run-pas.ts';
import { tinyPng, writeSeason } from '../support/season.ts';
import { compare, finish, type Planned } from './finish.ts';
import { outboxFolder } from './places.ts';
import type { Stage } from './stage.ts';

/**
 * A command, what there is before it, and what must hold when it was struck: each is told once the
 * disk is well again.
 */
export type Scenario = {
  readonly command: string;
  readonly args: readonly string[];
  prepare(home: Home, stage: Stage): Promise<void>;
  /**
   * Errors right after the struck run, in words.
   * @param isDone true where it had printed all that it prints when it ends well
   */
  look?(home: Home, isDone: boolean): string[] | Promise<string[]>;
  /**
   * Expected records of the service after the command was run once more and all was pushed; for
   * those with an outbox.
   */
  planned?(): readonly Planned[];
  /** Errors of the command's own result, after it was run once more. */
  result?(home: Home, stage: Stage): string[];
};

/**
 * Has the same command go on after what struck it, and everything come to rest.
 * @returns what is wrong then, in words
 */
export async function goOn(scenario: Scenario, home: Home, stage: Stage): Promise<string[]> {
  const again = await home.pas(...scenario.args);
  const problems = [0, 6].includes(again.code ?? 1)
    ? []
    : [`again, it ends with ${again.code}: ${again.stderr}`];
  try {
    if (scenario.planned !== undefined)
      problems.push(
        ...(await finish(home, stage)),
        ...(await compare(home, stage, scenario.planned())),
      );
    problems.push(...(scenario.result?.(home, stage) ?? []));
  } catch (thrown) {
    problems.push(String(thrown));
  }
  return problems;
}

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
  home.do('import', writeSeason(home, count, { photos }));

const ADDED = {
  local_id: 'K-2',
  projekt: 'C-202400101',
  stav: '1',
  geom_system: '4326',
  pristupnost: 'HES-000867',
  poznamka: 'nález 2',
};

const namesIn = (path: string): string[] => {
  if (!existsSync(path)) return ['nothing'];
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

const getOutbox = ({ folder }: Home): string => join(outboxFolder(folder), 'outbox.sqlite');
const getCopy = ({ folder }: Home): string => join(folder, 'copy.sqlite');

/** A backup that was struck is what was there before, or a whole new one, and can be restored. */
async function lookAtCopy(home: Home, isDone: boolean, old: string): Promise<string[]> {
  const problems = lookAtNames(home, isDone, old);
  const names = String(namesIn(getCopy(home)));
  if (names === 'nothing') return problems;
  const other = home.copy();
  const { code, stderr } = await other.pas('restore', 'copy.sqlite', '--replace');
  const isTaken = code === 0 && String(namesIn(getOutbox(other))) === names;
  rmSync(other.folder, { recursive: true, force: true });
  return isTaken ? problems : [...problems, `the backup cannot be put back: ${code} ${stderr}`];
}

function lookAtNames(home: Home, isDone: boolean, old: string): string[] {
  const names = String(namesIn(getCopy(home)));
  return names === 'K-1,K-2' || (names === old && !isDone) ? [] : [`the backup has ${names}`];
}

function lookAtPhotographs(home: Home): string[] {
  return finds(2).flatMap(({ localId, photos: [sha512 = ''] }) => {
    const path = join(`${getCopy(home)}.photos`, sha512.slice(0, 2), sha512);
    const isThere =
      existsSync(path) && createHash('sha512').update(readFileSync(path)).digest('hex') === sha512;
    return isThere ? [] : [`the backup lacks the photograph of ${localId}`];
  });
}

/** Contents of the outbox are in it, or beside it. */
function lookForOld(home: Home): string[] {
  if (String(namesIn(getOutbox(home))) === 'K-1,K-2,K-3') return [];
  const asides = readdirSync(outboxFolder(home.folder)).filter((name) =>
    /^outbox-replaced-.*\.sqlite$/.test(name),
  );
  const keptNames = asides.map((name) => String(namesIn(join(outboxFolder(home.folder), name))));
  return keptNames.includes('K-1,K-2,K-3')
    ? []
    : [`the outbox has ${namesIn(getOutbox(home))}, and beside it is ${keptNames.join(' and ')}`];
}

const BACKUP: Scenario = {
  command: 'backup',
  args: ['backup', 'copy.sqlite', '--photos', '--yes'],
  prepare: async (home) => {
    await importSeason(home, 1);
    await home.do('backup', getCopy(home));
    await importSeason(home, 2);
  },
  look: async (home, isDone) => [
    ...(await lookAtCopy(home, isDone, 'K-1')),
    ...(isDone ? lookAtPhotographs(home) : []),
  ],
  planned: () => finds(2),
  result: (home) => [...lookAtNames(home, true, ''), ...lookAtPhotographs(home)],
};

const RESTORE: Scenario = {
  command: 'restore',
  args: ['restore', 'copy.sqlite', '--replace'],
  prepare: async (home) => {
    await importSeason(home, 2);
    await home.do('backup', getCopy(home), '--photos');
    await importSeason(home, 3);
  },
  look: lookForOld,
  planned: () => finds(2),
};

export const SCENARIOS: readonly Scenario[] = [
  {
    command: 'push',
    args: ['push'],
    prepare: async (home) => {
      await importSeason(home, 2);
      await home.do('number', 'set', 'K-1', 'A 1');
    },
    planned: () => finds(2, { numbered: 1 }),
  },
  {
    command: 'add',
    args: [
      'add',
      ...Object.entries(ADDED).flatMap(([name, value]) => ['--set', `${name}=${value}`]),
      '--set',
      'photos=photo-2.png',
    ],
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
      const run = await pushUnchecked(home);
      if (run.code !== 6)
        throw new Error(`nothing is uncertain: ${run.code}\n${run.stdout}${run.stderr}`);
      mock.faults.set([]);
    },
    planned: () => finds(3, { photos: false }),
  },
  BACKUP,
  {
    ...BACKUP,
    command: 'backup where there is none',
    args: ['backup', 'copy.sqlite', '--yes'],
    prepare: async (home) => {
      await importSeason(home, 2, false);
    },
    look: (home, isDone) => lookAtCopy(home, isDone, 'nothing'),
    planned: () => finds(2, { photos: false }),
    result: (home) => lookAtNames(home, true, ''),
  },
  RESTORE,
  {
    ...RESTORE,
    command: 'restore a damaged one',
    prepare: async (home, stage) => {
      await RESTORE.prepare(home, stage);
      copyFileSync(getOutbox(home), join(home.folder, 'whole.sqlite'));
      damage(getOutbox(home));
      copyFileSync(getOutbox(home), join(home.folder, 'damaged.sqlite'));
    },
    look: (home) => {
      const folder = outboxFolder(home.folder);
      const damaged = readFileSync(join(home.folder, 'damaged.sqlite'));
      const there = readdirSync(folder).filter((name) => /^outbox.*\.sqlite$/.test(name));
      return there.some((name) => readFileSync(join(folder, name)).equals(damaged))
        ? []
        : [`the damaged one is not among ${there}`];
    },
  },
  ...['.jsonl', '.xml'].map(
    (ending): Scenario => ({
      command: `harvest ${ending}`,
      args: ['harvest', 'projekt', '--out', `sites${ending}`],
      prepare: async (home, { mock }) => {
        // The list takes several.
        mock.applySettings({ page_size: 3 });
        await home.do('harvest', 'projekt', '--out', `whole${ending}`);
      },
      result: (home) => {
        const [whole, made] = ['whole', 'sites'].map((name) =>
          recordsIn(join(home.folder, `${name}${ending}`)),
        );
        return whole === made && whole !== ''
          ? []
          : [
              `the harvest is not as one that nothing struck: ${made?.length} bytes in place of ${whole?.length}`,
            ];
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

/** Records of a harvest, whatever its own count says. */
function recordsIn(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8').replaceAll(/[\d-]{10}T[\d:.]+Z/g, '') : '';
}
