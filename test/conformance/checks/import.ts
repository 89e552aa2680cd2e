import { type Check, must, skipUnless, writes } from '../check.ts';
import type { ClauseId } from '../clauses.ts';
import { PLACE, wkt } from '../find-document.ts';
import { mustRefuse } from '../refusal.ts';
import {
  type Draft,
  fetchTerms,
  fetchUser,
  foundIn,
  getResearcher,
  importFind,
  madeFind,
  makeDocument,
  multipart,
  mustBeValidAnswer,
  mustName,
  needArchaeologist,
  sha512,
} from '../writes.ts';
import { at, type Element, idAt, listAll, textAt } from '../xml.ts';

// Finds that are taken, and documents that are refused as a whole: A-IMPORT, A-DECLARE and
// A-ANSWER.

/**
 * Two points are one where they differ by no more than the ways to compute one from the other do:
 * two metres.
 */
function isNear(text: string | undefined, expected: string, tolerance: number): boolean {
  const parseNumbers = (point: string): number[] =>
    (point.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
  const seen = parseNumbers(text ?? '');
  const wanted = parseNumbers(expected);
  return (
    seen.length === 2 &&
    seen.every((number, index) => Math.abs(number - (wanted[index] ?? 0)) <= tolerance)
  );
}

function refused(
  id: string,
  clause: ClauseId,
  expected: string,
  statuses: readonly number[],
  draft: Draft,
): Check {
  return writes(id, clause, expected, async (scene) =>
    mustRefuse(scene, await importFind(scene, draft), ...statuses),
  );
}

function listHistory(find: Element): string[] {
  return find.children
    .filter(({ name }) => name === 'historie')
    .map((entry) => textAt(entry, 'typ_zmeny') ?? '');
}

export const IMPORT_CHECKS: readonly Check[] = [
  writes('import-state-1', 'A-STATE-2', '201 with the find in state 1', async (scene) => {
    const { find } = await foundIn(await importFind(scene), 201);
    must(textAt(find, 'stav') === '1', `stav ${textAt(find, 'stav')}`);
  }),
  ...([2, 3] as const).map((stav) =>
    writes(
      `import-state-${stav}`,
      stav === 2 ? 'A-STATE-3' : 'A-STATE-4',
      `201 with the find in state ${stav}`,
      async (scene) => {
        await needArchaeologist(scene);
        const { find } = await foundIn(await importFind(scene, { stav }), 201);
        must(textAt(find, 'stav') === String(stav), `stav ${textAt(find, 'stav')}`);
      },
    ),
  ),
  writes(
    'import-headers',
    'A-ANSWER-1',
    'application/xml, X-Record-ID with the identifier, Location under {oai_base}/id/',
    async (scene) => {
      const answer = await importFind(scene);
      const { find } = await foundIn(answer, 201);
      mustName(scene, answer, textAt(find, 'ident_cely') ?? '');
    },
  ),
  writes(
    'import-identifier',
    'A-FIELD-5',
    'the service assigns an identifier in place of :tba',
    async (scene) => {
      const { find } = await madeFind(scene);
      must(
        /^[\w-]+$/.test(textAt(find, 'ident_cely') ?? ''),
        `ident_cely ${textAt(find, 'ident_cely')}`,
      );
    },
  ),
  writes(
    'import-no-deduplication',
    'A-IMPORT-6',
    'the same document sent twice makes two finds',
    async (scene) => {
      const one = await foundIn(await importFind(scene), 201);
      const two = await foundIn(await importFind(scene), 201);
      must(one.ident !== two.ident, `both are ${one.ident}`);
    },
  ),
  writes('import-values', 'A-DECLARE-1', 'the record holds what was sent', async (scene) => {
    await needArchaeologist(scene);
    const { find } = await madeFind(scene, 3);
    const terms = await fetchTerms(scene);
    const texts = {
      evidencni_cislo: 'A 12/2024',
      hloubka: '15',
      presna_datace: 'starší část',
      pocet: 'cca 3',
      datum_nalezu: '2024-05-06',
      predano: 'true',
    };
    for (const [name, text] of Object.entries(texts))
      must(textAt(find, name) === text, `${name}: ${textAt(find, name)}`);
    must(textAt(find, 'poznamka') === terms.note, `poznamka: ${textAt(find, 'poznamka')}`);
    must(
      textAt(find, 'chranene_udaje', 'lokalizace') === 'Pole u lesa',
      `lokalizace: ${textAt(find, 'chranene_udaje', 'lokalizace')}`,
    );
    for (const name of [
      'okolnosti',
      'obdobi',
      'druh_nalezu',
      'specifikace',
      'predano_organizace',
      'nalezce',
      'pristupnost',
    ] as const)
      must(idAt(find, name) === terms[name], `${name}: ${idAt(find, name)}, sent ${terms[name]}`);
    must(idAt(find, 'projekt') === terms.project, `projekt: ${idAt(find, 'projekt')}`);
  }),
  writes(
    'import-text-selects-nothing',
    'A-FIELD-2',
    'the entry is that of the id, whatever text and language say; the record has the service’s own label',
    async (scene) => {
      const { pristupnost } = await fetchTerms(scene);
      const line = `<svc:pristupnost id="${pristupnost}" xml:lang="en">anonym</svc:pristupnost>`;
      const { find } = await foundIn(
        await importFind(scene, { changes: { pristupnost: line } }),
        201,
      );
      must(idAt(find, 'pristupnost') === pristupnost, `pristupnost ${idAt(find, 'pristupnost')}`);
      must(
        textAt(find, 'pristupnost') !== 'anonym',
        `the text that was sent: ${textAt(find, 'pristupnost')}`,
      );
    },
  ),
  writes(
    'import-derives',
    'A-POINT-2',
    'from WGS 84 come S-JTSK, cadastral area and district',
    async (scene) => {
      await needArchaeologist(scene);
      const { find } = await madeFind(scene, 3);
      const place = at(find, 'chranene_udaje');
      must(
        isNear(textAt(place, 'geom_wkt'), PLACE.wgs84, 0),
        `geom_wkt ${textAt(place, 'geom_wkt')}`,
      );
      must(
        isNear(textAt(place, 'geom_sjtsk_wkt'), PLACE.sjtsk, 2),
        `geom_sjtsk_wkt ${textAt(place, 'geom_sjtsk_wkt')}`,
      );
      must(
        idAt(place, 'katastr') !== undefined && idAt(find, 'okres') !== undefined,
        'no katastr or no okres',
      );
    },
  ),
  writes(
    'import-from-sjtsk',
    'A-FIELD-25',
    'from S-JTSK comes WGS 84, longitude first',
    async (scene) => {
      const changes = {
        geom_system: '<svc:geom_system>5514</svc:geom_system>',
        geom_sjtsk_wkt: wkt(PLACE.sjtsk, '5514'),
      };
      const { find } = await foundIn(await importFind(scene, { changes }), 201);
      const seen = textAt(find, 'chranene_udaje', 'geom_wkt');
      must(isNear(seen, PLACE.wgs84, 0.00003), `geom_wkt ${seen}`);
    },
  ),
  writes(
    'import-ignores',
    'A-FIELD-4',
    'okres, katastr, igsn and the other geometry are ignored',
    async (scene) => {
      const changes = {
        igsn: '<svc:igsn>10.1/x</svc:igsn>',
        okres: '<svc:okres id="ruian-9999" xml:lang="cs">x</svc:okres>',
        katastr: '<svc:katastr id="ruian-999999" xml:lang="cs">x</svc:katastr>',
        geom_wkt: wkt(PLACE.wgs84),
        geom_sjtsk_wkt: wkt('POINT (-586746.29 -1150904.89)', '5514'),
      };
      const { find } = await foundIn(await importFind(scene, { changes }), 201);
      const place = at(find, 'chranene_udaje');
      must(textAt(find, 'igsn') !== '10.1/x', 'igsn was taken');
      must(
        idAt(find, 'okres') !== 'ruian-9999' && idAt(place, 'katastr') !== 'ruian-999999',
        'okres or katastr was taken',
      );
      must(
        isNear(textAt(place, 'geom_sjtsk_wkt'), PLACE.sjtsk, 2),
        `geom_sjtsk_wkt ${textAt(place, 'geom_sjtsk_wkt')}`,
      );
    },
  ),
  writes(
    'import-new-finder',
    'A-FIELD-16',
    'a finder named by :tba is made once and found again by the next find',
    async (scene) => {
      const changes = { nalezce: `<svc:nalezce id=":tba">Zkouška${scene.mark}, Jan</svc:nalezce>` };
      const finder = async () =>
        idAt((await foundIn(await importFind(scene, { changes }), 201)).find, 'nalezce');
      const first = await finder();
      const second = await finder();
      must(first !== undefined && first !== ':tba', `nalezce ${first}`);
      must(first === second, `nalezce ${first}, then ${second}`);
    },
  ),
  writes(
    'import-history',
    'A-HISTORY-1',
    'the history has the transition of each state that was passed, in the account’s name',
    async (scene) => {
      await needArchaeologist(scene);
      for (const [stav, codes] of [
        [1, 'SN01'],
        [3, 'SN01 SN12 SN23'],
      ] as const) {
        const { find } = await madeFind(scene, stav);
        must(
          listHistory(find).join(' ') === codes,
          `state ${stav}: ${listHistory(find).join(' ')}`,
        );
        const users = new Set(listAll(find, 'historie').map((entry) => idAt(entry, 'uzivatel')));
        must(users.size === 1 && users.has((await fetchUser(scene)).ident), `by ${[...users]}`);
      }
    },
  ),
  writes(
    'import-answer-is-valid',
    'A-ANSWER-1',
    'the answer is valid by the schema',
    async (scene) => {
      const answer = await importFind(scene);
      await mustBeValidAnswer(scene, answer);
    },
  ),
  writes('import-two-files', 'A-WIRE-1', 'two files are refused', async (scene) => {
    const bytes = Buffer.from(await makeDocument(scene, 1));
    const parts = ['a.xml', 'b.xml'].map((fileName) => ({ name: 'file', fileName, bytes }));
    mustRefuse(scene, await importFind(scene, { parts }), 400, 422);
  }),
  writes(
    'import-file-of-another-name',
    'A-IMPORT-11',
    '400: the field is called file',
    async (scene) => {
      const parts = [
        {
          name: 'document',
          fileName: 'find.xml',
          bytes: Buffer.from(await makeDocument(scene, 1)),
        },
      ];
      mustRefuse(scene, await importFind(scene, { parts }), 400);
    },
  ),
  ...(
    [
      ['missing', () => null],
      ['of-another-algorithm', (bytes: Buffer) => sha512(bytes).replace('sha-512', 'sha-256')],
      [
        'in-hexadecimal',
        (bytes: Buffer) =>
          `sha-512=:${Buffer.from(sha512(bytes).slice(9, -1), 'base64').toString('hex')}:`,
      ],
      ['of-other-bytes', () => sha512('other bytes')],
      [
        'of-the-whole-body',
        (bytes: Buffer) => sha512(multipart([{ name: 'file', fileName: 'find.xml', bytes }])),
      ],
    ] as const
  ).map(([id, digest]) =>
    writes(`import-digest-${id}`, 'A-DIGEST-2', '400 with a detail', async (scene) =>
      mustRefuse(
        scene,
        await importFind(scene, { digest: digest(Buffer.from(await makeDocument(scene, 1))) }),
        400,
      ),
    ),
  ),
  refused('import-malformed', 'A-IMPORT-11', '400: no well-formed XML', [400], {
    xml: (text) => text.replace('</svc:samostatny_nalez>', ''),
  }),
  refused('import-empty-root', 'A-IMPORT-11', '400: an empty root', [400], {
    xml: (text) => text.replace(/<svc:samostatny_nalez>.*<\/svc:samostatny_nalez>\n/s, ''),
  }),
  refused('import-two-finds', 'A-IMPORT-2', '422: more than one find', [422], {
    xml: (text) => text.replace(/<svc:samostatny_nalez>.*<\/svc:samostatny_nalez>/s, '$&$&'),
  }),
  refused('import-other-entity', 'A-IMPORT-2', '422: the root holds no find', [422], {
    xml: (text) =>
      text.replace(
        /<svc:samostatny_nalez>.*<\/svc:samostatny_nalez>/s,
        '<svc:osoba><svc:ident_cely>OS-000001</svc:ident_cely><svc:jmeno>A</svc:jmeno><svc:prijmeni>B</svc:prijmeni>' +
          '<svc:vypis>B, A.</svc:vypis><svc:vypis_cely>B, A</svc:vypis_cely></svc:osoba>',
      ),
  }),
  refused('import-other-namespace', 'A-IMPORT-14', '422: the namespace of another version', [422], {
    xml: (text) => text.replace(/(xmlns:\w+="[^"]*)\/\d+\.\d+\//, '$1/2.1/'),
  }),
  refused('import-no-schema-location', 'A-IMPORT-14', '422: no schemaLocation', [422], {
    xml: (text) => text.replace(/ xsi:schemaLocation="[^"]*"/, ''),
  }),
  refused(
    'import-other-schema-location',
    'A-IMPORT-14',
    '422: a schemaLocation that does not match',
    [422],
    {
      xml: (text) => text.replace(/\.xsd"/, '-draft.xsd"'),
    },
  ),
  refused('import-element-order', 'A-FIELD-1', '422: elements in another order', [422], {
    xml: (text) => text.replace(/(<svc:stav>1<\/svc:stav>\n)(<svc:geom_system>.*\n)/, '$2$1'),
  }),
  refused('import-unknown-project', 'A-IMPORT-13', '404: there is no such project', [404], {
    changes: { projekt: '<svc:projekt id="C-000000000">x</svc:projekt>' },
  }),
  writes(
    'import-foreign-project',
    'A-PROJECT-1',
    '403: a project that is not the account’s',
    async (scene) => {
      const { foreignProject } = scene.options;
      skipUnless(foreignProject !== undefined, 'needs --foreign-project');
      mustRefuse(
        scene,
        await importFind(scene, {
          changes: { projekt: `<svc:projekt id="${foreignProject}">x</svc:projekt>` },
        }),
        403,
      );
    },
  ),
  writes(
    'import-researcher-state-1',
    'A-PROJECT-2',
    '201: a Researcher may import into state 1',
    async (scene) => {
      await foundIn(await importFind(scene, { as: getResearcher(scene) }), 201);
    },
  ),
  ...([2, 3] as const).map((stav) =>
    writes(
      `import-researcher-state-${stav}`,
      'A-PROJECT-2',
      `403: a Researcher may not import into state ${stav}`,
      async (scene) =>
        mustRefuse(scene, await importFind(scene, { stav, as: getResearcher(scene) }), 403),
    ),
  ),
];
