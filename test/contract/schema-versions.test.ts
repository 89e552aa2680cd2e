import { expect, test } from 'vitest';
import { ADDED, asVersion, type Entity, record, without, withText } from '../support/hand-typed-records.ts';
import { check, SCHEMA_VERSIONS, type SchemaVersion } from '../support/schema-validators.ts';

// What differs between versions (service facts, section 8.3).

test.each(ADDED)('$entity/$element came with $since', ({ entity, element, since, required }) => {
  const before = SCHEMA_VERSIONS[SCHEMA_VERSIONS.indexOf(since) - 1];
  if (before === undefined) throw new Error(`nothing is older than ${since}`);
  const others = ADDED.filter((other) => other.entity === entity && other.element !== element && other.since > before);
  const onlyThis = others.reduce((document, other) => without(document, other.element), record(entity));
  expect(check(onlyThis, before).join()).toContain(element);
  expect(check(asVersion(entity, since), since)).toEqual([]);
  expect(check(without(asVersion(entity, since), element), since)).toHaveLength(required ? 1 : 0);
});

test('pian and samostatny_nalez lost the times of their last change of geometry with 2.1', () => {
  const times =
    '<svc:geom_updated_at>2024-05-06T07:08:09Z</svc:geom_updated_at><svc:geom_sjtsk_updated_at>2024-05-06T07:08:09Z</svc:geom_sjtsk_updated_at>';
  for (const entity of ['pian', 'samostatny_nalez'] as const) {
    const timed = (version: SchemaVersion) =>
      asVersion(entity, version).replace('</svc:geom_system>', `</svc:geom_system>${times}`);
    expect(check(timed('2.0'), '2.0')).toEqual([]);
    expect(check(timed('2.1'), '2.1').join()).toContain('geom_updated_at');
    expect(check(timed('2.2'), '2.2').join()).toContain('geom_updated_at');
  }
});

test.each<[Entity, string]>([
  ['uzivatel', 'orcid'],
  ['osoba', 'orcid'],
  ['osoba', 'wikidata'],
  ['samostatny_nalez', 'url'],
])('%s/%s must be an address since 2.2', (entity, element) => {
  const notAnAddress = '::: 50 % :::';
  expect(check(withText(asVersion(entity, '2.1'), element, notAnAddress), '2.1')).toEqual([]);
  expect(check(withText(record(entity), element, notAnAddress), '2.2').join()).toContain('anyURI');
});
