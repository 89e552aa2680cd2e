import { beforeEach, describe, expect, test } from 'vitest';
import { placedPhotograph } from '../support/placed-photograph.ts';
import { type Home, homeWithoutNetwork } from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';
import { answer, startTerminal, whyNoTerminal } from '../support/terminal-session.ts';

let home: Home;
/** Area on the day of the finds; K-3 is in it. */
const taken = '2024:06:01 10:00:00';
const place = [14.40101, 50.08] as const;

/** One photograph of each kind of match, and no network. */
beforeEach(async () => {
  home = await homeWithoutNetwork();
  await home.pas('import', writeSeason(home, 3));
  home.file('card/k_01.jpg', await placedPhotograph('jpeg', { shade: 1, taken }));
  home.file('card/IMG_0003.jpg', await placedPhotograph('jpeg', { shade: 2, taken, place }));
  home.file('card/K-1 K-2.jpg', await placedPhotograph('jpeg', { shade: 3, taken }));
  home.file(
    'card/P1010009.jpg',
    await placedPhotograph('jpeg', { shade: 4, taken: '2024:07:01 10:00:00' }),
  );
});

/** The names of the photographs that wait, by find. */
async function queued(): Promise<Record<string, string[]>> {
  const ofFind = async (find: string): Promise<[string, string[]]> => {
    const { entries } = await home.json('show', find);
    return [find, entries.flatMap(({ photo }) => (photo === undefined ? [] : [photo])).sort()];
  };
  return Object.fromEntries(await Promise.all(['K-1', 'K-2', 'K-3'].map(ofFind)));
}

describe.skipIf(whyNoTerminal !== undefined)('likely matches are asked about', () => {
  test('in English: once for all, and a doubtful one is left', async () => {
    await using terminal = await startTerminal(['photo', 'match', 'card'], home, { columns: 110 });
    await terminal.expect(
      /IMG_0003\.jpg +K-3 +likely +\d m from it, on its day/,
      /k_01\.jpg +K-1 +certain +named K-1, on its day/,
      /K-1 K-2\.jpg +K-1 +doubtful +named after several: K-1, K-2, on its day/,
    );
    await answer(terminal, 'Queue the likely matches as well (1)?');
    expect((await terminal.ended()).code).toBe(0);
    await terminal.expect(
      'Queued 2 of 4 files, for 2 finds.',
      'To queue another match: pas photo add FIND FILE',
    );
    expect(await queued()).toEqual({ 'K-1': ['k_01.jpg'], 'K-2': [], 'K-3': ['IMG_0003.jpg'] });
  });

  test('v češtině: odmítnuté se nezařadí', async () => {
    const czech = home.with({ PAS_LANG: 'cs' });
    await czech.do('profile', 'set', 'strip_gps=true');
    await using terminal = await startTerminal(['photo', 'match', 'card'], czech, {
      columns: 110,
    });
    await terminal.expect(
      /K-1 K-2\.jpg +K-1 +nejistá +v názvu jich je několik: K-1, K-2, v den nálezu/,
    );
    await answer(terminal, 'Zařadit do fronty i pravděpodobné shody (1)?', 'n');
    expect((await terminal.ended()).code).toBe(0);
    await terminal.expect(
      'Do fronty zařazeno: 1 (souborů celkem 4), pro 1 nález.',
      'Další fotografii zařadíte příkazem pas photo add NÁLEZ SOUBOR',
    );
    expect(await queued()).toEqual({ 'K-1': ['k_01.jpg'], 'K-2': [], 'K-3': [] });
  });

  test('and Ctrl-C keeps what was queued before', async () => {
    await using terminal = await startTerminal(['photo', 'match', 'card'], home, { columns: 110 });
    await terminal.expect('? Queue the likely matches');
    await terminal.press('C-c');
    expect((await terminal.ended()).code).toBe(130);
    expect(await queued()).toEqual({ 'K-1': ['k_01.jpg'], 'K-2': [], 'K-3': [] });
  });
});
