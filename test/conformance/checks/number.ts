import { type Check, must, writes } from '../check.ts';
import type { ClauseId } from '../clauses.ts';
import { mustRefuse } from '../refusal.ts';
import type { Scene } from '../scene.ts';
import {
  foundIn,
  getResearcher,
  importFind,
  madeFind,
  mustName,
  needArchaeologist,
  setNumber,
} from '../writes.ts';
import { type Element, textAt, writeXml } from '../xml.ts';

// Registration numbers: A-NUMBER. Only of finds of this run.

const query = (value: string): string => `?evidencni_cislo=${encodeURIComponent(value)}`;

/** Sets a number that the find does not have yet. */
async function give(scene: Scene, value: string): Promise<Element> {
  await needArchaeologist(scene);
  const { ident } = await madeFind(scene);
  return (await foundIn(await setNumber(scene, ident, query(value)), 200)).find;
}

function refused(
  id: string,
  clause: ClauseId,
  expected: string,
  status: number,
  text: string,
): Check {
  return writes(`number-${id}`, clause, `${status}: ${expected}`, async (scene) => {
    await needArchaeologist(scene);
    mustRefuse(scene, await setNumber(scene, (await madeFind(scene)).ident, text), status);
  });
}

/** All of a find but its number and what tells of changes. */
function getRest(find: Element): string {
  return writeXml({
    ...find,
    children: find.children.filter(({ name }) => name !== 'evidencni_cislo' && name !== 'historie'),
  });
}

export const NUMBER_CHECKS: readonly Check[] = [
  writes(
    'number-is-set',
    'A-NUMBER-7',
    '200, application/xml with the new number, X-Record-ID and Location',
    async (scene) => {
      await needArchaeologist(scene);
      const { ident } = await madeFind(scene);
      const value = scene.fresh();
      const answer = await setNumber(scene, ident, query(value));
      const { find } = await foundIn(answer, 200);
      must(
        textAt(find, 'evidencni_cislo') === value,
        `evidencni_cislo ${textAt(find, 'evidencni_cislo')}`,
      );
      mustName(scene, answer, ident);
    },
  ),
  writes(
    'number-is-trimmed',
    'A-NUMBER-2',
    'blanks around it are cut off, inner ones stay',
    async (scene) => {
      const value = `A  ${scene.fresh()}  b`;
      const find = await give(scene, `  ${value} `);
      must(textAt(find, 'evidencni_cislo') === value, `"${textAt(find, 'evidencni_cislo')}"`);
    },
  ),
  writes(
    'number-of-255',
    'A-NUMBER-6',
    '255 characters after trimming are taken',
    async (scene) => {
      const value = scene.fresh().padEnd(255, 'ž');
      const find = await give(scene, ` ${value} `);
      must(
        textAt(find, 'evidencni_cislo') === value,
        `${textAt(find, 'evidencni_cislo')?.length} characters`,
      );
    },
  ),
  refused('of-256', 'A-NUMBER-6', '256 characters are too many', 422, query('x'.repeat(256))),
  refused('absent', 'A-NUMBER-8', 'no parameter', 400, ''),
  refused('empty', 'A-NUMBER-11', 'nothing is left after trimming', 422, query('')),
  refused('blank', 'A-NUMBER-11', 'nothing is left after trimming', 422, query('  ')),
  writes(
    'number-as-it-is',
    'A-NUMBER-15',
    '422: the second of two equal requests changes nothing',
    async (scene) => {
      const value = scene.fresh();
      await give(scene, value);
      mustRefuse(
        scene,
        await setNumber(scene, (await madeFind(scene)).ident, query(` ${value}`)),
        422,
      );
    },
  ),
  writes(
    'number-alone-changes',
    'A-NUMBER-3',
    'nothing else in the record changes',
    async (scene) => {
      await needArchaeologist(scene);
      const before = await foundIn(await importFind(scene, { stav: 3 }), 201);
      const after = await foundIn(await setNumber(scene, before.ident, query(scene.fresh())), 200);
      must(getRest(before.find) === getRest(after.find), `${getRest(after.find)}`);
    },
  ),
  ...([1, 2, 3] as const).map((stav) =>
    writes(
      `number-keeps-state-${stav}`,
      'A-STATE-7',
      `a find in state ${stav} takes a number and stays in that state`,
      async (scene) => {
        await needArchaeologist(scene);
        const { ident } = await madeFind(scene, stav);
        const { find } = await foundIn(await setNumber(scene, ident, query(scene.fresh())), 200);
        must(textAt(find, 'stav') === String(stav), `stav ${textAt(find, 'stav')}`);
      },
    ),
  ),
  writes(
    'number-by-a-researcher',
    'A-NUMBER-4',
    '403: a Researcher may not, not even for an own find',
    async (scene) => {
      const as = getResearcher(scene);
      const ownFind = await scene.given('a find of the Researcher', async () =>
        foundIn(await importFind(scene, { as }), 201),
      );
      mustRefuse(scene, await setNumber(scene, ownFind.ident, query(scene.fresh()), as), 403);
    },
  ),
];
