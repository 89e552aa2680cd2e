import { beforeEach, expect, test } from 'vitest';
import type { Home } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const home = useHome(mock, ['--set', 'min_interval_ms=10', '--set', 'settle_ms=600000']);
let czech: Home;

beforeEach(async () => {
  czech = home.with({ PAS_LANG: 'cs' });
});

test('a refusal quotes the service inside a Czech sentence', async () => {
  await importSeason(home, 1, { photos: true });
  await mock.service.faults({ endpoint: 'photo', when: { nth: 1 }, times: 1, fault: 'virus' });
  const pushed = await czech.pas('push');
  const refused = await home.json('status');
  const words = refused.needs_person[0]?.reason ?? '';
  expect(words).not.toBe('');
  expect(pushed.stdout + pushed.stderr).toContain(`fotografie nálezu K-1 – odmítnuto: ${words}`);
  expect(pushed.stdout + pushed.stderr).toContain('1 přijato, 1 odmítnuto');
  expect((await czech.pas('status')).stdout).toContain(`fotografie nálezu K-1: ${words}`);
});

test('every label is Czech: of the dry run, of validation and of restore', async () => {
  await importSeason(home, 7);
  expect((await czech.pas('push', '--dry-run')).stdout).toBe(
    'import: k odeslání 7\nevidenční číslo: k odeslání 0\nfotografie: k odeslání 0\n',
  );
  expect((await czech.pas('validate')).stdout).toContain('V pořádku 7, chybných 0.');
  await czech.do('backup', `${czech.folder}/zaloha.sqlite`);
  const restored = await czech.pas('restore', `${czech.folder}/zaloha.sqlite`, '--replace');
  expect(restored.stdout).toContain('nálezů: 7.');
});
