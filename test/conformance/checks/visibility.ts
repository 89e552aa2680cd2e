import { type Check, harvests, must, mustBeSame, skipUnless } from '../check.ts';
import type { ClauseId } from '../clauses.ts';
import {
  fetchPage,
  firstPage,
  getEntity,
  getIdent,
  isRefused,
  nativeFormat,
  REFUSAL,
} from '../harvest.ts';
import type { Scene } from '../scene.ts';
import { at, type Element, idAt, listAll, textAt } from '../xml.ts';

// View of an anonymous reader: B-SEE and B-MASK. Sign-in there is not promised (B-AUTH-1).

/**
 * Rows of the table for role A: the element that holds the state, and the one state that is shown.
 */
const SHOWN_IN_STATE: readonly (readonly [
  set: string,
  clause: ClauseId,
  element: string,
  stav: string,
])[] = [
  ['projekt', 'B-SEE-3', 'stav', '6'],
  ['archeologicky_zaznam', 'B-SEE-5', 'stav', '3'],
  ['adb', 'B-SEE-7', 'stav_pom', '3'],
  ['dokument', 'B-SEE-8', 'stav', '3'],
  ['ext_zdroj', 'B-SEE-9', 'stav', '3'],
  ['pian', 'B-SEE-10', 'stav', '2'],
  ['samostatny_nalez', 'B-SEE-11', 'stav', '4'],
];
const ALWAYS_SHOWN: readonly (readonly [set: string, clause: ClauseId])[] = [
  ['let', 'B-SEE-6'],
  ['heslo', 'B-SEE-13'],
  ['ruian_kraj', 'B-SEE-14'],
  ['ruian_okres', 'B-SEE-15'],
  ['ruian_katastr', 'B-SEE-16'],
  ['organizace', 'B-SEE-17'],
  ['osoba', 'B-SEE-18'],
];
/** The element that governs, and the paths of what it protects. */
const PROTECTED: readonly (readonly [
  set: string,
  clause: ClauseId,
  governing: string,
  paths: readonly (readonly string[])[],
])[] = [
  ['projekt', 'B-MASK-2', 'pristupnost_pom', [['chranene_udaje']]],
  [
    'archeologicky_zaznam',
    'B-MASK-3',
    'pristupnost',
    [['chranene_udaje'], ['akce', 'chranene_udaje'], ['lokalita', 'chranene_udaje']],
  ],
  ['adb', 'B-MASK-4', 'pristupnost_pom', [['chranene_udaje']]],
  ['pian', 'B-MASK-5', 'pristupnost_pom', [['chranene_udaje']]],
  ['samostatny_nalez', 'B-MASK-6', 'pristupnost', [['chranene_udaje']]],
];

async function fetchEntities(scene: Scene, set: string): Promise<ReadonlyMap<string, Element>> {
  const { records } = await firstPage(scene, set);
  return new Map(
    records.flatMap((record) => {
      const entity = getEntity(record);
      return entity === undefined ? [] : [[getIdent(record), entity]];
    }),
  );
}

/** Identifiers of the accessibility that everybody has: letter A in its abbreviation. */
function openToAll(scene: Scene): Promise<ReadonlySet<string>> {
  return scene.given('accessibility', async () => {
    const entries = await fetchEntities(scene, 'heslo:pristupnost');
    const open = [...entries]
      .filter(([, entry]) => textAt(entry, 'zkratka') === 'A')
      .map(([ident]) => ident);
    skipUnless(open.length > 0, 'no entry of heslo:pristupnost has the letter A');
    return new Set(open);
  });
}

