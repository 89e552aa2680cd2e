import { expect, test } from 'vitest';
import type { ProjectLookup } from '../../../src/find/lookup.ts';
import { PROJECT_RULES } from '../../../src/find/project-rules.ts';

function judge(project: ProjectLookup): string[] {
  const elements = { projekt: { id: 'C-202400101', text: '' } };
  return PROJECT_RULES.flatMap((rule) => rule.judge(elements, { today: '2024-06-01', lookupProject: () => project })).map(
    ({ warning, message }) => `${warning === true ? 'warning' : 'error'}: ${message}`,
  );
}

test('a survey project is right', () => {
  expect(judge({ kind: 'found', survey: true, type: 'průzkum' })).toEqual([]);
});

test('a project of another type, or one that was deleted, is refused before anything is sent', () => {
  expect(judge({ kind: 'found', survey: false, type: 'záchranný' })).toEqual([expect.stringMatching(/^error: .*záchranný/)]);
  expect(judge({ kind: 'deleted' })).toEqual([expect.stringMatching(/^error: .*deleted/)]);
});

test('a project that the harvest does not show is only pointed out, since not everybody sees all', () => {
  expect(judge({ kind: 'unknown' })).toEqual([expect.stringMatching(/^warning: /)]);
});

test('nothing is said where nothing is known', () => {
  expect(judge({ kind: 'not-harvested' })).toEqual([]);
  expect(judge({ kind: 'hidden' })).toEqual([]);
});
