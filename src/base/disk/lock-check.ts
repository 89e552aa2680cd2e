import { readFileSync, writeFileSync } from 'node:fs';
import { acquireLockFile } from './lock-file.ts';

/**
 * Process that tries to take the lock of the file named on stdin, and writes to stdout if it was
 * refused.
 */
writeFileSync(1, acquireLockFile(readFileSync(0, 'utf8')) === undefined ? 'refused' : 'acquired');
