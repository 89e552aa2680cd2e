import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type AnswerContext,
  makeTermOfferer,
  readAnswer,
} from '../../../src/cli/interview/answer.ts';
import {
  type InterviewContext,
  reviewFind,
  runInterview,
} from '../../../src/cli/interview/interview.ts';
import type { FindElements } from '../../../src/finds/fields.ts';
import type { Find } from '../../../src/finds/find.ts';
import { FIND_QUESTIONS, listElementsOfQuestion } from '../../../src/finds/questions.ts';
import { makeReferenceResolver } from '../../../src/finds/resolve-references.ts';
import { checkFindByRules } from '../../../src/finds/rules.ts';
import { makePhotographKeeping } from '../../../src/outbox/changes/kept-photographs.ts';
import { tinyPng } from '../../support/season.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { aTerm, fill, tempVocabulary } from '../../support/temp-vocabulary.ts';
import { type ScriptedPrompt, scriptedPrompt } from './scripted-prompt.ts';

let store: ReturnType<typeof tempVocabulary>;
beforeEach(() => {
  store = tempVocabulary();
});
afterEach(() => store[Symbol.dispose]());

const TERMS = [
  aTerm('HES-000600', 'šperky', {}),
  aTerm('HES-000605', 'spona', {
    labelEn: 'brooch',
    superiors: [{ ident: 'HES-000600', kind: 'nadrazene' }],
  }),
  aTerm('HES-000610', 'přezka', { labelEn: 'buckle' }),
  aTerm('HES-000964', 'železo', { labelEn: 'iron', setSpec: 'heslo:predmet_specifikace' }),
  aTerm('HES-000286', 'doba laténská', { labelEn: 'La Tène Period', setSpec: 'heslo:obdobi' }),
  aTerm('HES-000563', 'sběr', { labelEn: 'field walking', setSpec: 'heslo:nalezove_okolnosti' }),
  aTerm('HES-000866', 'badatel', { labelEn: 'researcher', setSpec: 'heslo:pristupnost' }),
  aTerm('OS-001507', 'Novák, Jan', { setSpec: 'osoba' }),
];
const FRAME: FindElements = {
  projekt: { id: 'C-202400101', text: 'C-202400101' },
  nalezce: { id: 'OS-001507', text: 'Novák, Jan' },
  datum_nalezu: '2024-06-01',
  stav: 2,
  pristupnost: { id: 'HES-000866', text: 'badatel' },
};
/** Enter for the number and each element of the frame. */
const BEGINNING = ['', '', '', '', '', ''];
/** Everything after the frame, complete for state 2. */
const REST = ['brooch', 'zelezo', 'laten', 'sber', '50.0871N 14.4208E', 'field', '35'];
const EMPTY: Find = { localId: '', elements: {}, photos: [] };

type Story = {
  readonly find: Find;
  readonly goal: string;
  readonly kept: readonly Find[];
  readonly said: readonly string[];
};

type Circumstances = {
  readonly start?: Find;
  readonly suggested?: FindElements;
  readonly folder?: string;
  readonly isEmpty?: boolean;
};

async function tell(prompt: ScriptedPrompt, circumstances: Circumstances = {}): Promise<Story> {
  const { world, kept, said } = makeWorld(prompt, circumstances);
  const { find, goal } = await runInterview(circumstances.start ?? EMPTY, world);
  expect(prompt.left).toEqual([]);
  return { find, goal, kept, said };
}

/** Changes a find as `pas edit` does. */
async function change(start: Find, prompt: ScriptedPrompt) {
  const questions = FIND_QUESTIONS.filter(({ name }) => listElementsOfQuestion(name).length > 0);
  const changed = await reviewFind(start, { ...makeWorld(prompt).world, questions });
  expect(prompt.left).toEqual([]);
  return changed;
}

