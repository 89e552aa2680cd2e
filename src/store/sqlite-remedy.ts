import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Message, msg } from '../base/message.ts';

/**
 * Chooses what to do where SQLite cannot be loaded.
 * @param isReadyMade for a Node that needs nothing compiled
 */
export function chooseRemedy(isReadyMade: boolean): Message {
  if (isReadyMade)
    return msg`Reinstall pas with this Node, and with optional dependencies (without --omit=optional); or use the archive, which contains all that pas needs.`;
  return isBuildSkipped()
    ? msg`Install scripts were blocked (ignore-scripts), so npm has not made it. Run \`npm rebuild better-sqlite3-12 --ignore-scripts=false\` where pas is installed, or reinstall pas with Node 22.14 or newer, which needs no scripts, or use the archive.`
    : msg`npm could neither download it (no network, or a proxy) nor compile it (no C++ compiler, make or Python), so it left it out. Reinstall pas with Node 22.14 or newer, where nothing is compiled, or with a network or a compiler, or use the archive.`;
}

/**
 * Tells if SQLite for Node 20 is installed, but its install script has not run: npm removes an
 * optional package whose script failed.
 */
function isBuildSkipped(): boolean {
  try {
    const manifest = createRequire(import.meta.url).resolve('better-sqlite3-12/package.json');
    return !existsSync(join(dirname(manifest), 'build'));
  } catch {
    return false;
  }
}
