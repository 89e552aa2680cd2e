import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseHtml } from '../../../src/base/characters.ts';
import { parseTableBytes, readTable } from '../../../src/tables/readers.ts';
import { makeZip } from '../../support/make-zip.ts';
import { tempFolder } from '../../support/temp-outbox.ts';

const kml = (...placemarks: readonly string[]): string =>
  `<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2" xmlns:lc="http://www.locusmap.eu"><Document><Folder><name>Sonda</name><Folder>${placemarks.map((inner) => `<Placemark>${inner}</Placemark>`).join('\n')}</Folder></Folder></Document></kml>`;
const point = (x = '15.17', y = '49.84'): string =>
  `<Point><coordinates>\n ${x},${y},201.5 </coordinates></Point>`;
const data = (name: string, value: string): string =>
  `<Data name="${name}"><displayName>x</displayName><value>${value}</value></Data>`;

async function read(...placemarks: readonly string[]) {
  const table = await parseTableBytes('walk.kml', Buffer.from(kml(...placemarks)));
  const named = [...table.rows].map(({ cells, ...row }) => {
    const values = Object.fromEntries(
      table.header.map((name, index) => [name, cells[index] ?? '']),
    );
    return { ...row, ...values };
  });
  return { table, rows: named as (Record<string, unknown> & { row: number })[] };
}

describe('a placemark of KML', () => {
  test('gives its name, its note, its day and its place, in any folder', async () => {
    const { rows } = await read(
      `<name>K-1</name><description>u cesty</description><TimeStamp><when>2024-05-01T12:00:00Z</when></TimeStamp><styleUrl>#a</styleUrl>${point()}`,
    );
    expect(rows).toEqual([
      {
        row: 1,
        line: 1,
        point: { system: '4326', x: '15.17', y: '49.84' },
        local_id: 'K-1',
        poznamka: 'u cesty',
        datum_nalezu: '2024-05-01',
      },
    ]);
  });

  test('has columns for its fields, which precede other data; nothing is lost', async () => {
    const { rows } = await read(
      `<name>bod 3</name><description>z popisu</description><ExtendedData>${data('local_id', 'K-7')}${data('note', 'z formuláře')}<SchemaData schemaUrl="#a"><SimpleData name="hloubka">25</SimpleData><SimpleData name="patro">druhé</SimpleData></SchemaData></ExtendedData>${point()}`,
    );
    expect(rows).toMatchObject([
      { local_id: 'K-7', note: 'z formuláře\nbod 3\nz popisu', hloubka: '25', patro: 'druhé' },
    ]);
  });

  test('has a repeated field in its note', async () => {
    const { rows } = await read(
      `<ExtendedData>${data('hloubka', '25')}${data('hloubka', '30')}</ExtendedData>${point()}`,
    );
    expect(rows).toMatchObject([{ hloubka: '25', poznamka: 'hloubka: 30' }]);
  });

  test('names ignored content once', async () => {
    const strange = `<name>A</name><phoneNumber>1</phoneNumber><ExtendedData><lc:rating>5</lc:rating></ExtendedData>${point()}`;
    const { table } = await read(strange, strange);
    expect(table.issues).toMatchObject([{ rule: 'table-not-read', severity: 'warning' }]);
    expect(String(table.issues[0]?.message)).toContain('phoneNumber, rating');
  });

  test('keeps the day of a field where it has no time, without a warning', async () => {
    const { table, rows } = await read(
      `<name>A</name><ExtendedData>${data('datum_nalezu', '2024-05-01')}</ExtendedData>${point()}`,
    );
    expect(table.issues).toEqual([]);
    expect(rows).toMatchObject([{ datum_nalezu: '2024-05-01' }]);
  });

  test('may have no place, or one in a group', async () => {
    const { rows } = await read(
      '<name>A</name>',
      `<name>B</name><MultiGeometry>${point()}</MultiGeometry>`,
      `<name>C</name><Point/>`,
    );
    expect(rows.map((row) => row['point'] !== undefined)).toEqual([false, true, false]);
  });

  test.each([
    [
      'a line',
      '<LineString><coordinates>15,49 16,50</coordinates></LineString>',
      'is a LineString',
    ],
    [
      'a polygon with a hole',
      '<Polygon><outerBoundaryIs/><innerBoundaryIs/></Polygon>',
      'is a Polygon',
    ],
    ['a track', '<gx:Track><gx:coord>15 49 0</gx:coord></gx:Track>', 'is a Track'],
    ['two points', `<MultiGeometry>${point()}${point()}</MultiGeometry>`, 'MultiPoint (2)'],
    [
      'a point and a line',
      `<MultiGeometry>${point()}<LineString/></MultiGeometry>`,
      'is a MultiGeometry',
    ],
    [
      'several positions',
      '<Point><coordinates>15,49 16,50</coordinates></Point>',
      'are not two numbers',
    ],
    ['words', '<Point><coordinates>here</coordinates></Point>', 'are not two numbers'],
  ])('that is %s is an error of its row, and the others are read', async (_, geometry, message) => {
    const { table, rows } = await read(`<name>A</name>${geometry}`, `<name>B</name>${point()}`);
    expect(rows.map(({ row }) => row)).toEqual([2]);
    expect(table.issues).toMatchObject([{ rule: 'geometry-form', row: 1, line: 1, find: 'A' }]);
    expect(String(table.issues[0]?.message)).toContain(message);
  });

  test('has the pictures of its description and its attachments as photographs, and the rest of the description as a note', async () => {
    const locus =
      '<![CDATA[<!-- desc_gen:start --><table><tr><td>&#345;eka &amp; les</td><td>250&nbsp;m</td></tr></table><a href="files/p1.jpg"><img src="files/p1.jpg" width="60"></a><br>druhý řádek<!-- desc_gen:end -->]]>';
    const { rows } = await read(
      `<name>A</name><description>${locus}</description><ExtendedData><lc:attachment>files/p%202.jpg</lc:attachment><lc:attachment>/storage/emulated/0/Locus/p3.JPG</lc:attachment><lc:attachment>files/hlas.amr</lc:attachment></ExtendedData>${point()}`,
    );
    expect(rows).toMatchObject([
      {
        photos: 'files/p1.jpg;files/p 2.jpg;p3.JPG',
        poznamka: 'řeka & les 250 m\ndruhý řádek\nfiles/hlas.amr',
      },
    ]);
  });
});

