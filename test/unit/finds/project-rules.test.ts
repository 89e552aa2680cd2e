import { describe, expect, test } from 'vitest';
import type { FindElements } from '../../../src/finds/fields.ts';
import type { ProjectLookupResult } from '../../../src/finds/find.ts';
import { checkProject, RULES } from '../../../src/finds/rules.ts';
import type { RuleContext } from '../../../src/finds/value-rules.ts';
import { inWords } from '../../support/in-words.ts';

type Found = Extract<ProjectLookupResult, { kind: 'found' }>;
const SURVEY: Found = {
  kind: 'found',
  survey: true,
  type: 'průzkum',
  stav: 3,
  organisation: 'Muzeum Kutnohorska',
};

function judge(project: ProjectLookupResult, account: Partial<RuleContext> = {}): string[] {
  const elements = { projekt: { id: 'C-202400101', text: '' } };
  const context: RuleContext = { today: '2024-06-01', lookupProject: () => project, ...account };
  return checkProject(elements, context).map(
    ({ warning, message }) => `${warning === true ? 'warning' : 'error'}: ${message}`,
  );
}

test('a project of another type, or a deleted one, is refused before anything is sent', () => {
  expect(judge({ ...SURVEY, survey: false, type: 'záchranný' })).toEqual([
    expect.stringMatching(/^error: .*záchranný/),
  ]);
  expect(judge({ kind: 'deleted' })).toEqual([expect.stringMatching(/^error: .*deleted/)]);
});

test('the rules keep their names, and their issues concern the project', () => {
  const elsewhere = { role: 'archaeologist', organisation: 'Archeologický ústav' };
  const closed = {
    today: '2024-06-01',
    ...elsewhere,
    lookupProject: () => ({ ...SURVEY, stav: 5 }),
  };
  expect(
    RULES.flatMap(({ name, judge: judgeRule }) =>
      judgeRule({ projekt: { id: 'C-1', text: '' } }, closed, 'K-1')
        .filter(({ element }) => element === 'projekt')
        .map(({ rule = name }) => rule),
    ),
  ).toEqual(['project-state', 'project-organisation']);
  const elements = { projekt: { id: 'C-202400101', text: '' } };
  const context: RuleContext = { today: '2024-06-01', lookupProject: () => ({ kind: 'unknown' }) };
  expect(inWords(checkProject(elements, context))).toEqual([
    {
      element: 'projekt',
      message:
        'C-202400101 is not among the harvested projects. Check the spelling; if the project is new, run pas harvest-vocab projekt.',
      warning: true,
    },
  ]);
});

test('a project that the harvest does not show is only pointed out, since not every account sees all', () => {
  expect(judge({ kind: 'unknown' })).toEqual([expect.stringMatching(/^warning: /)]);
  expect(judge({ kind: 'unknown', list: 'as-shown' }, { role: 'researcher' })).toEqual([
    expect.stringMatching(/^warning: /),
  ]);
  expect(judge({ kind: 'hidden' })).toEqual([
    expect.stringMatching(/^warning: .*did not show .*pas harvest-vocab/),
  ]);
});

test('a project missing from the whole list is refused, but not for an archaeologist, whose list is incomplete', () => {
  expect(judge({ kind: 'unknown', list: 'whole' })).toEqual([expect.stringMatching(/^error: /)]);
  expect(judge({ kind: 'unknown', list: 'as-shown' }, { role: 'archaeologist' })).toEqual([
    expect.stringMatching(/^error: /),
  ]);
});

test('nothing is reported if nothing is known', () => {
  expect(judge({ kind: 'not-harvested' })).toEqual([]);
  expect(
    judge(
      { ...SURVEY, stav: null, organisation: '' },
      { role: 'archaeologist', organisation: 'Muzeum' },
    ),
  ).toEqual([]);
});

test('nothing is reported about a find without a project, or if no project can be looked up', () => {
  const account = {
    today: '2024-06-01',
    role: 'archaeologist',
    organisation: 'Archeologický ústav',
  };
  const judged = (elements: FindElements, context: RuleContext) => checkProject(elements, context);
  expect(judged({}, { ...account, lookupProject: () => ({ ...SURVEY, stav: 5 }) })).toEqual([]);
  expect(judged({ projekt: { id: 'C-202400101', text: '' } }, account)).toEqual([]);
});

test('a project of another type has no issue about its state and organisation', () => {
  const account = { role: 'archaeologist', organisation: 'Archeologický ústav' };
  expect(judge({ ...SURVEY, survey: false, stav: 5 }, account)).toEqual([
    expect.stringMatching(/^error: .*of the type/),
  ]);
});

describe('the state of a project', () => {
  test.each([
    [-1, 'created'],
    [0, 'announced'],
    [1, 'registered'],
    [2, 'signed up'],
    [7, 'proposed for cancellation'],
  ])(
    '%i, which is named %s, may have advanced since the harvest, so it is pointed out',
    (stav, name) => {
      expect(judge({ ...SURVEY, stav }, { role: 'archaeologist' })).toEqual([
        expect.stringMatching(
          `^warning: C-202400101 is in the state "${name}".*If its state has changed: .*harvest-vocab`,
        ),
      ]);
    },
  );

  test('that was only created is pointed out to an archivist too', () => {
    for (const role of ['archivist', 'administrator']) {
      expect(judge({ ...SURVEY, stav: -1 }, { role })).toEqual([
        expect.stringMatching(/^warning: .*created/),
      ]);
      expect(judge({ ...SURVEY, stav: 0 }, { role })).toEqual([]);
    }
  });

  test.each([3, 4])('%i accepts finds', (stav) => {
    for (const role of ['researcher', 'archaeologist', 'archivist'])
      expect(judge({ ...SURVEY, stav }, { role })).toEqual([]);
  });

  test.each([
    [5, 'closed'],
    [6, 'archived'],
    [8, 'cancelled'],
  ])('%i is final: an archaeologist is refused, an archivist is not', (stav, name) => {
    for (const role of ['researcher', 'archaeologist']) {
      expect(judge({ ...SURVEY, stav }, { role })).toEqual([
        expect.stringMatching(new RegExp(`^error: .*${name}`)),
      ]);
    }
    for (const role of ['archivist', 'administrator'])
      expect(judge({ ...SURVEY, stav }, { role })).toEqual([]);
  });

  test('is only pointed out if the role of the account is unknown', () => {
    expect(judge({ ...SURVEY, stav: 5 })).toEqual([expect.stringMatching(/^warning: /)]);
  });
});

describe('the organisation of a project', () => {
  const elsewhere = { organisation: 'Archeologický ústav' };

  test('that differs from the archaeologist’s is pointed out: only cooperation permits it', () => {
    const [finding, ...otherNames] = judge(SURVEY, { role: 'archaeologist', ...elsewhere });
    expect(finding).toMatch(/^warning: .*Muzeum Kutnohorska.*Archeologický ústav/);
    expect(otherNames).toEqual([]);
  });

  test('does not matter for a researcher or an archivist, or if it is the same', () => {
    for (const role of ['researcher', 'archivist', 'administrator'])
      expect(judge(SURVEY, { role, ...elsewhere })).toEqual([]);
    expect(judge(SURVEY, { role: 'archaeologist', organisation: 'Muzeum Kutnohorska' })).toEqual(
      [],
    );
  });
});
