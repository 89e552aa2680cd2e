// npm run chaos -- --rounds N --seed S [--from R] [--jobs J]
import { availableParallelism } from 'node:os';
import { playInParts } from '../support/play-in-parts.mjs';

// A round mostly waits.
await playInParts('chaos', 'rounds', 2, availableParallelism());
