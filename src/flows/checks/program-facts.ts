import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getPackageVersion, packageRoot } from '../../base/package-root.ts';
import { loadSqlite, openSqlite, readSqliteVersion } from '../../store/database.ts';

/** Folder beside the program in the archive of `npm run release`. */
const RUNTIME_FOLDER = 'runtime';

/** Reads the output of `pas --version --json`. */
export function readProgramFacts() {
  const memory = openSqlite(':memory:');
  const sqlite = readSqliteVersion(memory);
  memory.close();
  const { version, platform, arch } = process;
  return {
    version: getPackageVersion(),
    runtime: { name: 'node', version: version.slice(1), platform, architecture: arch },
    sqlite,
    /** Version of the package that contains libxml2. */
    libxml2_wasm: readPackageVersion('libxml2-wasm'),
    installed_from: { kind: detectInstallationKind(), folder: packageRoot },
  };
}

/**
 * Detects an archive, unpacked from a release, by the bundled runtime beside the package, and a
 * clone of the repository by its tsconfig.json; otherwise npm.
 */
function detectInstallationKind(): 'archive' | 'npm' | 'source' {
  if (existsSync(join(packageRoot, '..', RUNTIME_FOLDER))) return 'archive';
  return existsSync(join(packageRoot, 'tsconfig.json')) ? 'source' : 'npm';
}

function readPackageVersion(name: string): string {
  const [folder = ''] =
    createRequire(import.meta.url)
      .resolve.paths(name)
      ?.map((folder) => join(folder, name))
      .filter(existsSync) ?? [];
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

/**
 * @throws DatabaseError where the native module of SQLite is missing, for a command that does not
 * open it by itself
 */
export function assertSqliteLoads(): void {
  loadSqlite();
}
