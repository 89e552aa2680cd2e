import { join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { MalformedAnswerError } from '../oai/malformed.ts';
import { writePrivateFile } from '../store/files.ts';
import type { Context } from './context.ts';

/**
 * Keeps the bytes of an answer that could not be read, so that the operator of the service can be shown them.
 * @throws what it was given
 */
export function keepMalformedAnswer({ places, clock, terminal }: Context, thrown: unknown): never {
  if (thrown instanceof MalformedAnswerError && thrown.body.length > 0) {
    const path = join(places.home, `malformed-answer-${Math.floor(clock.now())}.xml`);
    try {
      writePrivateFile(path, thrown.body);
      terminal.warn(t`The answer as it came is kept in ${path}.`);
    } catch (unkept) {
      const why = messageOf(unkept);
      terminal.warn(t`The answer as it came is not kept. ${why}`);
    }
  }
  throw thrown;
}
