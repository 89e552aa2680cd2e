import { defineConfig } from 'vitest/config';

// Whole processes behind an uneven link: to be run by hand on a machine that is otherwise idle.
export default defineConfig({ test: { include: ['test/jitter/**/*.test.ts'], pool: 'forks', fileParallelism: false } });
