import { expect, test } from 'vitest';
import type { FindElements } from '../../../src/finds/fields.ts';
import { type HarvestedFind, listChangesAtService } from '../../../src/finds/harvested-find.ts';

const SENT: FindElements = {
  projekt: { id: 'C-202400101', text: 'C-202400101' },
  obdobi: { id: 'HES-000253', text: 'paleolit' },
  hloubka: 25,
  stav: 2,
  geom_system: '4326',
  pristupnost: { id: 'HES-000867', text: 'archeolog' },
  lokalizace: 'pole',
};

function harvested(
  elements: HarvestedFind['elements'],
  more: Partial<HarvestedFind> = {},
): HarvestedFind {
  const { hloubka, stav, predano: _predano, ...same } = SENT;
  return {
    identCely: 'C-202400101-N00001',
    stav: 2,
    protectedWithheld: false,
    area: undefined,
    district: undefined,
    files: [],
    history: [],
    elements: { ...same, hloubka: String(hloubka), stav: String(stav), ...elements },
    ...more,
  };
}

test('a finder sent by name alone is compared by name', () => {
  const record = harvested({ nalezce: { id: 'OS-000123', text: 'Nová, Eva' } });
  expect(
    listChangesAtService({ ...SENT, nalezce: { id: ':tba', text: 'Novák, Jan' } }, record),
  ).toEqual([{ element: 'nalezce', sent: 'Novák, Jan', now: 'Nová, Eva (OS-000123)' }]);
});
