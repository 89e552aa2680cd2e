// Writes what every command takes, in each language, beside the built commands: see src/commands/outline.ts.
// Some texts are made while modules load, so each language has a process of its own.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LANGUAGES, setLanguage } from '../dist/src/base/language.js';

const language = LANGUAGES.find((each) => each === process.argv[2]);
if (language === undefined) {
  const outlines = LANGUAGES.map((each) => {
    const text = execFileSync(process.execPath, [fileURLToPath(import.meta.url), each], { encoding: 'utf8' });
    return [each, JSON.parse(text)];
  });
  const { OUTLINE_FILE } = await import('../dist/src/commands/outline.js');
  writeFileSync(OUTLINE_FILE, JSON.stringify(Object.fromEntries(outlines)));
} else {
  await setLanguage(language);
  const { outlineOf } = await import('../dist/src/commands/outline.js');
  const { buildWholeProgram } = await import('../dist/src/commands/program.js');
  process.stdout.write(JSON.stringify(outlineOf(await buildWholeProgram(process))));
}
