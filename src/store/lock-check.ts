import { readFileSync, writeFileSync } from 'node:fs';
import { acquireLockFile } from './lock-file.ts';

/** A process of its own that tries to take the lock of the file named on stdin, and says on stdout if it was refused. */
writeFileSync(1, acquireLockFile(readFileSync(0, 'utf8')) === undefined ? 'refused' : 'acquired');
