// npm run simulate -- --seeds N --from S [--jobs J]
import { availableParallelism } from 'node:os';
import { playInParts } from '../support/play-in-parts.mjs';

// A story waits for nothing.
await playInParts('simulation', 'seeds', 200, availableParallelism());
