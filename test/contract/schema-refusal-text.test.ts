import { expect, test } from 'vitest';
import { record } from './hand-typed-records.ts';
import { check, SCHEMA_VERSIONS } from './schema-validators.ts';

// Hidden values are replaced by a text (B-SEE-2, S-TYPE-5).

const REFUSAL = 'HTTP/1.1 403 Forbidden';
const PROTECTED = /\n( *)<svc:(chranene_udaje|oznamovatel)>\n.*?\n\1<\/svc:\2>/gs;

test.each([
  ['projekt', 2],
  ['archeologicky_zaznam-akce', 2],
  ['archeologicky_zaznam-lokalita', 2],
  ['adb', 1],
  ['pian', 1],
  ['samostatny_nalez', 1],
] as const)('%s may contain it in %i places', (name, places) => {
  for (const version of SCHEMA_VERSIONS) {
    const document = record(name, version).join('\n');
    const hidden = document.replaceAll(PROTECTED, `<svc:$2>${REFUSAL}</svc:$2>`);
    expect(hidden.split(REFUSAL)).toHaveLength(places + 1);
    expect(check(hidden, version)).toEqual([]);
    expect(check(document.replaceAll(PROTECTED, '<svc:$2/>'), version)).toEqual([]);
  }
});

test.each(SCHEMA_VERSIONS)('a whole record of %s may contain the refusal', (version) => {
  expect(
    check(`<svc:svc xmlns:svc="https://schemas.example/svc/2.2/"> ${REFUSAL} </svc:svc>`, version),
  ).toEqual([]);
});

test('no other part may contain it', () => {
  const project = record('projekt').join('\n');
  expect(
    check(project.replace(/<svc:datum_zahajeni>[^<]*/, `<svc:datum_zahajeni>${REFUSAL}`)),
  ).not.toEqual([]);
  expect(
    check(
      project.replace(
        /<svc:historie>.*<\/svc:historie>/s,
        `<svc:historie>${REFUSAL}</svc:historie>`,
      ),
    ),
  ).not.toEqual([]);
  expect(
    check(
      `<svc:svc xmlns:svc="https://schemas.example/svc/2.2/"><svc:projekt>${REFUSAL}</svc:projekt></svc:svc>`,
    ),
  ).not.toEqual([]);
});
