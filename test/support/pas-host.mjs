import { PassThrough, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

// Runs of `pas`, one after another, in one process. Started by hosted-runs.ts, which says when that
// is as good as a process each.

const language = await import('../../dist/src/base/message.js');
language.setLanguage(language.chooseLanguage([], process.env));
const { runCommandLine } = await import('../../dist/src/cli/main.js');

process.on('message', async ({ args, env, cwd }) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  const stdout = collected();
  const stderr = collected();
  const stdin = new PassThrough();
  stdin.end();
  const streams = { stdin, stdout: stdout.stream, stderr: stderr.stream };
  const code = await runCommandLine(args, { environment: process.env, streams, cwd });
  // Promises that a run started and did not await run now, as they do before a process ends.
  await nextTurn();
  process.send({ code, stdout: stdout.text(), stderr: stderr.text() });
});
process.on('disconnect', () => process.exit());
process.send('ready');

function collected() {
  const chunks = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}
