// npm run harvests -- --scenarios N --seed S [--from R] [--jobs J]
import { playInParts } from '../disk/play-in-parts.mjs';

await playInParts('harvests', 'scenarios', 5000, 2);