function makeWorld(
  prompt: ScriptedPrompt,
  { suggested = FRAME, folder = tempFolder(), isEmpty = false }: Circumstances = {},
) {
  const vocabulary = isEmpty ? fill(store) : fill(store, ...TERMS);
  const lookups = store.makeLookups(vocabulary.oaiBase);
  const mapping = {
    file: '',
    issues: [],
    unconfirmed: 0,
    rows: [
      {
        row: 2,
        set: 'heslo:predmet_druh',
        term: 'fibule',
        id: 'HES-000605',
        label: 'spona',
        note: '',
      },
    ],
  };
  const context: AnswerContext = {
    lookupTerm: lookups.lookupTerm,
    resolveReference: makeReferenceResolver((set, cell) =>
      lookups.lookupTerm(set, cell === 'fibule' ? 'HES-000605' : cell),
    ),
    resolvePhoto: (name) => ({ value: name }),
    today: '2024-06-02',
    folder,
    isTaken: (id) => id === 'K-001',
    inspectPhotograph: makePhotographKeeping(folder, { maxBytes: 1_000_000 }).inspectPhotograph,
  };
  const kept: Find[] = [];
  const said: string[] = [];
  const world: InterviewContext = {
    prompt,
    questions: FIND_QUESTIONS,
    say: (text) => said.push(text),
    read: (question, text, about) => readAnswer(question, text, about, context),
    offerTerms: makeTermOfferer({ vocabulary, mapping }),
    suggest: () => ({ localId: 'K-002', elements: suggested, photos: [] }),
    check: (about) => checkFindByRules(about, context),
    keep: async (about) => void kept.push(about),
  };
  return { world, kept, said };
}

describe('a find is entered by answering questions', () => {
  test('a known value is confirmed with one key, and terms are found without accents and in English', async () => {
    const story = await tell(scriptedPrompt(...BEGINNING, ...REST, ''));
    expect(story).toMatchObject({
      goal: 'send',
      find: {
        localId: 'K-002',
        elements: {
          ...FRAME,
          druh_nalezu: { id: 'HES-000605', text: 'spona' },
          specifikace: { id: 'HES-000964', text: 'železo' },
          geom_wkt: 'POINT (14.4208 50.0871)',
          hloubka: 35,
        },
      },
    });
  });

  test('Enter on a word without a match gives advice, and the question is repeated', async () => {
    const prompt = scriptedPrompt(...BEGINNING, 'qqqqqq', ...REST, '');
    const { find, said } = await tell(prompt);
    expect(said.join('\n')).toContain('"qqqqqq" cannot be looked up');
    expect(find.elements.druh_nalezu?.id).toBe('HES-000605');
  });

  test('a synonym offers the entry that it means', async () => {
    const prompt = scriptedPrompt(...BEGINNING, 'fibuly', ...REST.slice(1), '');
    await tell(prompt);
    expect(prompt.transcript.join('\n')).toContain('brooch (spona)');
  });

  test.each([
    ['2 m', 200],
    ['350 mm', 35],
  ])('a depth of %s is %d centimetres', async (typed, centimetres) => {
    const { find } = await tell(scriptedPrompt(...BEGINNING, ...REST.slice(0, -1), typed, ''));
    expect(find.elements.hloubka).toBe(centimetres);
  });

  test('a depth that would be rounded to zero is refused', async () => {
    const prompt = scriptedPrompt(...BEGINNING, ...REST.slice(0, -1), '2 mm', '3', '');
    const { find } = await tell(prompt);
    expect([find.elements.hloubka, prompt.transcript.join('\n')]).toEqual([
      3,
      expect.stringContaining('2 mm ✗ '),
    ]);
  });

  test('a museum’s own term is found, and stands for its entry', async () => {
    const prompt = scriptedPrompt(...BEGINNING, 'fibul', ...REST.slice(1), '');
    const { find } = await tell(prompt);
    expect(prompt.transcript).toContain('Object fibul → fibule = brooch (spona)');
    expect(find.elements.druh_nalezu?.id).toBe('HES-000605');
  });

  test('a wrong answer is explained, and the question is repeated', async () => {
    const prompt = scriptedPrompt(
      'K-001',
      'K-3',
      ...BEGINNING.slice(1),
      ...REST.slice(0, 4),
      '50.0871',
      REST[4] ?? '',
      'field',
      '1,5',
      '',
      '35',
      '',
    );
    const { find } = await tell(prompt);
    expect(prompt.transcript.filter((line) => line.includes('✗'))).toEqual([
      expect.stringContaining('There is already a find K-001'),
      expect.stringContaining('is not a position'),
      expect.stringContaining('whole centimetres'),
      expect.stringContaining('State 2 submitted requires this'),
    ]);
    expect(find.localId).toBe('K-3');
  });

  test('swapped axes are reported and must be confirmed', async () => {
    const { find, said } = await tell(
      scriptedPrompt(
        ...BEGINNING,
        ...REST.slice(0, 4),
        '50.0871 14.4208',
        'n',
        '50.0872 14.4208',
        '',
        'field',
        '35',
        '',
      ),
    );
    expect(find.elements.geom_wkt).toBe('POINT (14.4208 50.0872)');
    expect(said).toContain('"50.0871 14.4208" has its axes swapped.');
  });

  test('an unknown finder is stored by name', async () => {
    const { nalezce: _finder, ...others } = FRAME;
    const answers = ['', '', '2', 'Dvořák, Petr', '', '', ...REST, ''];
    const { find } = await tell(scriptedPrompt(...answers), { suggested: others });
    expect(find.elements.nalezce).toEqual({ id: ':tba', text: 'Dvořák, Petr' });
  });

  test('without harvested vocabularies an identifier is accepted as typed', async () => {
    const terms = ['HES-000605', 'hes-000964', 'HES-000286', 'HES-000563'];
    const prompt = scriptedPrompt(...BEGINNING, ...terms, ...REST.slice(4), '');
    const { find } = await tell(prompt, { isEmpty: true });
    expect(find.elements.druh_nalezu).toEqual({ id: 'HES-000605', text: '' });
    expect(prompt.transcript).toContain('Material hes-000964 → hes-000964');
  });
});

