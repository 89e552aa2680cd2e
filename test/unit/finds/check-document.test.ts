import { beforeAll, describe, expect, test } from 'vitest';
import { checkDocument } from '../../../src/finds/check-document.ts';
import { buildDocument, type FindSchema, openFindSchema } from '../../../src/finds/document.ts';
import { aFind, lookupTerm, PROFILE } from './a-find.ts';

let schema: FindSchema;
beforeAll(async () => {
  schema = await openFindSchema(PROFILE);
});

const GOOD = buildDocument(aFind(), PROFILE).toString();
const check = (document: string | Buffer) =>
  checkDocument('find.xml', Buffer.from(document as string), {
    schema,
    today: '2024-11-20',
    lookupTerm,
  });
function checkChanged(...changes: (readonly [string, string])[]) {
  return check(
    changes.reduce((document, [from, to]) => {
      expect(document).toContain(from);
      return document.replace(from, to);
    }, GOOD),
  );
}

describe('documents that are not XML', () => {
  test.each([
    ['a table', 'a;b\n1;2\n'],
    ['a cut document', GOOD.slice(0, 400)],
    ['a document with a DTD', GOOD.replace('?>', '?>\n<!DOCTYPE svc SYSTEM "file:///etc/passwd">')],
    ['a document with an entity', GOOD.replace('hrdlo', '&hrdlo;')],
  ])('%s', (_, document) => {
    const issues = check(document);
    expect(issues[0]).toMatchObject({
      rule: 'xml-not-well-formed',
      severity: 'error',
      file: 'find.xml',
    });
  });
});

describe('the schema declaration is judged as at the service', () => {
  test('further pairs are allowed', () => {
    expect(
      checkChanged([
        'schemaLocation="',
        'schemaLocation="http://www.opengis.net/gml/3.2 http://schemas.opengis.net/gml.xsd ',
      ]),
    ).toEqual([]);
  });
});

describe('the root', () => {
  test('a comment before the root, or between elements of the find, is ignored', () => {
    expect(
      checkChanged(
        ['?>\n', '?>\n<!-- ours -->\n'],
        ['<svc:hloubka>', '<!-- depth --><svc:hloubka>'],
      ),
    ).toEqual([]);
  });
});

describe('text between elements', () => {
  test('that the schema refuses is reported at its element', () => {
    const issues = checkChanged(['<svc:pocet>', 'omyl <svc:pocet>']);
    expect(issues).toMatchObject([
      {
        rule: 'schema',
        severity: 'error',
        file: 'find.xml',
        element: 'samostatny_nalez',
        line: expect.any(Number),
        message: expect.stringContaining('Character content'),
      },
    ]);
  });

  test('that the schema accepts is pointed out: the service drops it', () => {
    const issues = checkChanged(
      ['<svc:chranene_udaje>', '<svc:chranene_udaje>\nza mlýnem'],
      ['<svc:samostatny_nalez>', 'ahoj <svc:samostatny_nalez>'],
    );
    expect(issues).toMatchObject([
      {
        severity: 'warning',
        rule: 'stray-text',
        line: 2,
        message: expect.stringContaining('"ahoj"'),
      },
      {
        severity: 'warning',
        rule: 'stray-text',
        element: 'chranene_udaje',
        line: 22,
        message: expect.stringContaining('"za mlýnem"'),
      },
    ]);
  });
});

describe('literal values', () => {
  test.each([
    [
      'id="HES-000253"',
      'id=" HES-000253"',
      9,
      'The id of obdobi is " HES-000253". The service does not ignore spaces: remove them.',
    ],
    [
      'xml:lang="cs" id="HES-000253"',
      'xml:lang="" id="HES-000253"',
      9,
      "Element 'obdobi', attribute 'xml:lang': '' is not a valid value of the atomic type 'xs:language'.",
    ],
    ['EPSG="4326"', 'EPSG="5514"', 24, 'geom_wkt is "EPSG 5514". Write EPSG="4326".'],
  ])('%s changed to %s is explained, with its line', (from, to, line, message) => {
    expect(checkChanged([from, to])).toMatchObject([{ line, message }]);
  });

  test('a missing element for the state is reported with the line of the find', () => {
    expect(checkChanged(['    <svc:hloubka>25</svc:hloubka>\n', ''])).toMatchObject([
      { rule: 'required', element: 'hloubka', line: 3 },
    ]);
  });

  test('a schema violation is not reported twice', () => {
    expect(checkChanged(['<svc:hloubka>25<', '<svc:hloubka>hluboko<'])).toMatchObject([
      { rule: 'schema', element: 'hloubka', line: 7 },
    ]);
  });
});