describe('KML as a whole', () => {
  test.each([
    ['without placemarks', '<kml xmlns="http://www.opengis.net/kml/2.2"/>', 'no placemarks'],
    ['cut short', kml(point()).slice(0, -20), 'is not valid XML'],
    ['with a DTD', `<!DOCTYPE kml [<!ENTITY a "b">]>${kml(point())}`, 'a DTD is not allowed'],
  ])('%s is one error', async (_, text, message) => {
    await expect(parseTableBytes('walk.kml', Buffer.from(text))).rejects.toThrow(message);
  });

  test('in older versions of Google Earth is read', async () => {
    const old = kml(`<name>A</name>${point()}`).replace(
      'http://www.opengis.net/kml/2.2',
      'http://earth.google.com/kml/2.1',
    );
    expect(await parseTableBytes('walk.kml', Buffer.from(old))).toMatchObject({ rowCount: 1 });
  });
});

describe('an archive of KML', () => {
  const doc = {
    name: 'doc.kml',
    content: kml(
      `<name>A</name><description>&lt;img src="files/a.jpg"/&gt;</description>${point()}`,
    ),
  };

  test('contains its photographs', async () => {
    const table = await parseTableBytes(
      'walk.kmz',
      makeZip([doc, { name: 'files/a.jpg', content: 'jpeg' }]),
    );
    expect(table.attachments?.paths).toContain('files/a.jpg');
    const to = join(tempFolder(), 'a.jpg');
    await table.attachments?.archive?.unpack('files/a.jpg', to, 100);
    expect(readFileSync(to, 'utf8')).toBe('jpeg');
    expect([...table.rows]).toMatchObject([{ cells: ['A', 'files/a.jpg'] }]);
  });

  test('may have several documents, whose links start from their own folders', async () => {
    const layer = { name: 'layers/b.kml', content: doc.content.replaceAll('>A<', '>B<') };
    const table = await parseTableBytes('walk.kmz', makeZip([layer, doc]));
    expect([...table.rows].map(({ row, cells }) => [row, ...cells])).toEqual([
      [1, 'A', 'files/a.jpg'],
      [2, 'B', 'layers/files/a.jpg'],
    ]);
  });

  test.each([
    [
      'a name that climbs',
      [doc, { name: '../../a.jpg', content: 'a' }],
      'points outside the archive',
    ],
    [
      'a name from the root',
      [doc, { name: '/etc/passwd', content: 'a' }],
      'points outside the archive',
    ],
    [
      'a symbolic link',
      [doc, { name: 'files/a.jpg', content: '/etc/passwd', mode: 0o120777 }],
      'points outside the archive',
    ],
    ['another archive', [doc, { name: 'b.kmz', content: 'PK' }], 'another archive, b.kmz'],
    [
      'a document that is none',
      [{ name: 'doc.kml', content: '<gpx/>' }],
      'doc.kml has no placemarks',
    ],
  ])('with %s is one error', async (_, parts, message) => {
    const archive = makeZip(parts);
    await expect(parseTableBytes('walk.kmz', archive)).rejects.toThrow(message);
    const file = join(tempFolder(), 'walk.kmz');
    writeFileSync(file, archive);
    await expect(readTable(file)).rejects.toThrow(message);
  });

  test('is read beside a table that cannot be read', async () => {
    const table = { name: 'places.csv', content: Buffer.from('a;m\xedsto\n1;\xe8\n', 'latin1') };
    expect(await parseTableBytes('walk.kmz', makeZip([doc, table]))).toMatchObject({ rowCount: 1 });
  });

  test('does not unpack photographs before they are requested', async () => {
    const packed = { name: 'a.jpg', content: Buffer.alloc(40_000_000) };
    const { attachments } = await parseTableBytes('walk.kmz', makeZip([doc, packed]));
    expect(attachments?.paths).toEqual(['doc.kml', 'a.jpg']);
  });

  test('on the disk may be larger than a table, for its photographs', async () => {
    const file = join(tempFolder(), 'walk.kmz');
    const photographs = [1, 2].map((nth) => ({
      name: `files/${nth}.jpg`,
      content: Buffer.alloc(40 * 1024 * 1024),
      level: 0,
    }));
    writeFileSync(file, makeZip([doc, ...photographs]));
    expect(await readTable(file)).toMatchObject({
      rowCount: 1,
      attachments: { paths: ['doc.kml', 'files/1.jpg', 'files/2.jpg'] },
    });
  });
});

