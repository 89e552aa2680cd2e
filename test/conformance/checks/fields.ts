import { type Check, must } from '../check.ts';
import type { ClauseName } from '../clauses.ts';
import { type Lines, PLACE, type Terms, term, wkt } from '../find-document.ts';
import { mustRefuse } from '../refusal.ts';
import { foundIn, importFind, needArchaeologist, termsOf } from '../writes.ts';

// What each state needs, and what each element may hold: contract, Resources, Find import document, with States and transitions.

type Case = readonly [
  id: string,
  element: string,
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
];

const CASES: readonly Case[] = [
  ...['projekt', 'stav', 'geom_system', 'pristupnost', 'ident_cely'].map(
    (name): Case => [`without-${name}`, name, 1, { [name]: null }, `${name} is required`],
  ),
  ...([2, 3] as const).flatMap((stav) =>
    NEEDED_IN_STATE_2.map(
      (name): Case => [`state-${stav}-without-${name}`, name, stav, { [name]: null }, `state ${stav} needs ${name}`],
    ),
  ),
  ['state-3-without-number', 'evidencni_cislo', 3, { evidencni_cislo: null }, 'state 3 needs a registration number'],
  [
    'state-3-without-organisation',
    'predano_organizace',
    3,
    { predano_organizace: null },
    'state 3 needs a receiving organisation',
  ],
  ['state-3-not-handed-over', 'predano', 3, { predano: '<svc:predano>false</svc:predano>' }, 'state 3 needs predano true'],
  ['state-3-without-handover', 'predano', 3, { predano: null }, 'state 3 needs predano'],
  [
    'identifier-given',
    'ident_cely',
    1,
    { ident_cely: '<svc:ident_cely>C-202400101-N00001</svc:ident_cely>' },
    'ident_cely is :tba',
  ],
  ['stav-0', 'stav', 1, { stav: '<svc:stav>0</svc:stav>' }, 'stav is 1, 2 or 3'],
  ['system-unknown', 'geom_system', 1, { geom_system: '<svc:geom_system>3857</svc:geom_system>' }, 'geom_system is 4326 or 5514'],
  ['date-form', 'datum_nalezu', 1, { datum_nalezu: '<svc:datum_nalezu>6. 5. 2024</svc:datum_nalezu>' }, 'a date is YYYY-MM-DD'],
  ['depth-no-integer', 'hloubka', 1, { hloubka: '<svc:hloubka>1.5</svc:hloubka>' }, 'a depth is an integer'],
  ['handover-no-boolean', 'predano', 1, { predano: '<svc:predano>yes</svc:predano>' }, 'predano is a boolean'],
  [
    'finder-without-comma',
    'nalezce',
    1,
    { nalezce: '<svc:nalezce id=":tba">Jan Zkouška</svc:nalezce>' },
    'a new finder is "Surname, Given name"',
  ],
  [
    'finder-without-given-name',
    'nalezce',
    1,
    { nalezce: '<svc:nalezce id=":tba">Zkouška, </svc:nalezce>' },
    'a new finder has both names',
  ],
  [
    'finder-unknown',
    'nalezce',
    1,
    { nalezce: '<svc:nalezce id="OS-999999999">x</svc:nalezce>' },
    'a finder is a known person',
    [404, 422],
  ],
  [
    'period-of-another-vocabulary',
    'obdobi',
    1,
    (terms) => ({ obdobi: term('obdobi', terms.druh_nalezu) }),
    'an object type is no period',
  ],
  [
    'type-of-another-vocabulary',
    'druh_nalezu',
    1,
    (terms) => ({ druh_nalezu: term('druh_nalezu', terms.obdobi) }),
    'a period is no object type',
  ],
  [
    'context-of-another-vocabulary',
    'okolnosti',
    1,
    (terms) => ({ okolnosti: term('okolnosti', terms.obdobi) }),
    'a period is no context',
  ],
  [
    'specification-of-another-vocabulary',
    'specifikace',
    1,
    (terms) => ({ specifikace: term('specifikace', terms.obdobi) }),
    'a period is no specification',
  ],
  [
    'accessibility-of-another-vocabulary',
    'pristupnost',
    1,
    (terms) => ({ pristupnost: term('pristupnost', terms.obdobi) }),
    'a period is no accessibility',
  ],
  ['entry-unknown', 'references', 1, { obdobi: term('obdobi', 'HES-999999999') }, 'an entry is a known one', [404, 422]],
  [
    'organisation-unknown',
    'predano_organizace',
    1,
    { predano_organizace: term('predano_organizace', 'ORG-999999999') },
    'an organisation is a known one',
    [404, 422],
  ],
  ['wkt-no-point', 'geom_wkt', 1, { geom_wkt: wkt('LINESTRING (15.17 49.84, 15.18 49.85)') }, 'a geometry is a point'],
  ['wkt-malformed', 'geom_wkt', 1, { geom_wkt: wkt('15.17 49.84') }, 'a geometry is WKT'],
  ['wkt-swapped', 'geom_wkt', 1, { geom_wkt: wkt('POINT (49.84 15.17)') }, 'longitude stands first'],
  ['epsg-of-the-other', 'geom_wkt', 1, { geom_wkt: wkt(PLACE.wgs84).replace('EPSG="4326"', 'EPSG="5514"') }, 'EPSG is 4326'],
  [
    'epsg-of-the-other-sjtsk',
    'geom_sjtsk_wkt',
    1,
    {
      geom_system: '<svc:geom_system>5514</svc:geom_system>',
      geom_sjtsk_wkt: wkt(PLACE.sjtsk, '5514').replace('EPSG="5514"', 'EPSG="4326"'),
    },
    'EPSG is 5514',
  ],
];

