import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { JSONPathQuery } from 'json-p3';
import { packagePath } from '../package-files.ts';
import { ShapeError } from '../shape.ts';
import { messageOf } from '../thrown.ts';
import { ControlRefusal } from './refusal.ts';

/** Condition on a body: the first match of a path, compared as text; without `equals` and `matches` it must be there. */
export type BodyCheck = {
  readonly xpath?: string;
  readonly json?: string;
  readonly equals?: string;
  readonly matches?: string;
};

/** Which of the texts does an expression match, or which of the bodies pass a check? */
export type Question =
  | { readonly texts: readonly string[]; readonly matches: string }
  | { readonly texts: readonly string[]; readonly check: BodyCheck };

/** `met`: places in the list of texts. */
export type Reply = { readonly met: readonly number[] } | { readonly place: string; readonly refused: string };

/** For all questions of one assertion; a look at a full journal takes a small part of it. */
const MAX_MS = 5000;
const MAX_MEMORY_MB = 256;

/** Looks for expressions from outside, in a thread that ends with its time: they may take longer than anything lives. */
export class Matcher {
  #worker: Worker | undefined;
  readonly #deadline = AbortSignal.timeout(MAX_MS);

  /**
   * @returns places in the list of texts that are met
   * @throws ShapeError where the question cannot be read; ControlRefusal where its answer takes too long
   */
  async ask(question: Question): Promise<readonly number[]> {
    this.#worker ??= startWorker();
    this.#worker.postMessage(question);
    let reply: Reply;
    try {
      [reply] = (await once(this.#worker, 'message', { signal: this.#deadline })) as [Reply];
    } catch (thrown) {
      const why = this.#deadline.aborted ? `takes longer than ${MAX_MS / 1000} s` : `fails (${messageOf(thrown)})`;
      throw new ControlRefusal(422, `looking for what is expected ${why}: use simpler expressions`);
    }
    if ('refused' in reply) throw new ShapeError(reply.place, reply.refused);
    return reply.met;
  }

  async end(): Promise<void> {
    await this.#worker?.terminate();
  }
}

/** Of the build, also where the sources run: Node 20 loads no TypeScript. */
function startWorker(): Worker {
  const worker = new Worker(packagePath('dist', 'mock-server', 'control', 'look.js'), {
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  worker.unref();
  return worker;
}

/** @throws ShapeError */
export async function readJsonPath(path: string): Promise<JSONPathQuery> {
  const { jsonpath } = await import('json-p3');
  try {
    return jsonpath.compile(path);
  } catch (thrown) {
    throw new ShapeError('json', `is no JSONPath (${messageOf(thrown)})`);
  }
}
