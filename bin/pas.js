#!/usr/bin/env node
// CommonJS: Node begins it a fifth sooner than a module.
const { fstatSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

// A reader that has seen enough (`pas list | head`) is no reason to stop what is under way; a full
// disk is a failure.
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

/** On Windows a program may be begun without anything to write to, as by the Task Scheduler. */
function isFile({ fd }) {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/**
 * Node writes to a file once, of which a disk that fills up takes a part without an error. This
 * goes on until all is there.
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

// Libraries print what they send, passwords too, where this asks them to.
delete process.env.DEBUG;

const args = process.argv.slice(2);
if (args.length === 1 && args[0] === '--version') {
  // Asked by scripts and editors on every start, so nothing is loaded for it.
  const { version } = JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8'));
  process.exitCode = 0;
  process.stdout.write(`${version}\n`);
} else run();

async function run() {
  const pas = require('../dist/pas/start.cjs');
  t = pas.t;
  process.exitCode = await pas.start(args, {
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
