import { findLines, smallestFind } from '../support/contract-find.ts';

/** A find typed by hand, and what the contract says of it (A-FIELD, A-VALUE, A-POINT). */
type JudgedFind = readonly [
  title: string,
  /** Answer to an import of it. */
  status: 201 | 403 | 404 | 422,
  /** The content of the root. */
  content: string,
];

const vocabulary = (name: string, id: string, lang = 'cs') =>
  `<svc:${name} id="${id}" xml:lang="${lang}">x</svc:${name}>`;
const person = (id: string, text = 'x') => ({
  nalezce: `<svc:nalezce id="${id}">${text}</svc:nalezce>`,
});
const project = (id: string) => ({ projekt: `<svc:projekt id="${id}">x</svc:projekt>` });
const point = (wkt: string, epsg = '4326') => ({
  geom_wkt: `<svc:geom_wkt EPSG="${epsg}">${wkt}</svc:geom_wkt>`,
});
const text = (name: string, value: string) => ({ [name]: `<svc:${name}>${value}</svc:${name}>` });

const LONGITUDE = '15.1700002';
const LATITUDE = '49.84';

/** Only `id` resolves a reference, as it is written; an empty one counts as absent. */
const REFERENCES: readonly JudgedFind[] = [
  ...(['okolnosti', 'obdobi', 'druh_nalezu', 'specifikace', 'pristupnost'] as const).map(
    (name): JudgedFind => {
      const [id = ''] =
        /HES-\d+/.exec(
          findLines(2)
            .split('\n')
            .find((line) => line.startsWith(`<svc:${name} `)) ?? '',
        ) ?? [];
      return [
        `${name} with blanks round its id`,
        422,
        findLines(2, { [name]: vocabulary(name, ` ${id} `) }),
      ];
    },
  ),
  [
    'an id with a no-break space',
    422,
    findLines(2, { obdobi: vocabulary('obdobi', 'HES-000253\u00a0') }),
  ],
  [
    'an id with a line break',
    422,
    findLines(2, { obdobi: vocabulary('obdobi', 'HES-000253&#10;') }),
  ],
  ['an id of blanks alone', 422, smallestFind({ obdobi: vocabulary('obdobi', '  ') })],
  ['an empty id in state 1', 201, smallestFind({ obdobi: vocabulary('obdobi', '') })],
  ['an empty id in state 2', 422, findLines(2, { obdobi: vocabulary('obdobi', '') })],
  ['an id in small letters', 422, findLines(2, { obdobi: vocabulary('obdobi', 'hes-000253') })],
  [
    'an address for an id',
    422,
    findLines(2, { obdobi: vocabulary('obdobi', 'https://example.org/id/HES-000253') }),
  ],
  [
    'an accessibility without an id',
    422,
    smallestFind({ pristupnost: vocabulary('pristupnost', '') }),
  ],
  ['a label for an id', 422, findLines(2, { obdobi: vocabulary('obdobi', 'paleolit') })],
  [
    'an entry of another vocabulary',
    422,
    findLines(2, { obdobi: vocabulary('obdobi', 'HES-000691') }),
  ],
  [
    'an organisation with a blank behind its id',
    422,
    findLines(3, { predano_organizace: vocabulary('predano_organizace', 'ORG-000091 ') }),
  ],
  [
    'an organisation in small letters',
    422,
    findLines(3, { predano_organizace: vocabulary('predano_organizace', 'org-000091') }),
  ],
  ['a finder with a blank before the id', 404, smallestFind(person(' OS-001507'))],
  ['a finder in small letters', 404, smallestFind(person('os-001507'))],
  ['a new finder with a blank before :tba', 404, smallestFind(person(' :tba', 'Novák, Jan'))],
  ['a finder without an id in state 1', 201, smallestFind(person('', 'Novák, Jan'))],
  ['a finder without an id in state 2', 422, findLines(2, person('', 'Novák, Jan'))],
  ['a new finder without a comma', 422, smallestFind(person(':tba', 'Novák Jan'))],
  ['a new finder of a no-break space', 422, smallestFind(person(':tba', 'Novák, \u00a0'))],
  ['a new finder with a second comma', 201, smallestFind(person(':tba', 'Novák, Jan, ml.'))],
  ['a new finder behind a comment', 422, smallestFind(person(':tba', '<!-- x -->Novák, Jan'))],
  [
    'a new finder with a name of 60 letters, each of two units',
    201,
    smallestFind(person(':tba', `${'𐐀'.repeat(60)}, Jan`)),
  ],
  ['a project with blanks round its id', 404, smallestFind(project(' C-202400101 '))],
  ['a project of blanks alone', 404, smallestFind(project('  '))],
  ['a project without an id', 422, smallestFind(project(''))],
];

