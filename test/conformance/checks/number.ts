import { type Check, must } from '../check.ts';
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

/** All of a find but its number and what tells of changes. */
function getRest(find: Element): string {
  return writeXml({
    ...find,
    children: find.children.filter(({ name }) => name !== 'evidencni_cislo' && name !== 'historie'),
  });
}

export const NUMBER_CHECKS: readonly Check[] = [
  {
    id: 'number-is-set',
    clause: 'A-NUMBER-7',
    kind: 'write',
    expected: '200, application/xml with the new number, X-Record-ID and Location',
    run: async (scene) => {
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
  },
  {
    id: 'number-is-trimmed',
    clause: 'A-NUMBER-2',
    kind: 'write',
    expected: 'blanks around it are cut off, inner ones stay',
    run: async (scene) => {
      const value = `A  ${scene.fresh()}  b`;
      const find = await give(scene, `  ${value} `);
      must(textAt(find, 'evidencni_cislo') === value, `"${textAt(find, 'evidencni_cislo')}"`);
    },
  },
  {
    id: 'number-of-255',
    clause: 'A-NUMBER-6',
    kind: 'write',
    expected: '255 characters after trimming are taken',
    run: async (scene) => {
      const value = scene.fresh().padEnd(255, 'ž');
      const find = await give(scene, ` ${value} `);
      must(
        textAt(find, 'evidencni_cislo') === value,
        `${textAt(find, 'evidencni_cislo')?.length} characters`,
      );
    },
  },
  {
    id: 'number-of-256',
    clause: 'A-NUMBER-6',
    kind: 'write',
    expected: '422: 256 characters are too many',
    run: async (scene) => {
      await needArchaeologist(scene);
      mustRefuse(
        scene,
        await setNumber(scene, (await madeFind(scene)).ident, query('x'.repeat(256))),
        422,
      );
    },
  },
  {
    id: 'number-absent',
    clause: 'A-NUMBER-8',
    kind: 'write',
    expected: '400: no parameter',
    run: async (scene) => {
      await needArchaeologist(scene);
      mustRefuse(scene, await setNumber(scene, (await madeFind(scene)).ident, ''), 400);
    },
  },
  ...(['', '%20%20'] as const).map(
    (text): Check => ({
      id: text === '' ? 'number-empty' : 'number-blank',
      clause: 'A-NUMBER-11',
      kind: 'write',
      expected: '422: nothing is left after trimming',
      run: async (scene) => {
        await needArchaeologist(scene);
        mustRefuse(
          scene,
          await setNumber(scene, (await madeFind(scene)).ident, `?evidencni_cislo=${text}`),
          422,
        );
      },
    }),
  ),
  {
    id: 'number-as-it-is',
    clause: 'A-NUMBER-15',
    kind: 'write',
    expected: '422: the second of two equal requests changes nothing',
    run: async (scene) => {
      const value = scene.fresh();
      await give(scene, value);
      mustRefuse(
        scene,
        await setNumber(scene, (await madeFind(scene)).ident, query(` ${value}`)),
        422,
      );
    },
  },
  {
    id: 'number-alone-changes',
    clause: 'A-NUMBER-3',
    kind: 'write',
    expected: 'nothing else in the record changes',
    run: async (scene) => {
      await needArchaeologist(scene);
      const before = await foundIn(await importFind(scene, { stav: 3 }), 201);
      const after = await foundIn(await setNumber(scene, before.ident, query(scene.fresh())), 200);
      must(getRest(before.find) === getRest(after.find), `${getRest(after.find)}`);
    },
  },
  ...([1, 2, 3] as const).map(
    (stav): Check => ({
      id: `number-keeps-state-${stav}`,
      clause: 'A-STATE-7',
      kind: 'write',
      expected: `a find in state ${stav} takes a number and stays in that state`,
      run: async (scene) => {
        await needArchaeologist(scene);
        const { ident } = await madeFind(scene, stav);
        const { find } = await foundIn(await setNumber(scene, ident, query(scene.fresh())), 200);
        must(textAt(find, 'stav') === String(stav), `stav ${textAt(find, 'stav')}`);
      },
    }),
  ),
  {
    id: 'number-by-a-researcher',
    clause: 'A-NUMBER-4',
    kind: 'write',
    expected: '403: a Researcher may not, not even for an own find',
    run: async (scene) => {
      const as = getResearcher(scene);
      const ownFind = await scene.given('a find of the Researcher', async () =>
        foundIn(await importFind(scene, { as }), 201),
      );
      mustRefuse(scene, await setNumber(scene, ownFind.ident, query(scene.fresh()), as), 403);
    },
  },
];