describe('in messages', () => {
  const NAMESPACE = 'https://schema.example.org/svc/2.2/';
  const ofRoot = (rule: string, message: string) => ({ rule, severity: 'error', line: 2, message });
  const DECLARATION = ofRoot(
    'schema-declaration',
    `The root must declare xmlns:svc="${NAMESPACE}". Another prefix or a default namespace is refused.`,
  );
  const LOCATION = ofRoot(
    'schema-declaration',
    `xsi:schemaLocation of the root must pair ${NAMESPACE} with ${NAMESPACE}svc.xsd.`,
  );
  const ONE_FIND = ofRoot(
    'root-content',
    'The root must contain exactly one samostatny_nalez and nothing else.',
  );
  const BESIDE = ofRoot(
    'root-content',
    'There is a comment or processing instruction beside the find. Remove it, or move it before the root.',
  );
  const root = GOOD.slice(0, GOOD.indexOf('<svc:samostatny_nalez>'));
  const find = GOOD.slice(root.length, GOOD.indexOf('</svc:svc>'));

  test.each([
    ['nothing', '', [{ message: 'find.xml is empty.' }]],
    [
      'another prefix',
      GOOD.replaceAll('svc:', 'x:').replace('xmlns:svc', 'xmlns:x'),
      [DECLARATION],
    ],
    [
      'a pair the other way round',
      GOOD.replace(/(schemaLocation=")(\S+) (\S+)"/, '$1$3 $2"'),
      [LOCATION],
    ],
    [
      'a pair after half of one',
      GOOD.replace('schemaLocation="', 'schemaLocation="urn:half '),
      [LOCATION],
    ],
    ['another file', GOOD.replace('2.2/svc.xsd', '2.2/find.xsd'), [LOCATION]],
    ['text in place of the find', `${root}HTTP/1.1 403 Forbidden</svc:svc>`, [ONE_FIND]],
    ['an address too many', GOOD.replace('svc.xsd"', 'svc.xsd urn:half"'), [LOCATION]],
    [
      'a pair with blanks and lines around',
      GOOD.replace(/(schemaLocation=")(\S+) (\S+)"/, '$1\n  $2 \n $3 "'),
      [],
    ],
    ['no declaration of a place', GOOD.replace(/\s*xsi:schemaLocation="[^"]*"/, ''), [LOCATION]],
    ['no find', `${root}</svc:svc>`, [ONE_FIND]],
    ['two finds', `${root}${find}${find}</svc:svc>`, [{}, ONE_FIND]],
    ['a comment before the find', `${root}<!-- ours -->${find}</svc:svc>`, [BESIDE]],
    ['an instruction after the find', `${root}${find}<?end?></svc:svc>`, [BESIDE]],
    [
      'another identifier',
      GOOD.replace('>:tba</svc:ident_cely>', '>C-1</svc:ident_cely>'),
      [{ message: 'ident_cely is "C-1". Write :tba.' }],
    ],
    ['state 4', GOOD.replace('stav>3<', 'stav>4<'), [{ message: 'stav is "4". Write 1, 2, 3.' }]],
    [
      'another system',
      GOOD.replace('geom_system>4326<', 'geom_system>4258<'),
      [
        {
          message: 'geom_system is "4258". Write 4326, 5514.',
        },
      ],
    ],
    [
      'a comment in a value',
      GOOD.replace('hrdlo', '<!-- které? --> hrdlo'),
      [
        {
          message:
            'poznamka contains a comment; the service reads only the text before it. Remove the comment.',
        },
      ],
    ],
    [
      'an empty point',
      GOOD.replace(/POINT \([^)]*\)/, ' '),
      [{ message: 'geom_wkt is present but empty. Write the point, or remove the element.' }],
    ],
  ])('%s', (_, document, expected) => {
    expect(check(document)).toMatchObject(expected);
  });

  test.each([
    ['a section that looks like a comment', '<![CDATA[<!-- x -->]]> hrdlo', []],
    [
      'a section of several signs beside a comment that ends the value',
      'a <![CDATA[b c]]> <!-- x -->',
      [],
    ],
    ['an instruction at the end', 'hrdlo <?x y?>  ', []],
    ['an instruction within', 'hrdlo <?x y?>\n odlomeno', ['comment-in-value']],
    ['a section behind a comment', 'hrdlo <!-- x --><![CDATA[ odlomeno ]]>', ['comment-in-value']],
  ])('%s', (_, text, rules) => {
    expect(check(GOOD.replace('hrdlo odlomeno', text)).map(({ rule }) => rule)).toEqual(rules);
  });

  test('a comment in a reference is ignored: the service reads its identifier alone', () => {
    expect(
      checkChanged([/>[^<]*<\/svc:obdobi>/.exec(GOOD)?.[0] ?? '', '>a <!-- x --> b</svc:obdobi>']),
    ).toEqual([]);
  });

  test('white space is the service’s: U+0085 at the ends does not count', () => {
    expect(checkChanged(['>:tba</svc:ident_cely>', '>\u0085:tba\u0085</svc:ident_cely>'])).toEqual(
      [],
    );
    expect(checkChanged(['POINT (15.1712 49.8405)', '\u0085POINT (15.1712 49.8405)'])).toEqual([]);
    const [blank] = checkChanged([
      />[^<]*<\/svc:lokalizace>/.exec(GOOD)?.[0] ?? '',
      '>\u0085</svc:lokalizace>',
    ]);
    expect(blank).toMatchObject({ rule: 'required', element: 'lokalizace' });
  });

  test('a point in the other system is valid, and judged in that system', () => {
    const there = buildDocument(
      aFind({
        geom_system: '5514',
        geom_wkt: undefined,
        geom_sjtsk_wkt: 'POINT (-743011.72 -1043823.18)',
      }),
      PROFILE,
    ).toString();
    expect(check(there)).toEqual([]);
    expect(check(there.replace('EPSG="5514"', 'EPSG="4326"'))).toMatchObject([
      {
        rule: 'coordinate-system',
        element: 'geom_sjtsk_wkt',
        message: expect.stringContaining('Write EPSG="5514".'),
      },
    ]);
    expect(check(there.replace(/POINT \([^)]*\)/, ''))).toMatchObject([
      { rule: 'geometry-form', element: 'geom_sjtsk_wkt' },
    ]);
  });
});
