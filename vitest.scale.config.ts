import { defineConfig } from 'vitest/config';

// Twenty processes at once, and the pace for twice as long: to be run by hand on a machine that is otherwise idle.
export default defineConfig({
  test: {
    include: ['test/scale/**/*.test.ts', 'test/pace/*-share-one-pace.test.ts'],
    env: { PACE_FINDS_EACH: '50' },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    fileParallelism: false,
    globalSetup: 'test/support/test-disk.ts',
  },
});
