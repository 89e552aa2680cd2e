import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getPackageVersion, packageRoot } from '../../base/package-root.ts';
import { loadSqlite, openSqlite, readSqliteVersion } from '../../store/database.ts';

/** Output of `pas --version --json`. */
type ProgramFacts = {
  readonly version: string;
  readonly runtime: {
    readonly name: 'node';
    readonly version: string;
    readonly platform: string;
    readonly architecture: string;
  };
  readonly sqlite: string;
  /** Version of the package that contains libxml2. */
  readonly libxml2_wasm: string;
  /**
   * `archive`: unpacked from a release, with a runtime of its own. `source`: a clone of the
   * repository.
   */
  readonly installed_from: { readonly kind: 'archive' | 'npm' | 'source'; readonly folder: string };
};

/** Folder beside the program in the archive of `npm run release`. */
const RUNTIME_FOLDER = 'runtime';

export function readProgramFacts(): ProgramFacts {
  const memory = openSqlite(':memory:');
  const sqlite = readSqliteVersion(memory);
  memory.close();
  const { version, platform, arch } = process;
  return {
    version: getPackageVersion(),
    runtime: { name: 'node', version: version.slice(1), platform, architecture: arch },
    sqlite,
    libxml2_wasm: readPackageVersion('libxml2-wasm'),
    installed_from: { kind: detectInstallationKind(), folder: packageRoot },
  };
}

/**
 * Detects an archive by the bundled runtime beside the package, a clone by its tsconfig.json;
 * otherwise npm.
 */
export function detectInstallationKind(): ProgramFacts['installed_from']['kind'] {
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
