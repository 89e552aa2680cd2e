// Writes what every command takes into a file for each language: see src/cli/command.ts.
// Some texts are made while modules load, so each language has a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LANGUAGES, setLanguage } from '../dist/src/base/message.js';

const language = LANGUAGES.find((each) => each === process.argv[2]);
if (language === undefined) {
  const ends = LANGUAGES.map((each) =>
    once(
      spawn(process.execPath, [fileURLToPath(import.meta.url), each], { stdio: 'inherit' }),
      'exit',
    ),
  );
  for (const [code] of await Promise.all(ends)) process.exitCode ||= code;
} else {
  setLanguage(language);
  const { getOutlinePath, buildOutline } = await import('../dist/src/cli/command.js');
  const { buildWholeProgram } = await import('../dist/src/cli/program.js');
  writeFileSync(
    getOutlinePath(language),
    JSON.stringify(buildOutline(await buildWholeProgram(process))),
  );
}
