import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');

/** The files of `src` with a function that runs for the command on the examples. */
function filesThatRun(command: string): Promise<readonly string[]> {
  return new Promise((done, fail) =>
    execFile(
      process.execPath,
      [join(ROOT, 'scripts', 'footprint.mjs'), '--list', command],
      (error, stdout, stderr) => {
        if (error === null && stderr === '') done(stdout.trim().split('\n'));
        else fail(error ?? new Error(stderr));
      },
    ),
  );
}

/** The sections of the page that follow a command. */
const page = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');
const paths = ['import', 'push'].map((command) => ({
  command,
  named:
    page
      .match(new RegExp(`^## .*\\x60pas ${command}\\x60\n([\\s\\S]*?)^## `, 'm'))?.[1]
      ?.match(/[\w-]+(?:\/[\w-]+)+\.ts/g) ?? [],
}));

test.concurrent.each(paths)(
  'every file that the architecture page names on the path of $command runs for it',
  async ({ command, named }) => {
    expect(named.length).toBeGreaterThan(8);
    const ran = await filesThatRun(command);
    expect(named.filter((file) => !ran.includes(file))).toEqual([]);
  },
);
