import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { getErrorMessage } from '../base/error-message.ts';
import type { Message } from '../base/exchange.ts';
import { ControlRefusal } from '../base/http-message.ts';
import { getPackagePath } from '../base/package-files.ts';
import { ShapeError } from '../base/shape.ts';
import type { BodyCheck, Wanted } from './body-check.ts';

/** `texts`: how each text differs; `body`: how a body differs; `readable`: asserts that a path can be read. */
export type Question =
  | { readonly kind: 'texts'; readonly name: string; readonly texts: readonly (string | undefined)[]; readonly wanted: Wanted }
  | { readonly kind: 'body'; readonly message: Message; readonly of: string; readonly check: BodyCheck }
  | { readonly kind: 'readable'; readonly check: BodyCheck };

/** `differences`: undefined where a text or body is as expected. */
export type Reply =
  | { readonly kind: 'differences'; readonly differences: readonly (string | undefined)[] }
  | { readonly kind: 'misshapen'; readonly message: string }
  | { readonly kind: 'undecided'; readonly message: string };

/** For all questions of one assertion; a search through a full journal takes a small part of it. */
const MAX_MS = 5000;
const MAX_MEMORY_MB = 256;

/** Evaluates expressions from outside in a thread that is ended at a deadline: their time is not bounded. */
export class Matcher {
  #worker: Worker | undefined;
  readonly #deadline = AbortSignal.timeout(MAX_MS);

  /**
   * @returns how each text or the body differs
   * @throws ShapeError where the question cannot be read; ControlRefusal where its answer takes too long, or nothing decides it
   */
  async listDifferences(question: Question): Promise<readonly (string | undefined)[]> {
    this.#worker ??= startWorker();
    this.#worker.postMessage(question);
    let reply: Reply;
    try {
      [reply] = (await once(this.#worker, 'message', { signal: this.#deadline })) as [Reply];
    } catch (thrown) {
      const why = this.#deadline.aborted ? `takes longer than ${MAX_MS / 1000} s` : `fails (${getErrorMessage(thrown)})`;
      throw new ControlRefusal(422, `looking for what is expected ${why}: use simpler expressions`);
    }
    switch (reply.kind) {
      case 'differences':
        return reply.differences;
      case 'misshapen':
        throw ShapeError.withMessage(reply.message);
      case 'undecided':
        throw new ControlRefusal(422, reply.message);
    }
  }

  async end(): Promise<void> {
    await this.#worker?.terminate();
  }
}

/** Starts the build's file also where the sources run: Node 20 loads no TypeScript. */
function startWorker(): Worker {
  const worker = new Worker(getPackagePath('dist', 'mock-server', 'control', 'look.js'), {
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  worker.unref();
  return worker;
}
