import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');

/** The files of `src` with a function that runs for the command on the examples. */
function filesThatRun(command: string): Promise<readonly string[]> {
  return new Promise((done, fail) =>
    execFile(process.execPath, [join(ROOT, 'scripts', 'footprint.mjs'), '--list', command], (error, stdout, stderr) => {
      if (error === null && stderr === '') done(stdout.trim().split('\n'));
      else fail(error ?? new Error(stderr));
    }),
  );
}

/** The picture of the architecture: what is left and what is right of the line between offline and online. */
const [, picture = ''] = /^```\n( offline:[\s\S]*?)^```/m.exec(readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8')) ?? [];
const halves = ['import', 'push'].map((command, half) => ({
  command,
  drawn: picture.split('\n').flatMap((line) => line.split('║')[half]?.match(/[\w-]+(?:\/[\w-]+)+\.ts/g) ?? []),
}));

test.concurrent.each(halves)(
  'every file that the architecture page shows on the path of $command runs for it',
  async ({ command, drawn }) => {
    expect(drawn.length).toBeGreaterThan(8);
    const ran = await filesThatRun(command);
    expect(drawn.filter((file) => !ran.includes(file))).toEqual([]);
  },
);
