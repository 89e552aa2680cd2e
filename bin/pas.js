#!/usr/bin/env node
import { main } from '../dist/src/main.js';

process.exitCode = await main(process.argv.slice(2), {
  environment: process.env,
  streams: { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr },
  cwd: process.cwd(),
});