describe('the text of HTML', () => {
  test.each([
    ['a < b & c > d', 'a < b & c > d'],
    ['úpěl & <b>', 'úpěl & <b>'],
    ['<p>a</p><p>b</p>', 'a\nb'],
    ['a<br/>b<!-- c', 'a\nb'],
    ['<style>p { }</style>a<br>', 'a'],
    ['<div>a &#x159; &bogus; &#0;</div>', 'a ř &bogus; &#0;'],
    ['<p>a < b', 'a < b'],
  ])('%s', (html, text) => expect(parseHtml(html).text).toBe(text));

  test('is extracted quickly, for any input', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            '<',
            '>',
            '<!--',
            '-->',
            '<img src="',
            '"',
            'a',
            ' ',
            '&',
            '<script>',
            '</p>',
          ),
          {
            maxLength: 60,
          },
        ),
        (parts) => {
          expect(typeof parseHtml(parts.join('')).text).toBe('string');
        },
      ),
    );
    for (const part of ['<!--', '<', '<script>', '<p ', '&', '<img src=', '\n ']) {
      expect(parseHtml(`<br>${part.repeat(200_000)}`).pictures.length).toBeLessThan(2);
    }
  });
});

test('written KML is read back unchanged', async () => {
  const text = fc
    .string({ unit: fc.constantFrom(...'aáčďěňřšťůž ,;"<&\n日🏺'), maxLength: 12 })
    .map((value) => value.trim());
  const escaped = (value: string): string => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 10 }), async (notes) => {
      const { rows } = await read(
        ...notes.map(
          (note, index) =>
            `<name>K-${index}</name><ExtendedData>${data('poznamka', escaped(note))}</ExtendedData>${point()}`,
        ),
      );
      expect(rows.map((row) => row['poznamka'])).toEqual(notes);
    }),
  );
});
