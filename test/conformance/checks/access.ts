import { asks, type Check, must, mustBeSame } from '../check.ts';
import type { ClauseId } from '../clauses.ts';
import { type Answer, isRedirect } from '../line.ts';
import { mustRefuse } from '../refusal.ts';
import type { Scene } from '../scene.ts';
import {
  bearer,
  getAccount,
  getJson,
  multipart,
  NO_FIND,
  sendPhotograph,
  setNumber,
  sha512,
  signIn,
  userInfo,
} from '../writes.ts';
import { at, listAll, readXml, textAt } from '../xml.ts';

// The doors of the write interface: A-AUTH, A-USER and A-GATE. Everything here is asked so that a
// service that is wrong has nothing to store either: no file, no document, no find of that name.

type Door = {
  readonly id: string;
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly refused: ClauseId;
};
const DOORS: readonly Door[] = [
  { id: 'import', method: 'POST', path: '/api/pas/import-xml', refused: 'A-IMPORT-12' },
  {
    id: 'number',
    method: 'PATCH',
    path: `/api/pas/nalez/${NO_FIND}/evidencni-cislo`,
    refused: 'A-NUMBER-9',
  },
  {
    id: 'photograph',
    method: 'POST',
    path: `/api/pas/nalez/${NO_FIND}/upload-foto`,
    refused: 'A-PHOTO-10',
  },
];

function knock(
  scene: Scene,
  { method, path }: Pick<Door, 'method' | 'path'>,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const form = { 'content-type': 'multipart/form-data; boundary=pas-conformance-7MA4YWxkTrZu0gW' };
  const body =
    method === 'POST' ? { body: multipart([]), headers: { ...form, ...headers } } : { headers };
  return scene.line.ask({ method, url: scene.options.baseUrl + path, repeatable: true, ...body });
}

export const ACCESS_CHECKS: readonly Check[] = [
  ...DOORS.flatMap((door): Check[] => [
    asks(`${door.id}-without-token`, 'A-AUTH-1', '401 or 403', async (scene) =>
      mustRefuse(scene, await knock(scene, door, {}), 401, 403),
    ),
    asks(`${door.id}-with-unknown-token`, door.refused, '401 or 403', async (scene) =>
      mustRefuse(
        scene,
        await knock(scene, door, { authorization: `Bearer ${'0'.repeat(40)}` }),
        401,
        403,
      ),
    ),
    asks(
      `${door.id}-is-not-read`,
      'S-SERVICE-5',
      'GET is no way to a record: 405, or 401 before it',
      async (scene) => {
        const answer = await scene.line.ask({
          url: scene.options.baseUrl + door.path,
          headers: await bearer(scene),
        });
        must(answer.status === 405 || answer.status === 404, `${answer.status}: ${answer.text}`);
      },
    ),
    asks(
      `${door.id}-with-slash`,
      'A-GATE-2',
      'the path with a slash at its end is none',
      async (scene) => {
        const answer = await knock(scene, { ...door, path: `${door.path}/` }, await bearer(scene));
        must(
          answer.status === 404 || isRedirect(answer.status),
          `${answer.status}: ${answer.text}`,
        );
      },
    ),
  ]),
  asks('token', 'A-AUTH-2', 'JSON credentials get a token', async (scene) => {
    const answer = await signIn(scene, getAccount(scene));
    must(
      answer.status === 200 && typeof getJson(answer)?.['token'] === 'string',
      `${answer.status} ${answer.type}`,
    );
  }),
  asks(
    'token-of-nobody',
    'A-AUTH-2',
    'an account that there is not gets no token',
    async (scene) => {
      const answer = await signIn(scene, {
        username: `nobody-${scene.mark}@example.org`,
        password: scene.mark,
      });
      must(
        answer.status >= 400 && getJson(answer)?.['token'] === undefined,
        `${answer.status} ${answer.type}`,
      );
    },
  ),
  asks(
    'token-path-keeps-its-slash',
    'A-GATE-2',
    'without its slash the path of tokens gives none',
    async (scene) => {
      const answer = await scene.line.ask({
        method: 'POST',
        url: `${scene.options.baseUrl}/api/token-auth`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(getAccount(scene)),
        repeatable: true,
      });
      must(answer.status !== 200, `${answer.status} ${answer.type}`);
    },
  ),
  asks('user-information', 'A-USER-1', '200, XML, one user', async (scene) => {
    const answer = await userInfo(scene);
    must(
      answer.status === 200 && answer.type === 'application/xml',
      `${answer.status} ${answer.type}`,
    );
    const root = await readXml(answer.text);
    must(root.name === scene.options.prefix, `root ${root.name}`);
    mustBeSame(
      root.children.map(({ name }) => name),
      ['uzivatel'],
      'entities',
    );
    must(/\S/.test(textAt(root, 'uzivatel', 'ident_cely') ?? ''), 'a user without ident_cely');
    must(
      listAll(root, 'organizace').length > 0 && at(root, 'uzivatel', 'skupina') !== undefined,
      'a user without organisation or group',
    );
  }),
  asks('user-information-without-token', 'A-USER-1', '401 or 403', async (scene) => {
    const { status, text } = await scene.line.ask({
      url: `${scene.options.baseUrl}/api/uzivatel-info/`,
    });
    must(status === 401 || status === 403, `${status}: ${text}`);
  }),
  asks(
    'token-sent-otherwise',
    'A-AUTH-1',
    'a token under another scheme than Bearer is none: 401 or 403',
    async (scene) => {
      const { authorization = '' } = await bearer(scene);
      const headers = { authorization: authorization.replace('Bearer', 'Token') };
      const answer = await knock(scene, { method: 'POST', path: '/api/pas/import-xml' }, headers);
      mustRefuse(scene, answer, 401, 403);
    },
  ),
  asks('import-without-file', 'A-IMPORT-11', '400 with a detail: there is no file', async (scene) =>
    mustRefuse(
      scene,
      await knock(
        scene,
        { method: 'POST', path: '/api/pas/import-xml' },
        { ...(await bearer(scene)), 'content-digest': sha512('') },
      ),
      400,
    ),
  ),
  asks('number-of-no-find', 'A-NUMBER-10', '404: there is no such find', async (scene) =>
    mustRefuse(scene, await setNumber(scene, NO_FIND, '?evidencni_cislo=A%201'), 404),
  ),
  asks('photograph-of-no-find', 'A-PHOTO-11', '404: there is no such find', async (scene) => {
    mustRefuse(scene, await sendPhotograph(scene, NO_FIND), 404);
  }),
];
