import { asks, type Check, must, skipUnless, writes } from '../check.ts';
import { getError, nativeFormat, oai, oaiBase } from '../harvest.ts';
import type { Answer, Request } from '../line.ts';
import { mustBeTold, mustRefuse } from '../refusal.ts';
import type { Scene } from '../scene.ts';
import {
  bearer,
  foundIn,
  getAccount,
  madeFind,
  NO_FIND,
  needArchaeologist,
  setNumber,
} from '../writes.ts';
import { at, textAt } from '../xml.ts';

// The throttle, and what a write leaves in the harvest: A-RATE, B-DATE-2 and S-SERVICE-7.

const BURST = 5;
const BURSTS = 3;
/** A harvesting host learns of a write some time after it. */
const LOOKS = 8;
const LOOK_AGAIN_MS = 400;

/** Requests that change nothing, all at once, to see one refused. */
async function burst(scene: Scene, requests: readonly Request[]): Promise<Answer[]> {
  skipUnless(
    scene.options.intervalMs > 0,
    'the deployment has no minimum interval: --interval-ms 0',
  );
  for (let time = 1; ; time += 1) {
    const answers = await Promise.all(
      Array.from({ length: BURST }, (_, index) =>
        scene.line.unpaced(requests[index % requests.length] as Request),
      ),
    );
    const throttled = answers.filter(({ status }) => status === 429);
    if (throttled.length > 0 || time === BURSTS) return throttled;
  }
}

async function harmless(scene: Scene): Promise<Request[]> {
  const headers = await bearer(scene, getAccount(scene));
  const { baseUrl } = scene.options;
  const paths = [
    '/api/pas/import-xml',
    `/api/pas/nalez/${NO_FIND}/evidencni-cislo`,
    `/api/pas/nalez/${NO_FIND}/upload-foto`,
  ];
  return paths.map((path) => ({ url: baseUrl + path, headers }));
}

async function fetchRecord(scene: Scene, ident: string) {
  skipUnless(scene.options.isDouble, 'what a training instance keeps cannot be harvested');
  const identifier = encodeURIComponent(`${oaiBase(scene)}/id/${ident}`);
  const root = await oai(
    scene,
    `verb=GetRecord&metadataPrefix=${nativeFormat(scene)}&identifier=${identifier}`,
  );
  return { error: getError(root), record: at(root, 'GetRecord', 'record') };
}

export const LIMIT_CHECKS: readonly Check[] = [
  writes(
    'throttle',
    'A-RATE-1',
    'of requests sent at once some get 429 with a detail',
    async (scene) => {
      const [first] = await harmless(scene);
      const throttled = await burst(scene, first === undefined ? [] : [first]);
      must(throttled.length > 0, `none of ${BURST * BURSTS} requests was refused`);
      for (const answer of throttled) mustRefuse(scene, answer, 429);
    },
  ),
  writes(
    'throttle-is-shared',
    'A-RATE-1',
    'the three endpoints share one interval',
    async (scene) => {
      const [one, ...otherRequests] = await harmless(scene);
      // One request to each: alone none would be too many.
      skipUnless(
        one !== undefined && scene.options.intervalMs > 0,
        'the deployment has no minimum interval: --interval-ms 0',
      );
      for (let time = 1; ; time += 1) {
        const statuses = (
          await Promise.all([one, ...otherRequests].map((request) => scene.line.unpaced(request)))
        ).map(({ status }) => status);
        if (statuses.includes(429)) return;
        must(time < BURSTS, `answers ${statuses}`);
        await scene.line.once(one);
      }
    },
  ),
  writes(
    'throttle-retry-after',
    'A-RATE-5',
    'Retry-After, where it is there, is whole seconds or a date',
    async (scene) => {
      const throttled = await burst(scene, await harmless(scene));
      skipUnless(throttled.length > 0, 'nothing was throttled');
      const waits = throttled
        .map(({ headers }) => headers.get('retry-after'))
        .filter((value) => value !== null);
      skipUnless(waits.length > 0, 'no Retry-After');
      must(
        waits.every((value) => /^\d+$/.test(value) || !Number.isNaN(Date.parse(value))),
        `Retry-After: ${waits}`,
      );
    },
  ),
  writes(
    'paced-is-not-throttled',
    'A-RATE-3',
    'requests at the permitted rate are not refused',
    async (scene) => {
      const [request] = await harmless(scene);
      skipUnless(request !== undefined, 'nothing to ask');
      await scene.line.ask(request);
      for (let count = 0; count < BURST; count += 1) {
        // A link that is uneven brings two requests closer together than they left.
        await scene.line.rest(2 * scene.options.intervalMs);
        const { status, text } = await scene.line.once(request);
        must(status !== 429, `${count + 1} of ${BURST}: ${text}`);
      }
    },
  ),
  writes(
    'written-is-harvested',
    'S-SERVICE-5',
    'a find that was made can be harvested',
    async (scene) => {
      const { ident } = await madeFind(scene);
      let { error, record } = await fetchRecord(scene, ident);
      for (let looks = 1; record === undefined && looks < LOOKS; looks += 1) {
        await scene.line.rest(LOOK_AGAIN_MS);
        ({ error, record } = await fetchRecord(scene, ident));
      }
      must(record !== undefined, `error ${error}`);
      must(
        textAt(record, 'header', 'identifier') === `${oaiBase(scene)}/id/${ident}`,
        `${textAt(record, 'header', 'identifier')}`,
      );
    },
  ),
  writes(
    'change-moves-the-datestamp',
    'B-DATE-2',
    'a change moves the datestamp of its record',
    async (scene) => {
      await needArchaeologist(scene);
      const { ident } = await madeFind(scene);
      const moment = async (): Promise<number> =>
        Date.parse(textAt((await fetchRecord(scene, ident)).record, 'header', 'datestamp') ?? '');
      const before = await moment();
      // Datestamps may be whole seconds, and the index may be late.
      for (let looks = 1; ; looks += 1) {
        await foundIn(await setNumber(scene, ident, `?evidencni_cislo=${scene.fresh()}`), 200);
        const after = await moment();
        if (after > before) return;
        must(
          looks < LOOKS,
          `datestamp ${new Date(after).toISOString()} after each of ${looks} changes`,
        );
        await scene.line.rest(LOOK_AGAIN_MS);
      }
    },
  ),
  asks(
    'refusals-are-told',
    'A-ERROR-1',
    'each refusal of this run was JSON with a detail or a list of errors: line, column, message, error_type',
    async ({ refusals }) => {
      skipUnless(refusals.length > 0, 'nothing was refused');
      for (const answer of refusals) mustBeTold(answer);
    },
  ),
];
