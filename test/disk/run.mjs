// npm run disk -- [--shares N] [--from R] [--jobs J]; DISK_COMMANDS=push,add names the scenarios
import { availableParallelism } from 'node:os';
import { playInParts } from './play-in-parts.mjs';

// A hundred shares, each with every hundredth call and image.
await playInParts('disk', 'shares', 100, availableParallelism());
