// npm run harvests -- --scenarios N --seed S [--from R] [--jobs J]
import { playInParts } from '../support/play-in-parts.mjs';

await playInParts('harvests', 'scenarios', 5000, 2);
