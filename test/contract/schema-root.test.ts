import { expect, test } from 'vitest';
import { check, entityValidator, faults } from './schema-validators.ts';

// A-DECLARE-1, S-TYPE-4 and S-TYPE-8.

/** Only what the schema requires. */
const find = `<svc:samostatny_nalez>
<svc:ident_cely>:tba</svc:ident_cely>
<svc:projekt id="C-202401234"/>
<svc:stav>1</svc:stav>
<svc:geom_system>4326</svc:geom_system>
<svc:pristupnost id="HES-000865" xml:lang="cs"/>
</svc:samostatny_nalez>`;
const root = (content: string) =>
  `<svc:svc xmlns:svc="https://schemas.example/svc/2.2/">${content}</svc:svc>`;
const SMALLEST_FIND = root(find);

test('the root holds at most one entity', () => {
  expect(check(root(find))).toEqual([]);
  expect(check(root(`${find}${find}`))).not.toEqual([]);
  expect(check(root(`${find}<svc:osoba/>`))).not.toEqual([]);
  expect(check(root(''))).toEqual([]);
});

test('the root holds nothing unknown to the service', () => {
  expect(check(root('<svc:nalez/>'))).not.toEqual([]);
  expect(check(root(find.replaceAll('svc:samostatny_nalez', 'svc:Samostatny_nalez')))).not.toEqual(
    [],
  );
  expect(check('<svc:samostatny_nalez xmlns:svc="https://schemas.example/svc/2.2/"/>')).not.toEqual(
    [],
  );
});

test('the root belongs to one version: a document of another version is refused by name', async () => {
  const validator = await entityValidator('2.1');
  expect(faults(validator, SMALLEST_FIND).join()).toContain(
    '{https://schemas.example/svc/2.2/}svc',
  );
  validator[Symbol.dispose]();
});

test('the root is recognised by its namespace, whatever the prefix', () => {
  expect(
    check(
      SMALLEST_FIND.replaceAll('<svc:', '<p:')
        .replaceAll('</svc:', '</p:')
        .replace('xmlns:svc', 'xmlns:p'),
    ),
  ).toEqual([]);
  expect(
    check(
      SMALLEST_FIND.replaceAll('<svc:', '<')
        .replaceAll('</svc:', '</')
        .replace('xmlns:svc', 'xmlns'),
    ),
  ).toEqual([]);
  expect(check(SMALLEST_FIND.replaceAll('<svc:', '<').replaceAll('</svc:', '</'))).not.toEqual([]);
});

test('the root has the name that the deployment gives it', async () => {
  const validator = await entityValidator('2.2', 'other');
  const renamed = SMALLEST_FIND.replace('<svc:svc ', '<svc:other ').replace(
    '</svc:svc>',
    '</svc:other>',
  );
  expect(faults(validator, renamed)).toEqual([]);
  expect(faults(validator, SMALLEST_FIND)).not.toEqual([]);
  validator[Symbol.dispose]();
});
