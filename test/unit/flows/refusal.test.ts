import { expect, test } from 'vitest';
import { isAboutContent } from '../../../src/push/entry-refusal.ts';
import type { Entry } from '../../../src/outbox/entry.ts';

const DOCUMENT = Buffer.from(
  '<?xml version="1.0"?>\n<svc:svc>\n <svc:nalez>\n  <svc:hloubka>1</svc:hloubka>\nx\n</svc:svc>',
);

test.each<[string, Partial<Entry>, number | undefined, boolean]>([
  ['an element of an import', { kind: 'import', document: DOCUMENT }, 4, true],
  ['the find of an import', { kind: 'import', document: DOCUMENT }, 3, true],
  ['the root of an import, as all finds have it', { kind: 'import', document: DOCUMENT }, 2, false],
  ['no line of an import', { kind: 'import', document: DOCUMENT }, undefined, false],
  ['a line of an import without an element', { kind: 'import', document: DOCUMENT }, 5, true],
  ['a line that an import does not have', { kind: 'import', document: DOCUMENT }, 99, true],
  ['an import whose document is not kept', { kind: 'import', document: null }, undefined, true],
  ['a number', { kind: 'number' }, undefined, true],
  ['a photograph', { kind: 'photo' }, 2, true],
])('a finding about %s', (_, entry, line, isContent) => {
  const finding = { line, column: undefined, message: 'wrong', errorType: 2 };
  expect(isAboutContent(entry as Entry, finding)).toBe(isContent);
});
