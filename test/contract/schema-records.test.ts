import { describe, expect, test } from 'vitest';
import { parseElements, RECORDS, type RecordName, record } from './hand-typed-records.ts';
import { allShapes } from './record-shapes.ts';
import { check, SCHEMA_VERSIONS, type SchemaVersion } from './schema-validators.ts';

// Harvested records of every kind in every version (S-TYPE-1 to S-TYPE-9, S-ENTITY-2 to
// S-ENTITY-15): each element of each hand-typed record is taken away, doubled, moved and spoiled in
// turn.

const CASES = RECORDS.flatMap((name) => SCHEMA_VERSIONS.map((version) => ({ name, version })));

describe.each(CASES)('$name in $version', ({ name, version }) => {
  const lines = record(name, version);
  const elements = parseElements(lines);
  const faults = (document: readonly string[]) => check(document.join('\n'), version);

  test('is valid', () => {
    expect(faults(lines)).toEqual([]);
  });

  test('is valid without its optional elements, and only without these', () => {
    for (const { path, parentStart, shape } of elements) {
      const siblings = elements.filter(
        (other) => other.path === path && other.parentStart === parentStart,
      );
      const rest = siblings.reduceRight(
        (keptElements, { start, end }) => keptElements.toSpliced(start, end - start + 1),
        lines,
      );
      expect(faults(rest).length === 0, `without ${path}`).toBe(!shape.required);
    }
  });

  test('may repeat its lists, and only these', () => {
    for (const element of elements) {
      const again = lines.slice(element.start, element.end + 1);
      expect(
        faults(lines.toSpliced(element.start, 0, ...again)).length === 0,
        `two of ${element.path}`,
      ).toBe(element.shape.repeats);
    }
  });

  test('keeps the order of its elements', () => {
    for (const element of elements) {
      const next = elements.find((other) => other.start === element.end + 1);
      if (next === undefined || next.path === element.path) continue;
      const moved = [
        ...lines.slice(next.start, next.end + 1),
        ...lines.slice(element.start, element.end + 1),
      ];
      const document = lines.toSpliced(element.start, moved.length, ...moved);
      expect(faults(document), `${next.path} before ${element.path}`).not.toEqual([]);
    }
  });

  test('refuses values and attributes of another type', () => {
    for (const element of elements) {
      for (const spoilt of spoil(
        lines.slice(element.start, element.end + 1).join('\n'),
        element.shape.type,
        version,
      )) {
        const document = lines.toSpliced(element.start, element.end - element.start + 1, spoilt);
        expect(faults(document), `${element.path} as ${spoilt}`).not.toEqual([]);
      }
    }
  });

  test('refuses an unknown element in any position', () => {
    for (const { path, start } of elements) {
      expect(faults(lines.toSpliced(start, 0, '<svc:neznamy/>')), `before ${path}`).not.toEqual([]);
    }
    expect(
      faults(
        lines.toSpliced(lines.lastIndexOf(`  </svc:${getEntity(name)}>`), 0, '<svc:neznamy/>'),
      ),
    ).not.toEqual([]);
  });
});

test('every element that an entity may have is in one of the records', () => {
  const seen = new Set(
    RECORDS.flatMap((name) => parseElements(record(name)).map(({ shape }) => shape)),
  );
  const missing = allShapes.filter((shape) => shape.until === undefined && !seen.has(shape));
  expect(missing.map(({ name }) => name)).toEqual([]);
});

/** Ways in which an element of that type must not look. */
function spoil(element: string, type: string, version: SchemaVersion): string[] {
  const withText = (text: string) => element.replace(/>[^<]*<\/svc:/, () => `>${text}</svc:`);
  const withoutAttributes = (...names: string[]) =>
    names.map((name) => element.replace(new RegExp(` ${name}="[^"]*"`), ''));
  switch (type) {
    case 'string':
      return [withText('<svc:b/>')];
    case 'integer':
      return [withText('asi 3'), withText('1.5'), withText('')];
    case 'decimal':
      return [withText('1,5'), withText('')];
    case 'boolean':
      return [withText('ano'), withText('TRUE'), withText('')];
    case 'date':
      return [
        withText('1. 3. 2024'),
        withText('2024'),
        withText('2024-03-01T00:00:00'),
        withText(''),
      ];
    case 'dateTime':
      return [withText('2024-03-01'), withText('2024-03-01 07:08:09'), withText('')];
    case 'anyURI':
      // A plain string before 2.2.
      return version === '2.2' ? [withText('::: 50 % :::')] : [withText('<svc:b/>')];
    case 'ref':
      return [withText('<svc:b/>'), ...withoutAttributes('id')];
    case 'vocab':
      return [withText('<svc:b/>'), ...withoutAttributes('id', 'xml:lang')];
    case 'autor':
      return [
        element.replace(/poradi="\d+"/, 'poradi="první"'),
        ...withoutAttributes('id', 'poradi'),
      ];
    case 'langstring':
      return [withText('<svc:b/>'), ...withoutAttributes('xml:lang')];
    case 'wkt':
      return [element.replace(/EPSG="\d+"/, 'EPSG="S-JTSK"'), ...withoutAttributes('EPSG')];
    case 'gml':
      return [
        element.replaceAll('gml:', 'svc:'),
        element.replace(/<gml:.*<\/gml:\w+>/s, 'POINT (1 2)'),
        element.replace(/<gml:.*<\/gml:\w+>/s, '$&$&'),
      ];
    case 'group':
      // Text may stand in what is protected (S-TYPE-5), and only there.
      return /^\s*<svc:(chranene_udaje|oznamovatel)>/.test(element)
        ? []
        : [element.replace(/>/, '>text')];
    default:
      throw new Error(`unknown type ${type}`);
  }
}

function getEntity(name: RecordName): string {
  return name.split('-')[0] ?? name;
}
