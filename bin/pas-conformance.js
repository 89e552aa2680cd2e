#!/usr/bin/env node
import('../dist/test/conformance/main.js').then(async ({ main }) => {
  process.exitCode = await main(process.argv, process.env, (line) =>
    process.stdout.write(`${line}\n`),
  );
});
