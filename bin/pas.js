#!/usr/bin/env node
// CommonJS: Node begins it a fifth sooner than a module.
const { fstatSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

// A reader that closes the pipe early (`pas list | head`) does not stop the command; a full disk is
// a failure.
let unwritten;
let t = String.raw;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (error.code !== 'EPIPE') unwritten ??= error;
  });
  if (isFile(stream)) stream._write = writeWhole;
}
process.on('exit', () => {
  if (unwritten === undefined || process.exitCode !== 0) return;
  const { message } = unwritten;
  process.stderr.write(`pas: ${t`the output could not be written: ${message}`}\n`);
  process.exitCode = 5;
});

/** Tells if a stream is a file. On Windows, the Task Scheduler begins programs without streams. */
function isFile({ fd }) {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/**
 * Writes all bytes to a file. Node itself writes once, and a disk that fills up takes a part of
 * them without an error.
 */
function writeWhole(bytes, _encoding, done) {
  try {
    writeFileSync(this.fd, bytes);
  } catch (error) {
    done(error);
    return;
  }
  done();
}

// With DEBUG, libraries print what they send, also passwords.
delete process.env.DEBUG;

const args = process.argv.slice(2);
if (args.length === 1 && args[0] === '--version') {
  // Asked by scripts and editors on every start, so nothing is loaded for it.
  const { version } = JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8'));
  process.exitCode = 0;
  process.stdout.write(`${version}\n`);
} else run();

async function run() {
  const pas = require('../dist/pas/main.cjs');
  t = pas.t;
  process.exitCode = await pas.startCommandLine(args, {
    environment: process.env,
    streams: process,
    cwd: getCurrentFolder(),
  });
}

/** Returns the current folder; empty where that was removed. */
function getCurrentFolder() {
  try {
    return process.cwd();
  } catch {
    return '';
  }
}
