import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../support/run-pas.ts';
import { tempFolder } from '../support/temp-folder.ts';

export type Ran = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/**
 * A folder of an outside project, with an example in it and this package among its modules as if it
 * were installed.
 */
export type Stranger = {
  readonly folder: string;
  /** Runs a program, or one of `node_modules/.bin`, to its end. */
  run(program: string, args: readonly string[], environment?: NodeJS.ProcessEnv): Promise<Ran>;
};

/** @param example folder under `examples`, copied */
export function asStranger(example: string): Stranger {
  const folder = tempFolder();
  cpSync(join(PROJECT, 'examples', example), folder, { recursive: true });
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(join(PROJECT, 'node_modules')))
    symlinkSync(join(PROJECT, 'node_modules', name), join(modules, name));
  // The version that this Node can load, by the name that everybody else knows it by.
  if (!existsSync(join(modules, 'better-sqlite3')))
    symlinkSync(
      join(PROJECT, 'node_modules', 'better-sqlite3-12'),
      join(modules, 'better-sqlite3'),
    );
  symlinkSync(PROJECT, join(modules, 'pas-finds'));
  return {
    folder,
    run: (program, args, environment = {}) =>
      new Promise((end) => {
        const path = `${join(modules, '.bin')}:${process.env['PATH']}`;
        const env = {
          HOME: folder,
          XDG_STATE_HOME: join(folder, 'state'),
          ...environment,
          PATH: path,
        };
        execFile(program, args, { cwd: folder, env }, (error, stdout, stderr) => {
          end({
            code: error === null ? 0 : typeof error.code === 'number' ? error.code : null,
            stdout,
            stderr,
          });
        });
      }),
  };
}
