#!/usr/bin/env node
import { languageFrom, speak } from '../dist/src/base/language.js';

// A reader that has seen enough (`pas list | head`) is no reason to stop what is under way; a full disk is a failure.
let unwritten;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (error.code !== 'EPIPE') unwritten ??= error;
  });
}
process.on('exit', () => {
  if (unwritten === undefined || process.exitCode !== 0) return;
  process.stderr.write(`pas: the output could not be written: ${unwritten.message}\n`);
  process.exitCode = 5;
});

// Some texts are made while modules load, so the language is chosen before any of them does.
await speak(languageFrom(process.argv.slice(2), process.env));
const { main } = await import('../dist/src/main.js');
process.exitCode = await main(process.argv.slice(2), {
  environment: process.env,
  streams: { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr },
  cwd: process.cwd(),
});
