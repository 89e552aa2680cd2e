import { defineConfig } from 'vitest/config';

// Twenty processes at once: to be run by hand on a machine that is otherwise idle.
export default defineConfig({ test: { include: ['test/scale/**/*.test.ts'], pool: 'forks', fileParallelism: false } });
