import { type Check, must, writes } from '../check.ts';
import type { ClauseId } from '../clauses.ts';
import { mustRefuse } from '../refusal.ts';
import type { Scene } from '../scene.ts';
import {
  foundIn,
  getResearcher,
  importFind,
  madeFind,
  multipart,
  mustBeValidAnswer,
  mustName,
  needArchaeologist,
  PHOTOGRAPH,
  type SendOptions,
  sendPhotograph,
  sha512,
} from '../writes.ts';
import { type Element, textAt } from '../xml.ts';

// Photographs: A-PHOTO. Only for finds of this run.

/** The head of an archive's first file, with the mark that it needs a password. */
const SHUT_ARCHIVE = Buffer.from(
  '504b0304140001000000000000000000000000000c0000000000000001000000780000000000000000000000000000000000',
  'hex',
);

function listFiles(find: Element): Element[] {
  return find.children.filter(({ name }) => name === 'soubor');
}

function refused(
  id: string,
  clause: ClauseId,
  expected: string,
  status: number,
  options: SendOptions & { readonly bytes?: Buffer },
): Check {
  return writes(`photograph-${id}`, clause, `${status}: ${expected}`, async (scene) =>
    mustRefuse(scene, await sendPhotograph(scene, (await madeFind(scene)).ident, options), status),
  );
}

function attached(scene: Scene): Promise<Element> {
  return madeFind(scene).then(
    async ({ ident }) => (await foundIn(await sendPhotograph(scene, ident), 201)).find,
  );
}

export const PHOTOGRAPH_CHECKS: readonly Check[] = [
  writes(
    'photograph-is-attached',
    'A-PHOTO-8',
    '201, application/xml of the find with the file, X-Record-ID and Location',
    async (scene) => {
      const { ident } = await madeFind(scene);
      const answer = await sendPhotograph(scene, ident);
      const { find } = await foundIn(answer, 201);
      must(listFiles(find).length > 0, 'no soubor in the answer');
      mustName(scene, answer, ident);
    },
  ),
  writes(
    'photograph-answer-is-valid',
    'A-ANSWER-1',
    'the answer is valid by the schema',
    async (scene) => {
      const answer = await sendPhotograph(scene, (await madeFind(scene)).ident);
      await mustBeValidAnswer(scene, answer);
    },
  ),
  writes(
    'photograph-twice',
    'A-PHOTO-16',
    'the same photograph sent again is a further file, under another name',
    async (scene) => {
      const before = listFiles(await attached(scene)).length;
      const files = listFiles(await attached(scene));
      must(files.length > before, `${before} files, then ${files.length}`);
      const names = files.map((file) => textAt(file, 'nazev'));
      must(new Set(names).size === names.length, `names ${names}`);
    },
  ),
  writes(
    'photograph-keeps-the-state',
    'A-PHOTO-3',
    'a find in state 1 stays in it, without an event of archiving',
    async (scene) => {
      const find = await attached(scene);
      const events = find.children
        .filter(({ name }) => name === 'historie')
        .map((entry) => textAt(entry, 'typ_zmeny'));
      must(
        textAt(find, 'stav') === '1' && !events.includes('SN34'),
        `stav ${textAt(find, 'stav')}, ${events}`,
      );
    },
  ),
  writes(
    'photograph-by-a-researcher',
    'A-PHOTO-3',
    '201: a Researcher may, for an own registered find',
    async (scene) => {
      const as = getResearcher(scene);
      const ownFind = await scene.given('a find of the Researcher', async () =>
        foundIn(await importFind(scene, { as }), 201),
      );
      await foundIn(await sendPhotograph(scene, ownFind.ident, { as }), 201);
    },
  ),
  writes(
    'photograph-by-a-researcher-to-another',
    'A-PHOTO-3',
    '403: not for a find of another',
    async (scene) => {
      await needArchaeologist(scene);
      const { ident } = await madeFind(scene);
      mustRefuse(scene, await sendPhotograph(scene, ident, { as: getResearcher(scene) }), 403);
    },
  ),
  refused('missing', 'A-PHOTO-9', 'there is no file', 400, { parts: [] }),
  refused('two', 'A-WIRE-1', 'more than one file', 400, {
    parts: ['a.png', 'b.png'].map((fileName) => ({ name: 'file', fileName, bytes: PHOTOGRAPH })),
  }),
  refused('digest-missing', 'A-PHOTO-9', 'no Content-Digest', 400, { digest: null }),
  refused('digest-malformed', 'A-PHOTO-9', 'a malformed Content-Digest', 400, {
    digest: 'sha-512=abc',
  }),
  refused('digest-of-other-bytes', 'A-PHOTO-12', 'the digest does not match', 422, {
    digest: sha512('other bytes'),
  }),
  refused('digest-of-the-whole-body', 'A-DIGEST-2', 'the digest is of the file alone', 422, {
    digest: sha512(multipart([{ name: 'file', fileName: 'photograph.png', bytes: PHOTOGRAPH }])),
  }),
  refused('that-is-text', 'A-PHOTO-2', 'an unsupported type', 422, {
    bytes: Buffer.from('This is no picture, whatever it is called.\n'),
  }),
  refused('in-a-shut-archive', 'A-PHOTO-12', 'an encrypted file', 422, { bytes: SHUT_ARCHIVE }),
];
