import { describe, expect, test } from 'vitest';
import { check } from '../support/schema-validators.ts';
import { FIND, findWith, getLine, SMALLEST_FIND } from './hand-typed-find.ts';

// A-FIELD-5 to A-FIELD-25, one by one, and A-FIELD-4 on the elements that are ignored but checked.

function text(element: string, value: string): string {
  return `<svc:${element}>${value}</svc:${element}>`;
}

function vocab(element: string): readonly [good: string[], bad: string[]] {
  const good = `<svc:${element} id="HES-000001" xml:lang="cs">x</svc:${element}>`;
  return [
    [good, good.replace('"cs"', '"en"'), good.replace('>x<', '><'), good.replace('HES-000001', '')],
    [
      `<svc:${element} xml:lang="cs">x</svc:${element}>`,
      `<svc:${element} id="HES-000001">x</svc:${element}>`,
      `<svc:${element} id="HES-000001" lang="cs">x</svc:${element}>`,
      `<svc:${element} id="HES-000001" xml:lang="cs"><svc:b/></svc:${element}>`,
      `<svc:${element} id="HES-000001" xml:lang="cs" uri="x">x</svc:${element}>`,
    ],
  ];
}

function ref(element: string): readonly [good: string[], bad: string[]] {
  const good = `<svc:${element} id="X">x</svc:${element}>`;
  return [
    [good, `<svc:${element} id=":tba"/>`],
    [text(element, 'x'), `<svc:${element} ID="X">x</svc:${element}>`],
  ];
}

function string(element: string): readonly [good: string[], bad: string[]] {
  return [
    [
      text(element, 'x'),
      text(element, ''),
      text(element, 'ž'.repeat(1000)),
      text(element, '<![CDATA[<b>]]>'),
    ],
    [`<svc:${element} id="x">x</svc:${element}>`, text(element, '<svc:b/>')],
  ];
}

function wkt(element: string): readonly [good: string[], bad: string[]] {
  const good = `<svc:${element} EPSG="4326">POINT (14.42 50.08)</svc:${element}>`;
  return [
    [good, good.replace('4326', '5514')],
    [text(element, 'POINT (1 2)'), good.replace('4326', 'EPSG:4326'), good.replace('"4326"', '""')],
  ];
}

function gml(element: string): readonly [good: string[], bad: string[]] {
  const point = '<gml:Point><gml:coordinates>1,2</gml:coordinates></gml:Point>';
  return [
    [
      text(element, point),
      text(element, '<gml:Anything whatever="1"><x xmlns="urn:x"/></gml:Anything>'),
      text(element, '<p:P xmlns:p="http://www.opengis.net/gml/3.2"/>'),
    ],
    [
      text(element, ''),
      text(element, 'POINT (1 2)'),
      text(element, '<p:Point xmlns:p="http://www.opengis.net/gml"/>'),
      text(element, '<svc:Point/>'),
    ],
  ];
}

const ROWS: Record<string, readonly [good: string[], bad: string[]]> = {
  ident_cely: [[text('ident_cely', ':tba')], ['', text('ident_cely', '<svc:b/>')]],
  evidencni_cislo: string('evidencni_cislo'),
  projekt: [ref('projekt')[0], ['', ...ref('projekt')[1]]],
  hloubka: [
    ['0', '-5', '+3', ' 12 ', '007'].map((value) => text('hloubka', value)),
    ['', '12.5', '12,5', '1 000', '30 cm', 'INF'].map((value) => text('hloubka', value)),
  ],
  okolnosti: vocab('okolnosti'),
  obdobi: vocab('obdobi'),
  presna_datace: string('presna_datace'),
  druh_nalezu: vocab('druh_nalezu'),
  specifikace: vocab('specifikace'),
  pocet: string('pocet'),
  poznamka: string('poznamka'),
  nalezce: ref('nalezce'),
  datum_nalezu: [
    ['2024-02-29', '1931-12-01', '2024-05-06Z'].map((value) => text('datum_nalezu', value)),
    [
      '',
      '6.5.2024',
      '2024-5-6',
      '2023-02-29',
      '2024-13-01',
      '2024-05-06T07:08:09',
      '2024',
      '20240506',
    ].map((value) => text('datum_nalezu', value)),
  ],
  stav: [
    ['1', '2', '3', '4', '99'].map((value) => text('stav', value)),
    ['', 'dva', '1.0'].map((value) => text('stav', value)).concat(''),
  ],
  predano: [
    ['true', 'false', '1', '0', ' true '].map((value) => text('predano', value)),
    ['', 'TRUE', 'ano', 'yes', '2'].map((value) => text('predano', value)),
  ],
  predano_organizace: vocab('predano_organizace'),
  geom_system: [
    ['4326', '5514', 'wgs84'].map((value) => text('geom_system', value)),
    ['', '<svc:geom_system id="4326">4326</svc:geom_system>'],
  ],
  pristupnost: [vocab('pristupnost')[0], ['', ...vocab('pristupnost')[1]]],
  lokalizace: string('lokalizace'),
  geom_wkt: wkt('geom_wkt'),
  geom_sjtsk_wkt: wkt('geom_sjtsk_wkt'),
  // Rule 4: ignored, yet checked.
  igsn: string('igsn'),
  okres: vocab('okres'),
  katastr: vocab('katastr'),
  geom_gml: gml('geom_gml'),
  geom_sjtsk_gml: gml('geom_sjtsk_gml'),
};

test('a find with every element is valid, and so is one with only the required ones', () => {
  expect(check(FIND)).toEqual([]);
  expect(check(SMALLEST_FIND)).toEqual([]);
});

describe.each(Object.entries(ROWS))('%s', (element, [good, bad]) => {
  test.each(good)('may be %s', (xml) => {
    expect(check(findWith(element, xml))).toEqual([]);
  });

  test.each(bad)('may not be %s', (xml) => {
    expect(check(findWith(element, xml))).not.toEqual([]);
  });
});

test('several violations are reported together, each with its line and element', () => {
  const document = FIND.replace('<svc:hloubka>12<', '<svc:hloubka>x<')
    .replace('>2024-05-06<', '>včera<')
    .replace(' EPSG="4326"', '');
  const at = (element: string) => `${getLine(element) + 1} ${element}`;
  expect(check(document).map((fault) => fault.split(':')[0])).toEqual([
    at('hloubka'),
    at('datum_nalezu'),
    at('geom_wkt'),
  ]);
});
