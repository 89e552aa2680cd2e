// npm run harvests -- --stories N --seed S [--from R] [--jobs J]
import { playInParts } from '../support/play-in-parts.mjs';

await playInParts('harvests', 'stories', 5000, 2);
