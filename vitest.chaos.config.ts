import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/chaos/**/*.test.ts'],
    testTimeout: 4 * 3600 * 1000,
    pool: 'forks',
    globalSetup: 'test/support/test-disk.ts',
  },
});