describe('at the end', () => {
  test('the reason that prevents a state is shown, and leads back to its question', async () => {
    const { find, said, goal } = await tell(
      scriptedPrompt(...BEGINNING, ...REST.slice(0, 6), '-', '', '35', ''),
    );
    expect(said.join('\n')).toContain('✗ Missing: Depth (cm).');
    expect([find.elements.hloubka, goal]).toEqual([35, 'send']);
  });

  test('a hyphen leaves an answer for later, and the find is kept as a draft', async () => {
    const rest = REST.slice(1).map(() => '-');
    const { find, goal } = await tell(scriptedPrompt(...BEGINNING, 'brooch', ...rest, 'keep as'));
    expect(goal).toBe('draft');
    expect(Object.keys(find.elements)).toEqual(expect.arrayContaining(['druh_nalezu', 'projekt']));
  });

  test('optional elements are asked for on request only', async () => {
    const { find } = await tell(
      scriptedPrompt(...BEGINNING, ...REST, 'note', 'rusty', 'number of items', '3 ks', ''),
    );
    expect(find.elements).toMatchObject({ poznamka: 'rusty', pocet: '3 ks' });
  });

  test('any answer can be changed or removed', async () => {
    const { find, goal } = await tell(
      scriptedPrompt(
        ...BEGINNING,
        ...REST,
        'depth',
        '40',
        'note',
        'x',
        'note',
        '-',
        'target',
        '1',
        'depth',
        '-',
        '',
      ),
    );
    expect([find.elements.hloubka, find.elements.poznamka, find.elements.stav, goal]).toEqual([
      undefined,
      undefined,
      1,
      'send',
    ]);
  });

  test('a photograph is checked when it is added, and without a position it gives no point', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'IMG 1.png'), tinyPng(1));
    const answers = [
      ...BEGINNING,
      ...REST.slice(0, 4),
      "'IMG 1.png'",
      REST[4] ?? '',
      'field',
      '35',
      'photo',
      'none.png',
      'IMG\\ 1.png',
      '',
    ];
    const prompt = scriptedPrompt(...answers);
    const { find } = await tell(prompt, { folder });
    expect(find.photos).toEqual([join(folder, 'IMG 1.png')]);
    expect(prompt.transcript.join('\n')).toMatch(
      /contains no position[\s\S]*There is no photograph/,
    );
  });
});

