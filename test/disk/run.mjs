// npm run disk -- [--shares N] [--from R] [--jobs J]; DISK_COMMANDS=push,add names the scenarios
import { availableParallelism } from 'node:os';
import { playInParts } from '../support/play-in-parts.mjs';

// Of a hundred shares, each of which has every hundredth call and image.
await playInParts('disk', 'shares', 100, availableParallelism());
