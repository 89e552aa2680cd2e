import { describe, expect, test } from 'vitest';
import { parseElements, RECORDS, record } from './hand-typed-records.ts';
import { check, SCHEMA_VERSIONS, type SchemaVersion } from './schema-validators.ts';

// Differences between versions (S-DIFF-1 to S-DIFF-3).

const ADDED = RECORDS.flatMap((name) =>
  parseElements(record(name)).flatMap(({ path, shape }) =>
    shape.since === '2.0' ? [] : [{ name, path, since: shape.since }],
  ),
);

test('2.1 and 2.2 added what the service documents', () => {
  const added = (version: SchemaVersion) =>
    ADDED.filter(({ since }) => since === version).map(({ path }) => path);
  expect(added('2.1')).toEqual([
    'projekt/geom_system',
    'projekt/chranene_udaje/geom_sjtsk_gml',
    'projekt/chranene_udaje/geom_sjtsk_wkt',
    'archeologicky_zaznam/lokalita/igsn',
    'dokument/doi',
    'dokument/extra_data/geom_system',
    'dokument/extra_data/geom_sjtsk_gml',
    'dokument/extra_data/geom_sjtsk_wkt',
    'ext_zdroj/doi',
    'samostatny_nalez/igsn',
    'uzivatel/orcid',
    'heslo/odkaz/scheme_uri',
    'organizace/ror',
    'osoba/orcid',
    'osoba/wikidata',
  ]);
  expect(added('2.2')).toEqual(['ruian_kraj/email']);
});

test.each(ADDED)('$path is refused before $since', ({ name, path, since }) => {
  for (const version of SCHEMA_VERSIONS.filter((older) => older < since)) {
    expect(check(record(name, version, path).join('\n'), version).join()).toContain(
      path.split('/').at(-1),
    );
  }
});

describe.each(['pian', 'samostatny_nalez'] as const)('%s', (name) => {
  const timed = (version: SchemaVersion, times: string) =>
    check(
      record(name, version)
        .join('\n')
        .replace(/<svc:geom_system>.*<\/svc:geom_system>/, (system) => `${system}${times}`),
      version,
    );
  const wgs = '<svc:geom_updated_at>2024-05-06T07:08:09Z</svc:geom_updated_at>';
  const sjtsk = wgs.replaceAll('geom_', 'geom_sjtsk_');

  test('has the time of the last change of geometry in 2.0', () => {
    for (const times of [wgs, sjtsk, wgs + sjtsk]) expect(timed('2.0', times)).toEqual([]);
    for (const times of [sjtsk + wgs, wgs + wgs, wgs.replace('T07:08:09Z', '')])
      expect(timed('2.0', times)).not.toEqual([]);
  });

  test.each(['2.1', '2.2'] as const)('can no longer have it in %s', (version) => {
    for (const times of [wgs, sjtsk]) expect(timed(version, times).join()).toContain('_updated_at');
  });
});

test.each([
  ['uzivatel', 'orcid'],
  ['osoba', 'orcid'],
  ['osoba', 'wikidata'],
  ['samostatny_nalez', 'url'],
] as const)(
  '%s: %s must be an address since 2.2, and could be any text before',
  (name, element) => {
    const spoilt = (version: SchemaVersion) =>
      check(
        record(name, version)
          .join('\n')
          .replace(new RegExp(`<svc:${element}>[^<]*`), `<svc:${element}>::: 50 % :::`),
        version,
      );
    expect(spoilt('2.1')).toEqual([]);
    expect(spoilt('2.2').join()).toContain('anyURI');
  },
);
