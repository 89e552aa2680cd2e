import { beforeAll, describe, expect, test } from 'vitest';
import { DOUBTFUL_PROJECTS, JUDGED_FINDS } from '../contract/judged-finds.ts';
import { makeDocument } from '../support/contract-find.ts';
import { shareMock, useVocabularies } from '../support/use-mock.ts';

type Judged = {
  file: string;
  severity: string;
  element: string | null;
  line: number | null;
  message: string;
};

const mock = shareMock();
const home = useVocabularies(mock);
let issues: readonly Judged[];

beforeAll(async () => {
  await home.do('harvest-vocab', 'projekt');
  const files = [...JUDGED_FINDS, ...DOUBTFUL_PROJECTS].map(([, , content], index) =>
    home.file(getFile(index), makeDocument({ server: mock.service }, content)),
  );
  issues = (await home.json<{ issues: readonly Judged[] }>('validate', ...files)).issues;
});

const getFile = (index: number) => `judged-${index}.xml`;

describe('a hand-written document is judged offline as the service judges it', () => {
  test.each(JUDGED_FINDS.map(([title, status], index) => [title, status, index] as const))(
    '%s, where the service answers %i',
    (_, status, index) => {
      const errors = issues.filter(
        ({ file, severity }) => severity === 'error' && file.endsWith(`/${getFile(index)}`),
      );
      expect(errors.length > 0, errors.map(({ message }) => message).join('\n')).toBe(
        status !== 201,
      );
    },
  );
});

test.each(
  DOUBTFUL_PROJECTS.map(
    ([title, status], index) => [title, status, JUDGED_FINDS.length + index] as const,
  ),
)('%s, where the service answers %i, is pointed out', (_, __, index) => {
  const ofFile = issues.filter(({ file }) => file.endsWith(`/${getFile(index)}`));
  expect(ofFile).toMatchObject([{ severity: 'warning', element: 'projekt', line: 5 }]);
});

describe('a table for a project that takes no finds', () => {
  const rows = (project: string) =>
    home.file(
      'rows.csv',
      `local_id;projekt;stav;geom_system;pristupnost\nP-1;${project};1;4326;HES-000866\nP-2;${project};1;4326;HES-000866\n`,
    );

  test('is kept as drafts if that is certain', async () => {
    const imported = await home.json('import', rows('C-202300715'), '--dry-run');
    expect(imported).toMatchObject({
      drafts: 2,
      issues: [
        { rule: 'survey-project', row: 2 },
        { rule: 'survey-project', row: 3 },
      ],
    });
  });

  test('is reported once if that is uncertain', async () => {
    const imported = await home.json('import', rows('M-202300316'), '--dry-run');
    expect(imported).toMatchObject({
      drafts: 0,
      issues: [{ rule: 'project-organisation', severity: 'warning' }],
    });
  });
});

test('a find added from flags is not saved for a project that takes none', async () => {
  const run = await home.pas(
    'add',
    '--set',
    'projekt=C-202200058',
    '--set',
    'stav=1',
    '--set',
    'pristupnost=HES-000866',
    '--json',
  );
  expect({ code: run.code, stdout: run.stdout }).toEqual({
    code: 3,
    stdout: expect.stringContaining('"rule":"project-state"'),
  });
});
