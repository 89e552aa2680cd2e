import { defineConfig } from 'vitest/config';

const shared = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  pool: 'forks',
  globalSetup: 'test/support/test-disk.ts',
} as const;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'all',
          // Most of a test is waiting for a process that it started. Modules are loaded once for each worker, not for each file.
          maxWorkers: 3,
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: ['test/pace/**', 'test/endurance/**', 'test/chaos/**', 'test/jitter/**', 'test/scale/**'],
          sequence: { groupOrder: 0 },
        },
      },
      // These measure gaps and memory of whole processes, so nothing else may run beside them.
      {
        test: {
          ...shared,
          name: 'alone',
          include: ['test/pace/**/*.test.ts'],
          fileParallelism: false,
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
