import { findLines, smallestFind } from '../support/contract-find.ts';

/** A find typed by hand, and what the contract says of it (A-FIELD, A-VALUE, A-POINT). */
type JudgedFind = {
  readonly title: string;
  /** The content of the root. */
  readonly content: string;
  /** Answer to an import of it. */
  readonly status: 201 | 403 | 404 | 422;
};

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
      return {
        title: `${name} with blanks round its id`,
        content: findLines(2, { [name]: vocabulary(name, ` ${id} `) }),
        status: 422,
      };
    },
  ),
  {
    title: 'an id with a no-break space',
    content: findLines(2, { obdobi: vocabulary('obdobi', 'HES-000253\u00a0') }),
    status: 422,
  },
  {
    title: 'an id with a line break',
    content: findLines(2, { obdobi: vocabulary('obdobi', 'HES-000253&#10;') }),
    status: 422,
  },
  {
    title: 'an id of blanks alone',
    content: smallestFind({ obdobi: vocabulary('obdobi', '  ') }),
    status: 422,
  },
  {
    title: 'an empty id in state 1',
    content: smallestFind({ obdobi: vocabulary('obdobi', '') }),
    status: 201,
  },
  {
    title: 'an empty id in state 2',
    content: findLines(2, { obdobi: vocabulary('obdobi', '') }),
    status: 422,
  },
  {
    title: 'an id in small letters',
    content: findLines(2, { obdobi: vocabulary('obdobi', 'hes-000253') }),
    status: 422,
  },
  {
    title: 'an address for an id',
    content: findLines(2, { obdobi: vocabulary('obdobi', 'https://example.org/id/HES-000253') }),
    status: 422,
  },
  {
    title: 'an accessibility without an id',
    content: smallestFind({ pristupnost: vocabulary('pristupnost', '') }),
    status: 422,
  },
  {
    title: 'a label for an id',
    content: findLines(2, { obdobi: vocabulary('obdobi', 'paleolit') }),
    status: 422,
  },
  {
    title: 'an entry of another vocabulary',
    content: findLines(2, { obdobi: vocabulary('obdobi', 'HES-000691') }),
    status: 422,
  },
  {
    title: 'an organisation with a blank behind its id',
    content: findLines(3, { predano_organizace: vocabulary('predano_organizace', 'ORG-000091 ') }),
    status: 422,
  },
  {
    title: 'an organisation in small letters',
    content: findLines(3, { predano_organizace: vocabulary('predano_organizace', 'org-000091') }),
    status: 422,
  },
  {
    title: 'a finder with a blank before the id',
    content: smallestFind(person(' OS-001507')),
    status: 404,
  },
  { title: 'a finder in small letters', content: smallestFind(person('os-001507')), status: 404 },
  {
    title: 'a new finder with a blank before :tba',
    content: smallestFind(person(' :tba', 'Novák, Jan')),
    status: 404,
  },
  {
    title: 'a finder without an id in state 1',
    content: smallestFind(person('', 'Novák, Jan')),
    status: 201,
  },
  {
    title: 'a finder without an id in state 2',
    content: findLines(2, person('', 'Novák, Jan')),
    status: 422,
  },
  {
    title: 'a new finder without a comma',
    content: smallestFind(person(':tba', 'Novák Jan')),
    status: 422,
  },
  {
    title: 'a new finder of a no-break space',
    content: smallestFind(person(':tba', 'Novák, \u00a0')),
    status: 422,
  },
  {
    title: 'a new finder with a second comma',
    content: smallestFind(person(':tba', 'Novák, Jan, ml.')),
    status: 201,
  },
  {
    title: 'a new finder behind a comment',
    content: smallestFind(person(':tba', '<!-- x -->Novák, Jan')),
    status: 422,
  },
  {
    title: 'a new finder with a name of 60 letters, each of two units',
    content: smallestFind(person(':tba', `${'𐐀'.repeat(60)}, Jan`)),
    status: 201,
  },
  {
    title: 'a project with blanks round its id',
    content: smallestFind(project(' C-202400101 ')),
    status: 404,
  },
  { title: 'a project of blanks alone', content: smallestFind(project('  ')), status: 404 },
  { title: 'a project without an id', content: smallestFind(project('')), status: 422 },
];

/** `xml:lang` says a language; which one is no matter. */
const LANGUAGES: readonly JudgedFind[] = [
  ...(['cs', 'en', 'de-AT'] as const).map(
    (lang): JudgedFind => ({
      title: `xml:lang="${lang}"`,
      content: smallestFind({ pristupnost: vocabulary('pristupnost', 'HES-000865', lang) }),
      status: 201,
    }),
  ),
  ...(['', ' ', 'c s'] as const).map(
    (lang): JudgedFind => ({
      title: `xml:lang="${lang}"`,
      content: smallestFind({ pristupnost: vocabulary('pristupnost', 'HES-000865', lang) }),
      status: 422,
    }),
  ),
  {
    title: 'an empty xml:lang of an area that is ignored',
    content: smallestFind({ katastr: vocabulary('katastr', 'ruian-672424', '') }),
    status: 422,
  },
  {
    title: 'lang without its prefix',
    content: smallestFind({
      pristupnost: '<svc:pristupnost id="HES-000865" lang="cs">x</svc:pristupnost>',
    }),
    status: 422,
  },
];

