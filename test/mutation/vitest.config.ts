import { defineConfig } from 'vitest/config';

/**
 * Tests that mutants are run against: those of single modules, in one process and without a build.
 */
export default defineConfig({
  test: {
    include: (
      process.env['MUTATION_TESTS'] ?? 'test/unit/{find,flows,oai,outbox}/**/*.test.ts'
    ).split(','),
    testTimeout: 60_000,
    isolate: false,
    globalSetup: 'test/support/test-disk.ts',
    setupFiles: 'test/support/property-runs.ts',
    env: { PROPERTY_RUNS: process.env['PROPERTY_RUNS'] ?? '1000' },
  },
});
