import { expect, test } from 'vitest';
import { makeTermOfferer, parseAnswer } from '../../../src/cli/interview/answer.ts';
import { askChanges } from '../../../src/cli/interview/interview.ts';
import type { FindElements } from '../../../src/finds/fields.ts';
import type { Find } from '../../../src/finds/find.ts';
import { makeReferenceResolver } from '../../../src/finds/resolve-references.ts';
import { checkRules } from '../../../src/finds/rules.ts';
import { scriptedPrompt } from '../../support/scripted-prompt.ts';
import { aTerm, fill, tempVocabulary } from '../../support/temp-vocabulary.ts';

const TERMS = [
  aTerm('HES-000605', 'spona', { labelEn: 'brooch' }),
  aTerm('HES-000610', 'přezka', { labelEn: 'buckle' }),
  aTerm('HES-000964', 'železo', { labelEn: 'iron', setSpec: 'heslo:predmet_specifikace' }),
  aTerm('HES-000286', 'doba laténská', { labelEn: 'La Tène Period', setSpec: 'heslo:obdobi' }),
  aTerm('HES-000563', 'sběr', { labelEn: 'field walking', setSpec: 'heslo:nalezove_okolnosti' }),
  aTerm('HES-000866', 'badatel', { labelEn: 'researcher', setSpec: 'heslo:pristupnost' }),
  aTerm('OS-001508', 'Dvořáková, Eva', { setSpec: 'osoba' }),
];
const ELEMENTS: FindElements = {
  projekt: { id: 'C-202400101', text: 'C-202400101' },
  hloubka: 35,
  okolnosti: { id: 'HES-000563', text: 'sběr' },
  obdobi: { id: 'HES-000286', text: 'doba laténská' },
  druh_nalezu: { id: 'HES-000605', text: 'spona' },
  specifikace: { id: 'HES-000964', text: 'železo' },
  nalezce: { id: ':tba', text: 'Horáková, Ludmila' },
  datum_nalezu: '2024-06-01',
  stav: 2,
  geom_system: '4326',
  geom_wkt: 'POINT (14.4208 50.0871)',
  pristupnost: { id: 'HES-000866', text: 'badatel' },
  lokalizace: 'field',
};
const FIND: Find = { localId: 'K-1', elements: ELEMENTS, photos: [] };

async function edited(start: Find, ...answers: readonly string[]) {
  using store = tempVocabulary();
  const vocabulary = fill(store, ...TERMS);
  const { lookupTerm } = store.makeLookups(vocabulary.oaiBase);
  const prompt = scriptedPrompt(...answers);
  const texts: string[] = [];
  const world = {
    prompt,
    say: (text: string) => void texts.push(text),
    read: (question: Parameters<typeof parseAnswer>[0], text: string, find: Find) =>
      parseAnswer(question, text, find, {
        lookupTerm,
        today: '2024-06-02',
        resolveReference: makeReferenceResolver(lookupTerm),
        resolvePhoto: () => ({ rule: 'photo-path', problem: '' }),
        folder: '/',
        isTaken: () => false,
        inspectPhotograph: async () => ({ issues: [] }),
        readPhotoPosition: async () => ({ rule: 'geometry', problem: '' }),
      }),
    offerTerms: makeTermOfferer({
      vocabulary,
      mapping: { file: '', rows: [], issues: [] },
      latest: [],
      columns: 80,
    }),
    check: (find: Find) => checkRules(find, { lookupTerm, today: '2024-06-02' }),
  };
  return { ...(await askChanges(start, world)), prompt, said: texts };
}

/** Enter, so many times. */
const enter = (times: number): string[] => Array.from({ length: times }, () => '');

test('Enter keeps every value, even a person unknown to the vocabulary', async () => {
  const { find, intent, prompt } = await edited(FIND, ...enter(16));
  expect(find).toEqual(FIND);
  expect(intent).toBe('send');
  expect(prompt.left).toEqual([]);
});

test('a term is searched while typing, a point is accepted in any form, and a wrong depth is reported at once', async () => {
  const { find, prompt } = await edited(
    FIND,
    ...enter(5),
    'buckl',
    ...enter(3),
    `49°50'25,8" s. š. 15°10'16" v. d.`,
    '',
    'deep',
    '40',
    ...enter(3),
    '',
  );
  expect(find.elements).toMatchObject({
    druh_nalezu: { id: 'HES-000610' },
    hloubka: 40,
    nalezce: ELEMENTS.nalezce,
  });
  expect(find.elements.geom_wkt).toMatch(/^POINT ?\(15\.17111\d* 49\.8405\d*\)$/);
  expect(prompt.transcript.join('\n')).toMatch(/deep ✗/);
});

test('a hyphen removes a value, < goes back, > leaves the rest unchanged', async () => {
  const { find, intent } = await edited(
    FIND,
    '',
    '',
    '',
    '<',
    '',
    '',
    '',
    '',
    '',
    '',
    '',
    '',
    '-',
    '>',
    'draft',
  );
  const { lokalizace: _gone, ...rest } = ELEMENTS;
  expect(find.elements).toEqual(rest);
  expect(intent).toBe('draft');
});

test('neither the number nor photographs are asked for, or offered at the end', async () => {
  const { prompt } = await edited(FIND, '>', '');
  expect(prompt.transcript.join('\n')).not.toMatch(/Number of the find|Photographs/);
});

test('Enter keeps a no', async () => {
  const start: Find = { ...FIND, elements: { ...ELEMENTS, stav: 3, predano: false } };
  const { find } = await edited(start, ...enter(14), '-', '>', 'draft');
  expect(find.elements.predano).toBe(false);
});
