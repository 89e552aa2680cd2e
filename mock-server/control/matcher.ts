import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { getErrorMessage } from '../base/error-message.ts';
import type { Message } from '../base/exchange.ts';
import { ControlRefusal } from '../base/http-message.ts';
import { getPackagePath } from '../base/package-files.ts';
import { ShapeError } from '../base/shape.ts';
import type { BodyCheck, TextCondition } from './body-check.ts';

/** `readable` asserts that a path can be read. */
export type Question =
  | {
      readonly kind: 'texts';
      readonly texts: readonly (string | undefined)[];
      readonly wanted: TextCondition;
    }
  | {
      readonly kind: 'body';
      readonly message: Message;
      readonly of: string;
      readonly check: BodyCheck;
    }
  | { readonly kind: 'readable'; readonly check: BodyCheck };

/** `matches`: a value for each text, or for the body; the first reply of a thread has none. */
export type Reply =
  | { readonly kind: 'matches'; readonly matches: readonly boolean[] }
  | { readonly kind: 'misshapen'; readonly message: string }
  | { readonly kind: 'undecided'; readonly message: string };

/**
 * Time limit for all questions of one assertion; searching a full journal takes a fraction of it.
 */
const MAX_MS = 5000;
const MAX_MEMORY_MB = 256;

/** Thread of an earlier assertion: a start takes longer than most questions, and does not count. */
let idleWorker: Worker | undefined;

/**
 * Evaluates foreign expressions, whose time is unbounded, in a thread that is terminated at a
 * deadline.
 */
export class Matcher {
  #worker: Worker | undefined;
  #hasFailed = false;
  #deadline: AbortSignal | undefined;

  /**
   * @throws ShapeError for an invalid question; ControlRefusal where the answer takes too long, or
   * the kept data do not suffice
   */
  async listMatches(question: Question): Promise<readonly boolean[]> {
    this.#worker ??= await takeWorker();
    this.#deadline ??= AbortSignal.timeout(MAX_MS);
    this.#worker.postMessage(question);
    let reply: Reply;
    try {
      [reply] = (await once(this.#worker, 'message', { signal: this.#deadline })) as [Reply];
    } catch (thrown) {
      this.#hasFailed = true;
      const why = this.#deadline.aborted
        ? `takes longer than ${MAX_MS / 1000} s`
        : `fails (${getErrorMessage(thrown)})`;
      throw new ControlRefusal(422, `looking for what is expected ${why}: use simpler expressions`);
    }
    switch (reply.kind) {
      case 'matches':
        return reply.matches;
      case 'misshapen':
        throw ShapeError.withMessage(reply.message);
      case 'undecided':
        throw new ControlRefusal(422, reply.message);
    }
  }

  async end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker === undefined) return;
    if (this.#hasFailed || idleWorker !== undefined) await worker.terminate();
    else idleWorker = worker;
  }
}

function takeWorker(): Worker | Promise<Worker> {
  const worker = idleWorker ?? startWorker();
  idleWorker = undefined;
  return worker;
}

/** Starts the built file also when the sources run: Node 20 loads no TypeScript. */
async function startWorker(): Promise<Worker> {
  const worker = new Worker(getPackagePath('dist', 'mock-server', 'control', 'matcher-thread.js'), {
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  worker.unref();
  await once(worker, 'message');
  return worker;
}