/** `xml:lang` says a language; which one is no matter. */
const LANGUAGES: readonly JudgedFind[] = [
  ...(['cs', 'en', 'de-AT'] as const).map(
    (lang): JudgedFind => [
      `xml:lang="${lang}"`,
      201,
      smallestFind({ pristupnost: vocabulary('pristupnost', 'HES-000865', lang) }),
    ],
  ),
  ...(['', ' ', 'c s'] as const).map(
    (lang): JudgedFind => [
      `xml:lang="${lang}"`,
      422,
      smallestFind({ pristupnost: vocabulary('pristupnost', 'HES-000865', lang) }),
    ],
  ),
  [
    'an empty xml:lang of an area that is ignored',
    422,
    smallestFind({ katastr: vocabulary('katastr', 'ruian-672424', '') }),
  ],
  [
    'lang without its prefix',
    422,
    smallestFind({
      pristupnost: '<svc:pristupnost id="HES-000865" lang="cs">x</svc:pristupnost>',
    }),
  ],
];

const WKT: readonly (readonly [wkt: string, status: JudgedFind[1]])[] = [
  [`POINT (${LONGITUDE} ${LATITUDE})`, 201],
  [`point(${LONGITUDE} ${LATITUDE})`, 201],
  [`Point  (  ${LONGITUDE}   ${LATITUDE} )`, 201],
  [`\n  POINT (${LONGITUDE} ${LATITUDE})\t\n`, 201],
  [`<![CDATA[POINT (${LONGITUDE} ${LATITUDE})]]>`, 201],
  [`POINT (${LONGITUDE}\t${LATITUDE})`, 422],
  [`POINT (${LONGITUDE}\n${LATITUDE})`, 422],
  [`POINT (${LONGITUDE}&#13;${LATITUDE})`, 422],
  [`POINT (${LONGITUDE}\u00a0${LATITUDE})`, 422],
  [`POINT (${LONGITUDE}\u2009${LATITUDE})`, 422],
  [`POINT\t(${LONGITUDE} ${LATITUDE})`, 422],
  [`POINT\u00a0(${LONGITUDE} ${LATITUDE})`, 422],
  [`POINT (\n${LONGITUDE} ${LATITUDE})`, 422],
  [`POINT (${LONGITUDE} ${LATITUDE}\u00a0)`, 422],
  [`POINT (${LONGITUDE}, ${LATITUDE})`, 422],
  ['POINT (15,1700002 49,84)', 422],
  ['POINT (.5 49.84)', 422],
  ['POINT (15. 49.84)', 422],
  [`POINT (${LONGITUDE})`, 422],
  ['POINT EMPTY', 422],
  [`POINT ${LONGITUDE} ${LATITUDE}`, 422],
  [`POINT (${LONGITUDE} ${LATITUDE}) x`, 422],
  [`POINT (${LONGITUDE} ${LATITUDE} 300)`, 422],
  [`POINT Z (${LONGITUDE} ${LATITUDE} 300)`, 422],
  [`POINT M (${LONGITUDE} ${LATITUDE} 1)`, 422],
  [`SRID=4326;POINT (${LONGITUDE} ${LATITUDE})`, 422],
  [`MULTIPOINT (${LONGITUDE} ${LATITUDE})`, 422],
  [`POINT (${LONGITUDE} <!-- x -->${LATITUDE})`, 422],
  ['POINT (0 0)', 422],
  ['POINT (49.84 15.17)', 422],
  ['POINT (6.5 41.5)', 422],
  ['  ', 422],
];

const GEOMETRIES: readonly JudgedFind[] = [
  ['a selected geometry of blanks in state 1', 422, smallestFind(point(' \n '))],
  ['a selected geometry without anything in state 1', 422, smallestFind(point(''))],
  [
    'a blank geometry in state 1 that is not selected',
    201,
    smallestFind({
      geom_sjtsk_wkt: '<svc:geom_sjtsk_wkt EPSG="5514"> </svc:geom_sjtsk_wkt>',
    }),
  ],
  ...WKT.map(
    ([wkt, status]): JudgedFind => [
      `geometry ${JSON.stringify(wkt)}`,
      status,
      findLines(2, point(wkt)),
    ],
  ),
  [
    'an attribute EPSG of the other system',
    422,
    findLines(2, point('POINT (15.1700002 49.84)', '5514')),
  ],
  [
    'an attribute EPSG with a zero before it',
    201,
    findLines(2, point('POINT (15.1700002 49.84)', '04326')),
  ],
  ['an attribute EPSG of letters', 422, findLines(2, point('POINT (15.1700002 49.84)', 'WGS84'))],
  [
    'nonsense in the geometry that is not selected',
    201,
    findLines(2, {
      geom_sjtsk_wkt: '<svc:geom_sjtsk_wkt EPSG="1">x</svc:geom_sjtsk_wkt>',
    }),
  ],
  ...['693174.81 1077354.27', '15.17 49.84'].map(
    (numbers): JudgedFind => [
      `S-JTSK of ${numbers}`,
      422,
      findLines(2, {
        ...text('geom_system', '5514'),
        geom_wkt: undefined,
        geom_sjtsk_wkt: `<svc:geom_sjtsk_wkt EPSG="5514">POINT (${numbers})</svc:geom_sjtsk_wkt>`,
      }),
    ],
  ),
  [
    'a geometry in the element that is not selected',
    422,
    findLines(2, text('geom_system', '5514')),
  ],
];

