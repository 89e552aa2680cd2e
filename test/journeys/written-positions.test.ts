import { describe, expect, test } from 'vitest';
import { setFlags } from '../support/run-pas.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const home = useHome(mock);

const SET = setFlags('projekt=C-202400101', 'stav=1', 'pristupnost=HES-000865');

async function showPoints(...finds: string[]): Promise<unknown[]> {
  const shown = await Promise.all(finds.map((find) => home.json('show', find)));
  return shown.map(({ elements }) => elements['geom_wkt'] ?? elements['geom_sjtsk_wkt']);
}

const DEGREES = 'POINT (15.1712 49.8405)';
const METRES = 'POINT (-693174.81 -1077354.27)';

describe('a table with two coordinate systems keeps the point of every row', () => {
  test.each([
    ['named in a column', 'č.;crs;X;Y\nA1;4326;15.1712;49.8405\nB2;S-JTSK;-693174.81;-1077354.27'],
    ['in pairs of columns', 'č.;lon;lat;X;Y\nA1;15.1712;49.8405;;\nB2;;;-693174.81;-1077354.27'],
  ])('by the wizard: %s', async (_, rows) => {
    const file = home.file('t.csv', rows);
    await home.do('import', file, '--wizard', '--yes', ...SET);
    await home.do('import', file, '--map', file.replace('.csv', '.map.toml'));
    expect(await showPoints('A1', 'B2')).toEqual([DEGREES, METRES]);
  });
});

test('a coordinate without its trailing zero is no difference of a sent find', async () => {
  const importWith = (x: string) =>
    home.json('import', home.file('t.csv', `local_id;lon;lat\nA1;${x};49.8405`), ...SET);
  await importWith('15.1710');
  await home.do('push');
  expect(await importWith('15.171')).toMatchObject({ unchanged: 1, already_sent: 0 });
});