test('for state 1 only project and accessibility are required', async () => {
  const { find, goal } = await tell(scriptedPrompt(...BEGINNING, ...REST.map(() => ''), ''), {
    suggested: { ...FRAME, stav: 1 },
  });
  expect([goal, find.elements]).toEqual(['send', { ...FRAME, stav: 1, geom_system: '4326' }]);
});

test('for state 3 the handover is asked for too', async () => {
  const prompt = scriptedPrompt(...BEGINNING, ...REST, 'yes', '-', 'A 12/2024', 'keep as');
  const { find } = await tell(prompt, { suggested: { ...FRAME, stav: 3 } });
  expect(find.elements).toMatchObject({ predano: true, evidencni_cislo: 'A 12/2024' });
});

test('answers of an unfinished find are not asked for again', async () => {
  const start: Find = {
    localId: 'K-9',
    elements: { ...FRAME, hloubka: 12, druh_nalezu: { id: 'HES-000605', text: 'spona' } },
    photos: [],
  };
  const { find } = await tell(scriptedPrompt(...REST.slice(1, 6), ''), { start });
  expect(find.elements).toMatchObject({ hloubka: 12, lokalizace: 'field' });
});

describe('a find is changed', () => {
  const ELEMENTS: FindElements = {
    ...FRAME,
    hloubka: 35,
    okolnosti: { id: 'HES-000563', text: 'sběr' },
    obdobi: { id: 'HES-000286', text: 'doba laténská' },
    druh_nalezu: { id: 'HES-000605', text: 'spona' },
    specifikace: { id: 'HES-000964', text: 'železo' },
    nalezce: { id: ':tba', text: 'Horáková, Ludmila' },
    geom_system: '4326',
    geom_wkt: 'POINT (14.4208 50.0871)',
    lokalizace: 'field',
  };
  const FIND: Find = { localId: 'K-1', elements: ELEMENTS, photos: [] };

  test('Enter keeps a value, even a person unknown to the vocabulary, and saves', async () => {
    const { find, goal } = await change(FIND, scriptedPrompt('finder', '', ''));
    expect([find, goal]).toEqual([FIND, 'send']);
  });

  test('Enter keeps a no', async () => {
    const start: Find = { ...FIND, elements: { ...ELEMENTS, stav: 3, predano: false } };
    const { find } = await change(start, scriptedPrompt('handed over', '', 'draft'));
    expect(find.elements.predano).toBe(false);
  });

  test('a term is searched, a point is read in any form, and a wrong depth is reported at once', async () => {
    const point = `49°50'25,8" s. š. 15°10'16" v. d.`;
    const prompt = scriptedPrompt('object', 'buckl', 'coordin', point, 'depth', 'deep', '40', '');
    const { find } = await change(FIND, prompt);
    expect(find.elements).toMatchObject({ druh_nalezu: { id: 'HES-000610' }, hloubka: 40 });
    expect(find.elements.geom_wkt).toMatch(/^POINT ?\(15\.17111\d* 49\.8405\d*\)$/);
    expect(prompt.transcript.join('\n')).toMatch(/deep ✗/);
  });

  test('a hyphen removes a value, and Enter leaves it unchanged', async () => {
    const prompt = scriptedPrompt('place in words', '-', 'depth', '', 'draft');
    const { find, goal } = await change(FIND, prompt);
    const { lokalizace: _gone, ...rest } = ELEMENTS;
    expect([find.elements, goal]).toEqual([rest, 'draft']);
  });

  test.each(['number of the find', 'photographs'])('%s is not offered', async (typed) => {
    await expect(change(FIND, scriptedPrompt(typed))).rejects.toThrow('offers nothing');
  });
});
