// npm run stories -- --stories N --seed S [--from R] [--jobs J]
import { availableParallelism } from 'node:os';
import { playInParts } from '../support/play-in-parts.mjs';

await playInParts('stories', 'stories', 100, availableParallelism());
