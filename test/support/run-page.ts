import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { makeHome, PROJECT } from './run-pas.ts';

/**
 * A block of commands with what the page says that they print; undefined where it shows nothing.
 */
export type PageBlock = {
  readonly commands: string;
  readonly shown: string | undefined;
  readonly printed: string;
};

/** Addresses of the mock and its training instance on the pages; tests replace them. */
const PORT_OF_PAGES = '8099';
const TRAINING_PORT_OF_PAGES = '8098';

/**
 * Runs the `sh` blocks of a page one after another in one shell, as a reader types them: in an
 * empty home, with `pas` on the path and the examples at hand.
 * @param heading only the part of the page under this heading
 * @throws Error when a command fails
 */
export async function runPage(page: string, heading?: string): Promise<PageBlock[]> {
  const port = String(await freePort());
  const trainingPort = String(await freePort());
  const text = getSection(readFileSync(join(PROJECT, page), 'utf8'), heading)
    .replaceAll(PORT_OF_PAGES, port)
    .replaceAll(TRAINING_PORT_OF_PAGES, trainingPort);
  const blocks = [
    ...text.matchAll(
      /^```sh\n([\s\S]*?)^```\n(?:\s*^```powershell\n[\s\S]*?^```\n)?(?:\s*^```text\n([\s\S]*?)^```$)?/gm,
    ),
  ].map(([, commands = '', shown]) => ({
    commands,
    shown,
  }));
  const home = makeHome();
  layOut(home.folder, port);
  const script = blocks.map(({ commands }) => `${commands}printf '\\036'\n`).join('');
  const printed = await inBash(
    home.folder,
    `set -e\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n${script}`,
    home.env,
  );
  return blocks.map((block, index) => ({
    ...block,
    printed: printed.split('\u001e')[index] ?? '',
  }));
}

function getSection(text: string, heading: string | undefined): string {
  if (heading === undefined) return text;
  const [, section] = text.split(`## ${heading}\n`);
  if (section === undefined) throw new Error(`there is no heading ${heading}`);
  return section.split(/^## /m)[0] ?? '';
}

/** Programs and examples as they lie before a reader who has installed the package. */
export function layOut(folder: string, port: string): void {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const program = (name: string, line: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${line} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  };
  for (const name of ['pas', 'pas-mock-server', 'pas-conformance'])
    program(name, `"${process.execPath}" "${join(PROJECT, 'bin', `${name}.js`)}"`);
  program('npx', '');
  const examples = join(folder, 'examples');
  cpSync(join(PROJECT, 'examples'), examples, { recursive: true });
  for (const name of readdirSync(examples).filter((each) => each.endsWith('.xml'))) {
    const path = join(examples, name);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(PORT_OF_PAGES, port));
  }
}

export function inBash(folder: string, script: string, env: NodeJS.ProcessEnv): Promise<string> {
  const options = { cwd: folder, env: { ...env, PATH: `${join(folder, 'bin')}:${env['PATH']}` } };
  return new Promise((done, fail) => {
    execFile('bash', ['-c', script], options, (error, stdout, stderr) => {
      if (error === null) done(stdout);
      else fail(new Error(`${error.message}\n${stdout}\n${stderr}`));
    });
  });
}
