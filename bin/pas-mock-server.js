#!/usr/bin/env node
import('../dist/mock-server/main.js').then(({ runMain }) => runMain(process.argv));
