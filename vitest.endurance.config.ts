import { defineConfig } from 'vitest/config';

// Kills, cut lines, full disks and nonsense met by whole processes: many starts of pas, so it has a run of its own.
export default defineConfig({
  test: {
    include: ['test/endurance/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    isolate: false,
    globalSetup: 'test/support/test-disk.ts',
    // They wait for slow services and for what they killed.
    maxWorkers: 3,
  },
});
