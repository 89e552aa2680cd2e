#!/usr/bin/env node
import { main } from '../dist/test/conformance/main.js';

process.exitCode = await main(process.argv, process.env, (line) => process.stdout.write(`${line}\n`));
