// npm run model -- --traces N [--from R] [--jobs J]
import { availableParallelism } from 'node:os';
import { playInParts } from '../support/play-in-parts.mjs';

await playInParts('model', 'traces', 1000, availableParallelism());