export const VISIBILITY_CHECKS: readonly Check[] = [
  ...SHOWN_IN_STATE.map(([set, clause, element, stav]) =>
    harvests(
      `anonymous-${set}`,
      clause,
      `an anonymous reader sees ${set} in state ${stav} alone`,
      async (scene) => {
        const entities = await fetchEntities(scene, set);
        skipUnless(
          entities.size > 0,
          `none of the first records of ${set} is open to anonymous readers`,
        );
        for (const [ident, entity] of entities)
          must(
            textAt(entity, element) === stav,
            `${ident} in ${element} ${textAt(entity, element)}`,
          );
      },
    ),
  ),
  ...ALWAYS_SHOWN.map(([set, clause]) =>
    harvests(`anonymous-${set}`, clause, `anybody sees ${set}`, async (scene) => {
      const { records } = await firstPage(scene, set);
      skipUnless(records.length > 0, `no record of ${set} is listed`);
      const shut = records.find((record) => !record.isDeleted && getEntity(record) === undefined);
      must(shut === undefined, `${shut?.identifier}: ${shut?.metadata?.text ?? 'no metadata'}`);
    }),
  ),
  harvests(
    'anonymous-uzivatel',
    'B-SEE-12',
    'users are left out for anonymous readers',
    async (scene) => {
      for (const format of [nativeFormat(scene), 'oai_dc']) {
        const { records, error } = await firstPage(scene, 'uzivatel', '2.2', format);
        must(records.length === 0, `${format}: ${records.length} users are listed`);
        must(error === 'noRecordsMatch', `${format}: error ${error}`);
      }
    },
  ),
  harvests(
    'anonymous-oznamovatel',
    'B-SEE-4',
    'who announced a project is left out for anonymous readers',
    async (scene) => {
      const entities = await fetchEntities(scene, 'projekt');
      skipUnless(entities.size > 0, 'none of the first projects is open to anonymous readers');
      for (const [ident, entity] of entities)
        must(
          at(entity, 'oznamovatel') === undefined,
          `${ident}: ${at(entity, 'oznamovatel')?.text}`,
        );
    },
  ),
  harvests(
    'refusal-in-place',
    'B-SEE-2',
    `what may not be seen is listed, with "${REFUSAL}" in place of its content`,
    async (scene) => {
      let refused = 0;
      for (const [set] of SHOWN_IN_STATE) {
        for (const record of (await firstPage(scene, set)).records) {
          if (record.isDeleted || getEntity(record) !== undefined) continue;
          must(
            isRefused(record.metadata),
            `${record.identifier}: ${record.metadata?.text ?? 'no metadata'}`,
          );
          refused += 1;
        }
      }
      skipUnless(refused > 0, 'all of the first records are open to anonymous readers');
    },
  ),
  harvests(
    'refusal-in-dublin-core',
    'B-SEE-2',
    'a record that is refused in the native format is refused as Dublin Core',
    async (scene) => {
      const refused = (await firstPage(scene, 'samostatny_nalez')).records.filter((record) =>
        isRefused(record.metadata),
      );
      skipUnless(refused.length > 0, 'all of the first finds are open to anonymous readers');
      const { records } = await firstPage(scene, 'samostatny_nalez', '2.2', 'oai_dc');
      const textByPath = new Map(
        records.map(({ identifier, metadata }) => [identifier, metadata?.text]),
      );
      for (const { identifier } of refused)
        must(
          textByPath.get(identifier) === REFUSAL,
          `${identifier}: ${textByPath.get(identifier)}`,
        );
    },
  ),
  ...PROTECTED.map(([set, clause, governing, paths]) =>
    harvests(
      `protected-${set}`,
      clause,
      `${governing} says whether chranene_udaje are shown, all or none`,
      async (scene) => {
        const open = await openToAll(scene);
        const entities = await fetchEntities(scene, set);
        const parts = [...entities].flatMap(([ident, entity]) =>
          paths.flatMap((path) => {
            const part = at(entity, ...path);
            return part === undefined || part.text === ''
              ? []
              : [{ ident, part, isOpen: open.has(idAt(entity, governing) ?? '') }];
          }),
        );
        skipUnless(
          parts.length > 0,
          `none of the first records of ${set} that are open has chranene_udaje`,
        );
        for (const { ident, part, isOpen } of parts)
          must(
            isRefused(part) !== isOpen,
            `${ident}: ${isOpen ? 'refused, though open to all' : `shown, though protected: ${part.text}`}`,
          );
      },
    ),
  ),
  harvests(
    'protected-in-dublin-core',
    'B-MASK-6',
    'Dublin Core does not tell where a protected find was made',
    async (scene) => {
      const open = await openToAll(scene);
      const shut = [...(await fetchEntities(scene, 'samostatny_nalez'))].filter(
        ([, entity]) => !open.has(idAt(entity, 'pristupnost') ?? ''),
      );
      skipUnless(shut.length > 0, 'each of the first finds is open to all');
      const { records } = await fetchPage(
        scene,
        'verb=ListRecords&metadataPrefix=oai_dc&set=samostatny_nalez',
      );
      const shown = new Map(records.map((record) => [getIdent(record), record.metadata]));
      for (const [ident] of shut) {
        const metadata = shown.get(ident);
        const places =
          metadata === undefined ? [] : listAll(metadata, 'coverage').map(({ text }) => text);
        mustBeSame(
          places.filter((text) => /POINT|\d\.\d+[ ,]+\d+\.\d+|ruian-\d{5,}/.test(text)),
          [],
          `${ident}: places`,
        );
      }
    },
  ),
];
