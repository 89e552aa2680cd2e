import { describe, expect, test } from 'vitest';
import { buildDocument } from '../../../src/finds/document.ts';
import { aFind, PROFILE } from './a-find.ts';

const text = (...args: Parameters<typeof aFind>): string =>
  buildDocument(aFind(...args), PROFILE).toString('utf8');

describe('the import document', () => {
  test('has every element in the order of the contract, on its own line', () => {
    expect(text()).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<svc:svc xmlns:svc="https://schema.example.org/svc/2.2/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="https://schema.example.org/svc/2.2/ https://schema.example.org/svc/2.2/svc.xsd">
  <svc:samostatny_nalez>
    <svc:ident_cely>:tba</svc:ident_cely>
    <svc:evidencni_cislo>A 1250/2024</svc:evidencni_cislo>
    <svc:projekt id="C-202400101">C-202400101</svc:projekt>
    <svc:hloubka>25</svc:hloubka>
    <svc:okolnosti xml:lang="cs" id="HES-000101">výkop</svc:okolnosti>
    <svc:obdobi xml:lang="cs" id="HES-000253">paleolit</svc:obdobi>
    <svc:presna_datace>5. stol. př. n. l.</svc:presna_datace>
    <svc:druh_nalezu xml:lang="cs" id="HES-000691">lahev</svc:druh_nalezu>
    <svc:specifikace xml:lang="cs" id="HES-000979">keramika</svc:specifikace>
    <svc:pocet>1</svc:pocet>
    <svc:poznamka>hrdlo odlomeno</svc:poznamka>
    <svc:nalezce id=":tba">Nováková, Žofie</svc:nalezce>
    <svc:datum_nalezu>2024-06-17</svc:datum_nalezu>
    <svc:stav>3</svc:stav>
    <svc:predano>true</svc:predano>
    <svc:predano_organizace xml:lang="cs" id="ORG-000091">Muzeum</svc:predano_organizace>
    <svc:geom_system>4326</svc:geom_system>
    <svc:pristupnost xml:lang="cs" id="HES-000866">badatel</svc:pristupnost>
    <svc:chranene_udaje>
      <svc:lokalizace>pole za mlýnem</svc:lokalizace>
      <svc:geom_wkt EPSG="4326">POINT (15.1712 49.8405)</svc:geom_wkt>
    </svc:chranene_udaje>
  </svc:samostatny_nalez>
</svc:svc>
`);
  });

  test('follows the profile: prefix, namespace and file name', () => {
    const profile = {
      prefix: 'amcr',
      schemaBase: 'https://api.example.org/schema/amcr',
      schemaVersion: '2.1',
    };
    const document = buildDocument(aFind(), profile).toString();
    expect(document).toContain('<amcr:amcr xmlns:amcr="https://api.example.org/schema/amcr/2.1/"');
    expect(document).toContain(
      'xsi:schemaLocation="https://api.example.org/schema/amcr/2.1/ https://api.example.org/schema/amcr/2.1/amcr.xsd"',
    );
    expect(document).toContain('<amcr:samostatny_nalez>');
    expect(document).not.toContain('svc:');
  });

  test('has only the point of the chosen system', () => {
    const both = {
      geom_wkt: 'POINT (14.42 50.08)',
      geom_sjtsk_wkt: 'POINT (-743011.72 -1043823.18)',
    };
    expect(text({ ...both, geom_system: '5514' })).toContain(
      '<svc:geom_sjtsk_wkt EPSG="5514">POINT (-743011.72 -1043823.18)</svc:geom_sjtsk_wkt>',
    );
    expect(text({ ...both, geom_system: '5514' })).not.toContain('geom_wkt EPSG="4326"');
    expect(text({ ...both, geom_system: undefined })).not.toContain('POINT');
  });

  test('omits absent or blank elements, and the protected part if it is empty', () => {
    const document = text({
      poznamka: ' \n ',
      obdobi: { id: '', text: 'paleolit' },
      lokalizace: undefined,
      geom_wkt: undefined,
    });
    for (const name of ['poznamka', 'obdobi', 'chranene_udaje'])
      expect(document).not.toContain(name);
  });

  test('contains false, and depth 0', () => {
    expect(text({ predano: false })).toContain('<svc:predano>false</svc:predano>');
    expect(text({ hloubka: 0 })).toContain('<svc:hloubka>0</svc:hloubka>');
  });

  test('uses the identifier as label if no label is known', () => {
    expect(text({ obdobi: { id: 'HES-000253', text: '' } })).toContain(
      'id="HES-000253">HES-000253<',
    );
  });

  test('escapes markup in a text, with line ends as a parser returns them', () => {
    const document = text({
      poznamka: ' <b> & "x" ]]> \r\nnový\rřádek ',
      projekt: { id: 'a"<&', text: '' },
    });
    expect(document).toContain(
      '<svc:poznamka>&lt;b&gt; &amp; "x" ]]&gt; \nnový\nřádek</svc:poznamka>',
    );
    expect(document).toContain('id="a&quot;&lt;&amp;"');
  });
});