/** Elements whose rule stands elsewhere than in their row. */
const RULES: readonly Case[] = [
  ['state-2-without-geometry', 'rule 2', 2, { geom_wkt: null }, 'state 2 needs a geometry'],
  ['state-3-without-geometry', 'rule 2', 3, { geom_wkt: null }, 'state 3 needs a geometry'],
  [
    'state-2-with-the-other-geometry',
    'rule 2',
    2,
    { geom_wkt: null, geom_sjtsk_wkt: wkt(PLACE.sjtsk, '5514') },
    'the geometry is that which geom_system selects',
  ],
  ['ignored-but-invalid', 'rule 4', 1, { okres: '<svc:okres>no attributes</svc:okres>' }, 'what is ignored satisfies the schema'],
];

function check([id, , stav, changes, expected, statuses = [422]]: Case, clause: ClauseName): Check {
  return {
    id: `import-${id}`,
    clause,
    kind: 'write',
    expected: `${statuses.join(' or ')}: ${expected}`,
    run: async (scene) => {
      if (stav > 1) await needArchaeologist(scene);
      const made = typeof changes === 'function' ? changes(await termsOf(scene)) : changes;
      mustRefuse(scene, await importFind(scene, { stav, changes: made }), ...statuses);
    },
  };
}

export const FIELD_CHECKS: readonly Check[] = [
  ...CASES.map((each) => check(each, `Resources, Find import document: ${each[1]}` as ClauseName)),
  ...RULES.map((each) => check(each, `Resources, Find import document, ${each[1]}` as ClauseName)),
  check(['stav-4', 'stav', 3, { stav: '<svc:stav>4</svc:stav>' }, 'no import into state 4'], 'States and transitions, 1'),
  check(
    ['outside-all-areas', 'geom_wkt', 1, { geom_wkt: wkt('POINT (20.5 45.5)') }, 'a point in no cadastral area'],
    'Errors, import: 422',
  ),
  {
    id: 'import-state-2-not-handed-over',
    clause: 'Resources, Find import document: predano',
    kind: 'write',
    expected: '201: only state 3 needs predano true, a number and an organisation',
    run: async (scene) => {
      await needArchaeologist(scene);
      const changes = { evidencni_cislo: null, predano_organizace: null, predano: '<svc:predano>false</svc:predano>' };
      const { find } = await foundIn(await importFind(scene, { stav: 2, changes }), 201);
      must(
        find.children.every(({ name }) => name !== 'evidencni_cislo'),
        'a number that was not sent',
      );
    },
  },
];
