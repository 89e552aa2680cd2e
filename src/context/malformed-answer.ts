import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { getErrorMessage } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { createRedactor } from '../http/redaction.ts';
import { MAX_KEPT_BYTES, MalformedAnswerError } from '../oai/malformed-error.ts';
import { writePrivateFile } from '../store/files.ts';
import type { Context } from './context.ts';
import { getPassword } from './open-service.ts';

const MAX_KEPT_FILES = 20;
const MAX_MEBIBYTES = MAX_KEPT_BYTES / 1024 / 1024;
const NAME = /^malformed-answer-(\d+)\.xml$/;

/**
 * Saves the beginning of a malformed answer for the operator; only the newest are kept.
 * @throws the given error
 */
export function saveMalformedAnswer(context: Context, thrown: unknown): never {
  const { places, clock, terminal, getProfile } = context;
  if (thrown instanceof MalformedAnswerError) {
    const path = join(places.home, `malformed-answer-${Math.floor(clock.now())}.xml`);
    const beginning = thrown.body.subarray(0, MAX_KEPT_BYTES);
    try {
      const password =
        getProfile().oaiAuth === 'none' ? undefined : getPassword(context, getProfile());
      const { body } = createRedactor(password === undefined ? [] : [password])({
        status: 200,
        headers: {},
        body: beginning,
      });
      if (body.length > 0) {
        writePrivateFile(path, body);
        removeOldest(places.home);
        terminal.warn(
          beginning.length === thrown.lengthBytes
            ? t`The original answer is saved in ${path}.`
            : t`The first ${MAX_MEBIBYTES} MiB of the original answer are saved in ${path}.`,
        );
      }
    } catch (unkept) {
      const why = getErrorMessage(unkept);
      terminal.warn(t`The original answer could not be saved. ${why}`);
    }
  }
  throw thrown;
}

function removeOldest(folder: string): void {
  const times = readdirSync(folder).flatMap((name) => NAME.exec(name)?.[1] ?? []);
  const newestFirst = times.sort((a, b) => Number(b) - Number(a));
  for (const time of newestFirst.slice(MAX_KEPT_FILES))
    rmSync(join(folder, `malformed-answer-${time}.xml`), { force: true });
}
