import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openOutbox, updateHeader } from '../../src/outbox/open-outbox.ts';
import { configFile, outboxFile, pushUnchecked } from '../support/outbox-files.ts';
import { curatorSets } from '../support/records-at-service.ts';
import {
  accountFlags,
  type Home,
  type Run,
  readIdent,
  settledAfter,
  signedIn,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { importSeason, sendSeason, tinyPng, writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();
const NEVER_SETTLED = settledAfter(3_600_000, 0);
const FIND = 'K-1';

async function laptop(flags: readonly string[] = NEVER_SETTLED): Promise<Home> {
  const home = await signedIn(mock.service, flags);
  return home.with({ PAS_PASSWORD: 'archaeologist' });
}

const readPhoto = (home: Home): string => home.file('p.png', tinyPng(1));

async function sent(home: Home): Promise<Home> {
  await sendSeason(home, 1);
  return home;
}

/** A push in which one request of this kind gets this answer. */
async function pushWith(home: Home, endpoint: string, fault: string): Promise<Home> {
  await mock.service.faults({ endpoint, fault, times: 1 });
  await home.pas('push');
  await mock.service.faults();
  return home;
}

/** A profile of a colleague's account, which has an outbox of its own. */
async function colleague(home: Home): Promise<Home> {
  await home.init(
    mock.service,
    '--name',
    'second',
    ...accountFlags('archivist'),
    ...WITHOUT_PAUSES,
  );
  const other = home.with({ PAS_PASSWORD: 'archivist', PAS_PROFILE: 'second' });
  await other.do('login');
  return other;
}

type Scene = {
  readonly home: Home;
  readonly find: string;
  readonly state: string;
  readonly basis?: string;
};

/** A way to each state, and the text of `pas status`. */
const SCENES: Readonly<Record<string, () => Promise<Scene>>> = {
  'a draft': async () => {
    const home = await laptop();
    const table = readFileSync(writeSeason(home, 1, { state: 2 }), 'utf8').replaceAll(
      '2024-06-01',
      '',
    );
    await home.pas('import', home.file('draft.csv', table));
    return { home, find: FIND, state: 'draft' };
  },
  'a draft with a photograph and a number': async () => {
    const scene = await made('a draft');
    await scene.home.do('photo', 'add', FIND, readPhoto(scene.home));
    await scene.home.do('number', 'set', FIND, 'X1');
    return scene;
  },
  'a queued find': async () => {
    const home = await laptop();
    await importSeason(home, 1, { photos: true });
    return { home, find: FIND, state: 'queued' };
  },
  'a refused find': async () => {
    const home = await laptop();
    const table = readFileSync(writeSeason(home, 1), 'utf8').replaceAll(
      'C-202400101',
      'C-209900101',
    );
    await home.do('import', home.file('other.csv', table));
    await home.pas('push');
    return { home, find: FIND, state: 'refused' };
  },
  'a refused photograph': async () => {
    const home = await sent(await laptop());
    await home.do('photo', 'add', FIND, readPhoto(home));
    return { home: await pushWith(home, 'photo', 'virus'), find: FIND, state: 'refused' };
  },
  'a refused number': async () => {
    const home = await laptop();
    await home.do('number', 'set', 'C-202400101-N09999', 'X1');
    await home.pas('push');
    return { home, find: 'C-202400101-N09999', state: 'refused' };
  },
  'a find of unknown end': async () => {
    const home = await laptop();
    await importSeason(home, 1, { photos: true });
    return {
      home: await pushWith(home, 'import', '500-before-save'),
      find: FIND,
      state: 'uncertain',
    };
  },
  'a photograph of unknown end': async () => {
    const home = await sent(await laptop());
    await home.do('photo', 'add', FIND, readPhoto(home));
    return {
      home: await pushWith(home, 'photo', '500-before-save'),
      find: FIND,
      state: 'uncertain',
    };
  },
  'a number of unknown end': async () => {
    const home = await sent(await laptop());
    await home.do('number', 'set', FIND, 'X1');
    return {
      home: await pushWith(home, 'number', '500-before-save'),
      find: FIND,
      state: 'uncertain',
    };
  },
  'a find that was given up, with a photograph and a number': async () => {
    const { home } = await made('a queued find');
    await home.do('number', 'set', FIND, 'X1');
    await home.do('resolve', FIND, '--drop');
    return { home, find: FIND, state: 'dropped' };
  },
  'a find of unknown end that was given up': async () => {
    const { home } = await made('a find of unknown end');
    await home.do('resolve', FIND, '--drop');
    return { home, find: FIND, state: 'dropped' };
  },
  'a sent find with another number than ours': async () => {
    const home = await laptop();
    await importSeason(home, 1);
    await home.do('number', 'set', FIND, 'X1');
    await home.do('push');
    await curatorSets(mock.service, await readIdent(home, FIND), 'CURATOR');
    await home.do('pull');
    return { home, find: FIND, state: 'accepted' };
  },
  'a find that the service seems to have': async () => {
    const home = await laptop();
    await importSeason(home, 1, { photos: true });
    await home.copy().do('push');
    await home.pas('push');
    return { home, find: FIND, state: 'queued', basis: 'equal-record' };
  },
  'a photograph that the record seems to have': async () => {
    const { home } = await made('a find that the service seems to have');
    const { needs_person } = await home.json<{
      needs_person: { held: { candidates: string[] } }[];
    }>('status');
    await home.do('resolve', FIND, '--created', needs_person[0]?.held.candidates[0] ?? '', '--yes');
    await home.pas('push');
    return { home, find: FIND, state: 'queued', basis: 'equal-photograph' };
  },
  'a number whose record has got another one': async () => {
    const home = await sent(await laptop());
    await home.do('number', 'set', FIND, 'X1');
    await curatorSets(mock.service, await readIdent(home, FIND), 'CURATOR');
    await home.pas('push');
    return { home, find: FIND, state: 'queued', basis: 'number-changed' };
  },
  'a find that another account of this computer has sent': async () => {
    const home = await colleague(await sent(await laptop()));
    await importSeason(home, 1);
    await pushUnchecked(home);
    return { home, find: FIND, state: 'queued', basis: 'attempted-elsewhere' };
  },
  'a find whose local id another account of this computer has sent': async () => {
    const home = await colleague(await sent(await laptop()));
    const table = readFileSync(writeSeason(home, 1), 'utf8').replaceAll('pole 1', 'les');
    await home.do('import', home.file('other.csv', table));
    await pushUnchecked(home);
    return { home, find: FIND, state: 'queued', basis: 'attempted-elsewhere' };
  },
  'a find of an outbox from another place that cannot be looked for': async () => {
    const home = await laptop();
    await importSeason(home, 1, { photos: true });
    const outbox = openOutbox(outboxFile(home), systemClock);
    updateHeader(outbox, { mustLook: true });
    outbox.close();
    // Harvesting of another host does not show what this one has.
    const config = readFileSync(configFile(home), 'utf8');
    writeFileSync(
      configFile(home),
      config.replace(/^(oai_base = "http:\/\/)[^:]*/m, '$1localhost'),
    );
    await home.pas('push');
    return { home, find: FIND, state: 'queued', basis: 'not-searched' };
  },
  'a find whose local id an older copy of the outbox has sent': async () => {
    const home = await laptop();
    await home.do('list');
    const older = join(home.folder, 'older');
    cpSync(join(home.folder, 'pas'), older, { recursive: true });
    const table = readFileSync(writeSeason(home, 1), 'utf8').replaceAll('pole 1', 'les');
    await home.do('import', home.file('other.csv', table));
    await sent(home.with({ PAS_PASSWORD: 'archaeologist', PAS_HOME: older }));
    await home.pas('push');
    return { home, find: FIND, state: 'queued', basis: 'alike-here' };
  },
};

async function made(name: string): Promise<Scene> {
  const make = SCENES[name];
  if (make === undefined) throw new Error(`there is no scene ${name}`);
  return make();
}

const WORD = /^(?:[a-z]+(?:-[a-z]+)*|--[a-z-]+|K-\d+|C-\d+-N\d+|\d+|[A-Z]{2,}|\/\S+|https?:\S+)$/;

/** Words of a sentence that no subcommand has. */
const CONNECTIVES: ReadonlySet<string> = new Set(['to', 'and', 'or', 'for', 'in']);

/**
 * Every command that was printed, with its placeholders filled in. What follows it in a sentence is
 * left out.
 */
function commandsIn(
  { stdout, stderr }: Pick<Run, 'stdout' | 'stderr'>,
  subcommands: ReadonlySet<string>,
  fill: Readonly<Record<string, string>> = {},
): string[] {
  const matches = [...`${stdout}\n${stderr}`.matchAll(/\bpas ((?:[^\s`]+[ \t]?)+)/g)].flatMap(
    ([, rest = '']) => {
      const words: string[] = [];
      for (const raw of rest.split(/\s+/)) {
        const word = raw.replace(/[.,;:)]+$/, '').replace(/^["']|["']$/g, '');
        const endsCommand =
          CONNECTIVES.has(word) ||
          (words.length >= 2 && words.at(-1)?.startsWith('--') !== true && /^[a-z]/.test(word));
        if (!WORD.test(word) || endsCommand) break;
        words.push(fill[word] ?? word);
        if (word !== raw) break;
      }
      return subcommands.has(words[0] ?? '') ? [words.join(' ')] : [];
    },
  );
  return [...new Set(matches)];
}

/** Commands that name no find and have worked in a scene before. */
const tried = new Set<string>();

/** Questions on a terminal that a person answers with yes. */
const ASKS: readonly RegExp[] = [/^remove /, /^resolve .*--created /, /^restore /];

describe('Each advised command works when typed, for', () => {
  test.each(Object.keys(SCENES).map((name) => [name] as const))('%s.', async (name) => {
    const { home, find, state, basis } = await made(name);
    const status = await home.json<{
      needs_person: { find: string; state: string; held?: { basis: string } }[];
    }>('status');
    const shown = status.needs_person.map((each) => [each.find, each.state, each.held?.basis]);
    if (!['queued', 'dropped', 'accepted'].includes(state) || basis !== undefined)
      expect(shown).toContainEqual([find, state, basis]);

    const help = await home.pas('help', '--all');
    const subcommands = new Set(
      [...help.stdout.matchAll(/^ +(?:pas )?([a-z-]+)/gm)].map(([, word = '']) => word),
    );
    const fill = {
      FIND: find,
      FILE: readPhoto(home),
      IDENT: 'C-202400101-N00001',
      NAME: 'fresh',
      PROFILE: 'fresh',
    };
    const waiting = new Set<string>();
    const printed: string[] = [];
    for (const words of [
      ['status'],
      ['show', find],
      ['list'],
      ['resolve', find],
      ['push', find],
      ['push'],
      ['reconcile'],
    ]) {
      const run = await home
        .copy()
        .with(getReads(home))
        .pas(...words);
      expect(run.code, `pas ${words.join(' ')}\n${run.stderr}`).not.toBe(1);
      for (const command of commandsIn(run, subcommands, fill)) waiting.add(command);
      printed.push(...commandsIn(run, subcommands));
    }
    expect(waiting.size).toBeGreaterThan(1);
    const failed: string[] = [];
    for (const command of waiting) {
      if (tried.has(command)) continue;
      if (!/K-\d|C-\d/.test(command)) tried.add(command);
      const args = command.split(' ');
      const run = await home
        .copy()
        .with(getReads(home))
        .pas(
          ...args,
          // The answer of a person on a terminal.
          ...(ASKS.some((asks) => asks.test(command)) ? ['--yes'] : []),
          ...(/^edit \S+$/.test(command) ? ['--set', 'poznamka=mended'] : []),
        );
      // Without a terminal it names the answers instead of asking.
      const namesAnswers =
        run.code === 2 &&
        /^resolve (?:--profile \S+ )?\S+(?: --entry \d+)?$/.test(command) &&
        /Decide about/.test(run.stderr);
      // The identifier that stands here for the one that a person has found.
      const isExample =
        command.endsWith(` --created ${fill.IDENT}`) &&
        run.code === 2 &&
        run.stderr.includes('does not list');
      for (const more of namesAnswers ? commandsIn(run, subcommands, fill) : []) waiting.add(more);
      if (namesAnswers) printed.push(...commandsIn(run, subcommands));
      if (!namesAnswers && !isExample && ![0, 3, 6].includes(run.code ?? -1))
        failed.push(`pas ${command}: ${run.code}\n${run.stderr}`);
    }
    expect(failed.join('\n\n')).toBe('');
    const known =
      JSON.stringify([await home.json('list'), await home.json('show', find), status]) + find;
    const named = printed.flatMap((command) => command.match(/C-\d+-N\d+/g) ?? []);
    expect(named.filter((ident) => !known.includes(ident))).toEqual([]);
  });
});

function getReads({ env }: Home): NodeJS.ProcessEnv {
  const { PAS_PASSWORD = 'archaeologist', PAS_PROFILE } = env;
  return {
    PAS_PASSWORD,
    PAS_PROFILE,
  };
}