const VALUES: readonly JudgedFind[] = [
  ...(
    [
      ['hloubka', '0', 201],
      ['hloubka', ' 007\n', 201],
      ['hloubka', '+5', 201],
      ['hloubka', '2147483647', 201],
      ['hloubka', '2147483648', 422],
      ['hloubka', '-1', 422],
      ['hloubka', '1,000', 422],
      ['hloubka', '1.0', 422],
      ['hloubka', '', 422],
      ['hloubka', '\u00a05', 422],
      ['hloubka', '<!-- x -->5', 422],
      ['hloubka', '5<!-- x -->', 201],
      ['stav', ' +1 ', 201],
      ['stav', '002', 201],
      ['stav', '4', 422],
      ['stav', '-1', 422],
      ['stav', '2<!-- two -->', 201],
      ['geom_system', ' 4326\n', 201],
      ['geom_system', '04326', 422],
      ['geom_system', '', 422],
      ['geom_system', 'EPSG:4326', 422],
      ['ident_cely', '', 201],
      ['ident_cely', '\n :tba ', 201],
      ['ident_cely', 'tba', 422],
      ['ident_cely', 'C-202400101-N00001', 422],
      ['predano', 'false', 201],
      ['predano', ' 1 ', 201],
      ['predano', 'TRUE', 422],
      ['predano', 'ano', 422],
      ['predano', '', 422],
      ['datum_nalezu', '2024-05-06Z', 422],
      ['datum_nalezu', '2024-05-06+02:00', 422],
      ['datum_nalezu', '2023-02-29', 422],
      ['datum_nalezu', '12024-05-06', 422],
      ['datum_nalezu', '-0044-03-15', 422],
      ['lokalizace', ' \n', 422],
      ['lokalizace', '<!-- x -->pole', 422],
      ['lokalizace', '<![CDATA[pole <!-- u lesa]]>', 201],
      ['evidencni_cislo', 'č'.repeat(300), 201],
    ] as const
  ).map(
    ([name, value, status]): JudgedFind => [
      `${name} ${JSON.stringify(value.slice(0, 40))}`,
      status,
      findLines(2, text(name, value)),
    ],
  ),
  ['a blank number in state 3', 422, findLines(3, text('evidencni_cislo', ' \u00a0 '))],
  ['no handover in state 3', 422, findLines(3, { predano: undefined })],
  [
    'a comment between elements',
    201,
    findLines(2).replace('<svc:hloubka>', '<!-- x --><svc:hloubka>'),
  ],
  ['a comment beside the find', 422, `<!-- x -->${findLines(2)}`],
  ['an instruction beside the find', 422, `<?note x?>${findLines(2)}`],
  [
    'a section beside the find that looks like a comment',
    201,
    `<![CDATA[<!-- x -->]]>${findLines(2)}`,
  ],
  ['text beside the find', 201, `x ${findLines(2)}`],
  [
    'text between the elements of the find',
    422,
    findLines(2).replace('<svc:hloubka>', 'x <svc:hloubka>'),
  ],
];

/** Projects of the demo seed that the archaeologist may import into. */
const PROJECTS: readonly JudgedFind[] = [
  ['another survey', 201, smallestFind(project('M-202400202'))],
  ['a project in small letters', 404, smallestFind(project('c-202400101'))],
  ['a rescue project', 403, smallestFind(project('C-202300715'))],
  ['a closed project', 403, smallestFind(project('C-202200058'))],
  ['an archived project', 403, smallestFind(project('C-202100007'))],
  ['a project that is in no list', 404, smallestFind(project('C-209999999'))],
];

export const JUDGED_FINDS: readonly JudgedFind[] = [
  ...REFERENCES,
  ...LANGUAGES,
  ...GEOMETRIES,
  ...VALUES,
  ...PROJECTS,
];

/**
 * Projects that the service refuses, though a harvest cannot be sure of it: it may be older, or
 * another organisation a partner.
 */
export const DOUBTFUL_PROJECTS: readonly JudgedFind[] = [
  ['a project of another organisation', 403, smallestFind(project('M-202300316'))],
  ['a project that had not started', 403, smallestFind(project('C-202400303'))],
];
