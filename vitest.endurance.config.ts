import { defineConfig } from 'vitest/config';

const shared = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  pool: 'forks',
  isolate: false,
  globalSetup: 'test/support/test-disk.ts',
} as const;

export default defineConfig({
  test: {
    projects: [
      // Kills, cut lines, full disks and nonsense met by whole processes: many starts of pas, so it has a run of its own.
      {
        test: {
          ...shared,
          name: 'endurance',
          include: ['test/endurance/**/*.test.ts'],
          // They wait for slow services and for what they killed.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      // The pace again, for twice as long, and with nothing beside it.
      {
        test: {
          ...shared,
          name: 'long pace',
          include: ['test/pace/*-share-one-pace.test.ts'],
          env: { PACE_FINDS_EACH: '50' },
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
