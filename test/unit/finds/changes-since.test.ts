import { expect, test } from 'vitest';
import type { FindElements } from '../../../src/finds/fields.ts';
import {
  formatState,
  type HarvestedFind,
  listChangesSince,
} from '../../../src/finds/harvested-find.ts';

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

test('an unchanged find has no changes', () => {
  expect(listChangesSince(SENT, harvested({}))).toEqual([]);
});

test('changes are listed in the order of the schema, in words', () => {
  const { lokalizace: _gone, ...elements } = harvested({}).elements;
  const record = harvested(
    {},
    {
      stav: 4,
      elements: {
        ...elements,
        evidencni_cislo: 'A 1',
        obdobi: { id: 'HES-000312', text: 'moustérien' },
        hloubka: '30',
        predano: 'true',
      },
    },
  );
  expect(listChangesSince(SENT, record)).toEqual([
    { element: 'evidencni_cislo', sent: null, now: 'A 1' },
    { element: 'hloubka', sent: '25', now: '30' },
    { element: 'obdobi', sent: 'paleolit (HES-000253)', now: 'moustérien (HES-000312)' },
    { element: 'stav', sent: '2', now: '4' },
    { element: 'predano', sent: null, now: 'true' },
    { element: 'lokalizace', sent: 'pole', now: null },
  ]);
});

test('a finder sent by name alone is compared by name', () => {
  const record = harvested({ nalezce: { id: 'OS-000123', text: 'Nová, Eva' } });
  expect(
    listChangesSince({ ...SENT, nalezce: { id: ':tba', text: 'Novák, Jan' } }, record),
  ).toEqual([{ element: 'nalezce', sent: 'Novák, Jan', now: 'Nová, Eva (OS-000123)' }]);
});

test('withheld content is not reported as removed', () => {
  const { lokalizace: _masked, ...elements } = harvested({}).elements;
  expect(listChangesSince(SENT, harvested({}, { elements, protectedWithheld: true }))).toEqual([]);
});

test.each([
  [1, '1 registered'],
  [4, '4 archived'],
  [7, '7'],
])('state %i reads "%s"', (stav, text) => {
  expect(formatState(stav)).toBe(text);
});
