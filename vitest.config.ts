import { posix } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

/**
 * Ends only what hangs, also where the machine is busy with other things: no test is about how long
 * it takes itself.
 */
const LIMIT_MS = 300_000;

const ROOT = import.meta.dirname.replaceAll('\\', '/');

/**
 * Tests load the modules of the build in place of their sources: it is what users run, and costs
 * less than to have Vite prepare each source.
 */
const built = {
  name: 'built',
  enforce: 'pre',
  resolveId(source: string, importer?: string) {
    if (importer === undefined || !source.startsWith('.') || !source.endsWith('.ts')) return;
    const path = posix.relative(ROOT, posix.join(posix.dirname(importer), source));
    if (/^(?:src|mock-server)\//.test(path)) return `${ROOT}/dist/${path.replace(/\.ts$/, '.js')}`;
  },
} as const;

const shared = {
  testTimeout: LIMIT_MS,
  hookTimeout: LIMIT_MS,
  pool: 'forks' as const,
  // Modules are loaded once for each worker, not for each file.
  isolate: false,
  globalSetup: ['test/support/build.ts', 'test/support/test-disk.ts'],
  server: { deps: { external: [/\/dist\/(?:src|mock-server)\//] } },
  setupFiles: 'test/support/property-runs.ts',
};

/** For what mostly waits for processes that it started. */
const SIDE_BY_SIDE = { maxWorkers: 4 };
/** Each worker loads all modules, and starts processes that do. */
const FEW = { maxWorkers: 3 };
/** For what measures gaps and memory of whole processes. */
const ALONE = { fileParallelism: false };

/** Makes a suite, with what all of them share. */
const makeSuite = (test: TestProjectInlineConfiguration['test']) => ({
  plugins: [built],
  test: { ...shared, ...test },
});

/** One suite each: `npm test` runs the first, `npm run NAME` one of the others. */
export default defineConfig({
  test: {
    projects: [
      makeSuite({
        ...FEW,
        name: 'tests',
        include: ['test/**/*.test.ts'],
        exclude: [
          'test/programs/**',
          'test/pace/**',
          'test/endurance/**',
          'test/disk/**',
          'test/image/**',
          'test/nightly/**',
        ],
      }),
      // With a browser, a terminal, shells, a Redis and GDAL.
      makeSuite({ ...SIDE_BY_SIDE, name: 'programs', include: ['test/programs/**/*.test.ts'] }),
      // With QGIS and other people's harvesters; .ci/nightly installs them.
      makeSuite({ ...SIDE_BY_SIDE, name: 'nightly', include: ['test/nightly/**/*.test.ts'] }),
      // The mock server's image in Podman; .ci/image makes both ready.
      makeSuite({ ...ALONE, name: 'image', include: ['test/image/**/*.test.ts'] }),
      makeSuite({ ...ALONE, name: 'pace', include: ['test/pace/**/*.test.ts'] }),
      // Kills, cut lines, full disks and nonsense met by whole processes, and what takes too long
      // for each change.
      makeSuite({ ...SIDE_BY_SIDE, name: 'endurance', include: ['test/endurance/**/*.test.ts'] }),
      // Random scenarios of harvests; `npm test` plays a few of them.
      makeSuite({
        name: 'harvests',
        include: ['test/harvests/**/*.test.ts'],
        testTimeout: 4 * 3600 * 1000,
      }),
      // Each call on a file fails once, and each state that a power cut can leave.
      makeSuite({
        name: 'disk',
        include: ['test/disk/**/*.test.ts'],
        testTimeout: 4 * 3600 * 1000,
      }),
    ],
  },
});
