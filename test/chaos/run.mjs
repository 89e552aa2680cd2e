// npm run chaos -- --rounds N --seed S [--from R] [--jobs J]
import { playInParts } from '../support/play-in-parts.mjs';

await playInParts('chaos', 'rounds', 40);
