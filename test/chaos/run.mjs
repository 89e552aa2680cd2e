// npm run chaos -- --rounds N --seed S [--from R]
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
  },
});
const { status } = spawnSync('npx', ['vitest', 'run', '--config', 'vitest.chaos.config.ts'], {
  stdio: 'inherit',
  env: { ...process.env, CHAOS_ROUNDS: values.rounds, CHAOS_SEED: values.seed, CHAOS_FROM: values.from },
});
process.exitCode = status ?? 1;
