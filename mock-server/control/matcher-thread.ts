import { parentPort } from 'node:worker_threads';
import { getErrorMessage } from '../base/error-message.ts';
import { ControlRefusal } from '../base/http-message.ts';
import { ShapeError } from '../base/shape.ts';
import { assertReadable, matchesBody, matchesText } from './body-check.ts';
import type { Question, Reply } from './matcher.ts';

// A separate thread: the time of foreign expressions is unbounded, so the thread is terminated at a
// deadline.
parentPort?.on('message', async (question: Question) =>
  parentPort?.postMessage(await replyTo(question)),
);

// Loaded: the deadline of the first question begins.
parentPort?.postMessage({ kind: 'matches', matches: [] } satisfies Reply);

async function replyTo(question: Question): Promise<Reply> {
  try {
    return { kind: 'matches', matches: await listMatches(question) };
  } catch (thrown) {
    if (thrown instanceof ControlRefusal) return { kind: 'undecided', message: thrown.message };
    if (thrown instanceof ShapeError) return { kind: 'misshapen', message: thrown.message };
    return {
      kind: 'undecided',
      message: `what is expected cannot be looked for (${getErrorMessage(thrown)})`,
    };
  }
}

async function listMatches(question: Question): Promise<readonly boolean[]> {
  switch (question.kind) {
    case 'texts':
      return question.texts.map((text) => matchesText(text, question.wanted));
    case 'body':
      return [await matchesBody(withBuffer(question.message), question.of, question.check)];
    case 'readable':
      await assertReadable(question.check);
      return [];
  }
}

/** Converts the byte array of a message between threads to a buffer. */
function withBuffer<T extends { readonly body?: Uint8Array | undefined }>(message: T): T {
  return message.body === undefined ? message : { ...message, body: Buffer.from(message.body) };
}
