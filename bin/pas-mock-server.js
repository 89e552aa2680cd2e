#!/usr/bin/env node
import('../dist/mock-server/main.js').then(({ main }) => main(process.argv));
