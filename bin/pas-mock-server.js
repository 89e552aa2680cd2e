#!/usr/bin/env node
import { main } from '../dist/mock-server/main.js';

await main(process.argv);
