import { type Check, must, writes } from '../check.ts';
import { CLAUSE_OF_ELEMENT, type ClauseId } from '../clauses.ts';
import { type Lines, PLACE, type Terms, term, wkt } from '../find-document.ts';
import { mustRefuse } from '../refusal.ts';
import { fetchTerms, foundIn, importFind, needArchaeologist } from '../writes.ts';

// Requirements of each state and limits of each element: A-FIELD, A-POINT and A-STATE.

type Case = readonly [
  id: string,
  clause: ClauseId,
  stav: 1 | 2 | 3,
  changes: Lines | ((terms: Terms) => Lines),
  expected: string,
  statuses?: readonly number[],
];

const NEEDED_IN_STATE_2 = [
  'hloubka',
  'okolnosti',
  'obdobi',
  'druh_nalezu',
  'specifikace',
  'nalezce',
  'datum_nalezu',
  'lokalizace',
] as const;

const CASES: readonly Case[] = [
  ...(['projekt', 'stav', 'geom_system', 'pristupnost', 'ident_cely'] as const).map(
    (name): Case => [
      `without-${name}`,
      CLAUSE_OF_ELEMENT[name],
      1,
      { [name]: null },
      `${name} is required`,
    ],
  ),
  ...([2, 3] as const).flatMap((stav) =>
    NEEDED_IN_STATE_2.map(
      (name): Case => [
        `state-${stav}-without-${name}`,
        CLAUSE_OF_ELEMENT[name],
        stav,
        { [name]: null },
        `state ${stav} needs ${name}`,
      ],
    ),
  ),
  [
    'state-3-without-number',
    'A-FIELD-6',
    3,
    { evidencni_cislo: null },
    'state 3 needs a registration number',
  ],
  [
    'state-3-without-organisation',
    'A-FIELD-20',
    3,
    { predano_organizace: null },
    'state 3 needs a receiving organisation',
  ],
  [
    'state-3-not-handed-over',
    'A-FIELD-19',
    3,
    { predano: '<svc:predano>false</svc:predano>' },
    'state 3 needs predano true',
  ],
  ['state-3-without-handover', 'A-FIELD-19', 3, { predano: null }, 'state 3 needs predano'],
  [
    'identifier-given',
    'A-FIELD-5',
    1,
    { ident_cely: '<svc:ident_cely>C-202400101-N00001</svc:ident_cely>' },
    'ident_cely is :tba',
  ],
  ['stav-0', 'A-FIELD-18', 1, { stav: '<svc:stav>0</svc:stav>' }, 'stav is 1, 2 or 3'],
  [
    'system-unknown',
    'A-FIELD-21',
    1,
    { geom_system: '<svc:geom_system>3857</svc:geom_system>' },
    'geom_system is 4326 or 5514',
  ],
  [
    'date-form',
    'A-FIELD-17',
    1,
    { datum_nalezu: '<svc:datum_nalezu>6. 5. 2024</svc:datum_nalezu>' },
    'a date is YYYY-MM-DD',
  ],
  [
    'depth-no-integer',
    'A-FIELD-8',
    1,
    { hloubka: '<svc:hloubka>1.5</svc:hloubka>' },
    'a depth is an integer',
  ],
  [
    'handover-no-boolean',
    'A-FIELD-19',
    1,
    { predano: '<svc:predano>yes</svc:predano>' },
    'predano is a boolean',
  ],
  [
    'finder-without-comma',
    'A-FIELD-16',
    1,
    { nalezce: '<svc:nalezce id=":tba">Jan Zkouška</svc:nalezce>' },
    'a new finder is "Surname, Given name"',
  ],
  [
    'finder-without-given-name',
    'A-FIELD-16',
    1,
    { nalezce: '<svc:nalezce id=":tba">Zkouška, </svc:nalezce>' },
    'a new finder has both names',
  ],
  [
    'finder-unknown',
    'A-FIELD-16',
    1,
    { nalezce: '<svc:nalezce id="OS-999999999">x</svc:nalezce>' },
    'a finder is a known person',
    [404, 422],
  ],
  ...(
    [
      ['period', 'obdobi', 'druh_nalezu', 'an object type is no period'],
      ['type', 'druh_nalezu', 'obdobi', 'a period is no object type'],
      ['context', 'okolnosti', 'obdobi', 'a period is no context'],
      ['specification', 'specifikace', 'obdobi', 'a period is no specification'],
      ['accessibility', 'pristupnost', 'obdobi', 'a period is no accessibility'],
    ] as const
  ).map(
    ([id, name, other, expected]): Case => [
      `${id}-of-another-vocabulary`,
      CLAUSE_OF_ELEMENT[name],
      1,
      (terms) => ({ [name]: term(name, terms[other]) }),
      expected,
    ],
  ),
  [
    'organisation-unknown',
    'A-FIELD-20',
    1,
    { predano_organizace: term('predano_organizace', 'ORG-999999999') },
    'an organisation is a known one',
    [404, 422],
  ],
  [
    'wkt-no-point',
    'A-FIELD-24',
    1,
    { geom_wkt: wkt('LINESTRING (15.17 49.84, 15.18 49.85)') },
    'a geometry is a point',
  ],
  ['wkt-malformed', 'A-FIELD-24', 1, { geom_wkt: wkt('15.17 49.84') }, 'a geometry is WKT'],
  [
    'wkt-swapped',
    'A-FIELD-24',
    1,
    { geom_wkt: wkt('POINT (49.84 15.17)') },
    'longitude stands first',
  ],
  [
    'epsg-of-the-other',
    'A-FIELD-24',
    1,
    { geom_wkt: wkt(PLACE.wgs84).replace('EPSG="4326"', 'EPSG="5514"') },
    'EPSG is 4326',
  ],
  [
    'epsg-of-the-other-sjtsk',
    'A-FIELD-25',
    1,
    {
      geom_system: '<svc:geom_system>5514</svc:geom_system>',
      geom_sjtsk_wkt: wkt(PLACE.sjtsk, '5514').replace('EPSG="5514"', 'EPSG="4326"'),
    },
    'EPSG is 5514',
  ],
  [
    'entry-unknown',
    'A-FIELD-2',
    1,
    { obdobi: term('obdobi', 'HES-999999999') },
    'an entry is a known one',
    [404, 422],
  ],
  ['state-2-without-geometry', 'A-POINT-1', 2, { geom_wkt: null }, 'state 2 needs a geometry'],
  ['state-3-without-geometry', 'A-POINT-1', 3, { geom_wkt: null }, 'state 3 needs a geometry'],
  [
    'state-2-with-the-other-geometry',
    'A-POINT-1',
    2,
    { geom_wkt: null, geom_sjtsk_wkt: wkt(PLACE.sjtsk, '5514') },
    'the geometry is that which geom_system selects',
  ],
  [
    'ignored-but-invalid',
    'A-FIELD-4',
    1,
    { okres: '<svc:okres>no attributes</svc:okres>' },
    'what is ignored satisfies the schema',
  ],
  ['stav-4', 'A-STATE-5', 3, { stav: '<svc:stav>4</svc:stav>' }, 'no import into state 4'],
  [
    'outside-all-areas',
    'A-IMPORT-14',
    1,
    { geom_wkt: wkt('POINT (20.5 45.5)') },
    'a point in no cadastral area',
  ],
];

function check([id, clause, stav, changes, expected, statuses = [422]]: Case): Check {
  return writes(`import-${id}`, clause, `${statuses.join(' or ')}: ${expected}`, async (scene) => {
    if (stav > 1) await needArchaeologist(scene);
    const changedLines = typeof changes === 'function' ? changes(await fetchTerms(scene)) : changes;
    mustRefuse(scene, await importFind(scene, { stav, changes: changedLines }), ...statuses);
  });
}

export const FIELD_CHECKS: readonly Check[] = [
  ...CASES.map(check),
  writes(
    'import-state-2-not-handed-over',
    'A-FIELD-19',
    '201: only state 3 needs predano true, a number and an organisation',
    async (scene) => {
      await needArchaeologist(scene);
      const changes = {
        evidencni_cislo: null,
        predano_organizace: null,
        predano: '<svc:predano>false</svc:predano>',
      };
      const { find } = await foundIn(await importFind(scene, { stav: 2, changes }), 201);
      must(
        find.children.every(({ name }) => name !== 'evidencni_cislo'),
        'a number that was not sent',
      );
    },
  ),
];