const WKT: readonly (readonly [wkt: string, status: JudgedFind['status']])[] = [
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
  {
    title: 'a selected geometry of blanks in state 1',
    content: smallestFind(point(' \n ')),
    status: 422,
  },
  {
    title: 'a selected geometry without anything in state 1',
    content: smallestFind(point('')),
    status: 422,
  },
  {
    title: 'a blank geometry in state 1 that is not selected',
    content: smallestFind({
      geom_sjtsk_wkt: '<svc:geom_sjtsk_wkt EPSG="5514"> </svc:geom_sjtsk_wkt>',
    }),
    status: 201,
  },
  ...WKT.map(
    ([wkt, status]): JudgedFind => ({
      title: `geometry ${JSON.stringify(wkt)}`,
      content: findLines(2, point(wkt)),
      status,
    }),
  ),
  {
    title: 'an attribute EPSG of the other system',
    content: findLines(2, point('POINT (15.1700002 49.84)', '5514')),
    status: 422,
  },
  {
    title: 'an attribute EPSG with a zero before it',
    content: findLines(2, point('POINT (15.1700002 49.84)', '04326')),
    status: 201,
  },
  {
    title: 'an attribute EPSG of letters',
    content: findLines(2, point('POINT (15.1700002 49.84)', 'WGS84')),
    status: 422,
  },
  {
    title: 'nonsense in the geometry that is not selected',
    content: findLines(2, {
      geom_sjtsk_wkt: '<svc:geom_sjtsk_wkt EPSG="1">x</svc:geom_sjtsk_wkt>',
    }),
    status: 201,
  },
  ...['693174.81 1077354.27', '15.17 49.84'].map(
    (numbers): JudgedFind => ({
      title: `S-JTSK of ${numbers}`,
      content: findLines(2, {
        ...text('geom_system', '5514'),
        geom_wkt: undefined,
        geom_sjtsk_wkt: `<svc:geom_sjtsk_wkt EPSG="5514">POINT (${numbers})</svc:geom_sjtsk_wkt>`,
      }),
      status: 422,
    }),
  ),
  {
    title: 'a geometry in the element that is not selected',
    content: findLines(2, text('geom_system', '5514')),
    status: 422,
  },
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
    ([name, value, status]): JudgedFind => ({
      title: `${name} ${JSON.stringify(value.slice(0, 40))}`,
      content: findLines(2, text(name, value)),
      status,
    }),
  ),
  {
    title: 'a blank number in state 3',
    content: findLines(3, text('evidencni_cislo', ' \u00a0 ')),
    status: 422,
  },
  { title: 'no handover in state 3', content: findLines(3, { predano: undefined }), status: 422 },
  {
    title: 'a comment between elements',
    content: findLines(2).replace('<svc:hloubka>', '<!-- x --><svc:hloubka>'),
    status: 201,
  },
  { title: 'a comment beside the find', content: `<!-- x -->${findLines(2)}`, status: 422 },
  { title: 'an instruction beside the find', content: `<?note x?>${findLines(2)}`, status: 422 },
  {
    title: 'a section beside the find that looks like a comment',
    content: `<![CDATA[<!-- x -->]]>${findLines(2)}`,
    status: 201,
  },
  { title: 'text beside the find', content: `x ${findLines(2)}`, status: 201 },
  {
    title: 'text between the elements of the find',
    content: findLines(2).replace('<svc:hloubka>', 'x <svc:hloubka>'),
    status: 422,
  },
];

/** Projects of the demo seed that the archaeologist may import into. */
const PROJECTS: readonly JudgedFind[] = [
  { title: 'another survey', content: smallestFind(project('M-202400202')), status: 201 },
  {
    title: 'a project in small letters',
    content: smallestFind(project('c-202400101')),
    status: 404,
  },
  { title: 'a rescue project', content: smallestFind(project('C-202300715')), status: 403 },
  { title: 'a closed project', content: smallestFind(project('C-202200058')), status: 403 },
  { title: 'an archived project', content: smallestFind(project('C-202100007')), status: 403 },
  {
    title: 'a project that is in no list',
    content: smallestFind(project('C-209999999')),
    status: 404,
  },
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
  {
    title: 'a project of another organisation',
    content: smallestFind(project('M-202300316')),
    status: 403,
  },
  {
    title: 'a project that had not started',
    content: smallestFind(project('C-202400303')),
    status: 403,
  },
];
