import { describe, expect, test } from 'vitest';
import { readFinds } from './read-finds.ts';

const NAMESPACE = 'https://schemas.example/svc/2.2/';
const find = (content: string) =>
  `<svc:svc xmlns:svc="${NAMESPACE}"><svc:samostatny_nalez><svc:projekt id="C-202400101"/>${content}<svc:stav>1</svc:stav></svc:samostatny_nalez></svc:svc>`;
const waypoint = (content: string) => `<wpt lat="49.84" lon="15.17">${content}</wpt>`;

describe('text between the elements of a find in XML', () => {
  test('leaves out that find alone, and is reported with its number and its line', async () => {
    const xml = `<finds>${find('')}\n${find('<svc:hloubka>25</svc:hloubka>\n cm')}${find('')}</finds>`;
    const { finds, issues } = await readFinds('a.xml', Buffer.from(xml));
    expect(finds.map(({ source }) => source?.row)).toEqual([1, 3]);
    expect(issues.filter(({ severity }) => severity === 'error')).toMatchObject([
      {
        rule: 'stray-text',
        severity: 'error',
        file: 'a.xml',
        unit: 'find',
        row: 2,
        line: 2,
        message:
          'The text "cm" is between the elements of samostatny_nalez. Move it into one of them, or remove it.',
      },
    ]);
  });

  test('is not ignored within a value', async () => {
    const xml = find('<svc:poznamka>u cesty\n<b>vlevo</b> za mlýnem</svc:poznamka>');
    const { finds, issues } = await readFinds('a.xml', Buffer.from(xml));
    expect(finds).toEqual([]);
    expect(issues).toMatchObject([
      {
        rule: 'stray-text',
        row: 1,
        line: 1,
        message: expect.stringContaining('"u cesty za mlýnem"'),
      },
    ]);
  });

  test('is ignored if it is white space or a comment', async () => {
    const { finds, issues } = await readFinds(
      'a.xml',
      Buffer.from(find('\r\n\t <!-- cm --> <?x cm?>')),
    );
    expect(finds).toHaveLength(1);
    expect(issues.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});

test('a find that a project lists is no find of its own', async () => {
  const project = `<svc:svc xmlns:svc="${NAMESPACE}"><svc:projekt><svc:samostatny_nalez id="C-202400101-N00001"/></svc:projekt></svc:svc>`;
  const { finds } = await readFinds('a.xml', Buffer.from(`<all>${project}${find('')}</all>`));
  expect(finds).toHaveLength(1);
});

test('unknown, misplaced and repeated elements of a find are named', async () => {
  const xml = find(
    '<svc:okres/><svc:poznamka>a</svc:poznamka><svc:poznamka>b</svc:poznamka><svc:lokalizace>c</svc:lokalizace><svc:poznamky>d</svc:poznamky>',
  );
  const { finds, issues } = await readFinds('a.xml', Buffer.from(xml));
  expect(finds).toMatchObject([{ elements: { poznamka: 'a' } }]);
  expect(issues.find(({ rule }) => rule === 'table-not-read')).toMatchObject({
    message: expect.stringContaining('Not read: poznamka, lokalizace, poznamky.'),
  });
});

describe('text between the elements of a waypoint', () => {
  test('leaves out that waypoint alone, and is reported with its number and its line', async () => {
    const gpx = `<gpx xmlns="http://www.topografix.com/GPX/1/1">${waypoint('<name>A1</name>')}\n${waypoint('<name>A2</name>\nstříbrná mince <time>2024-06-01T10:00:00Z</time>')}${waypoint('<name>A3</name>')}</gpx>`;
    const { finds, issues } = await readFinds('a.gpx', Buffer.from(gpx));
    expect(finds.map(({ localId }) => localId)).toEqual(['A1', 'A3']);
    expect(issues).toMatchObject([
      {
        rule: 'stray-text',
        unit: 'waypoint',
        row: 2,
        line: 2,
        message: expect.stringContaining('"stříbrná mince"'),
      },
    ]);
  });
});
