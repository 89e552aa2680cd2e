// npm run fuzz -- --target NAME[,NAME] --minutes N --seed S [--keep]
// So many minutes of the processor's time for each target; without a target for all of them.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    /** Writes what reached new code into test/fuzz/corpus. */
    keep: { type: 'boolean', default: false },
  },
});
const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'fuzz'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    ...(values.target === undefined ? {} : { FUZZ_TARGET: values.target }),
    FUZZ_SECONDS: String(Number(values.minutes) * 60),
    FUZZ_SEED: values.seed,
    FUZZ_KEEP: values.keep ? 'yes' : 'no',
  },
});
process.exitCode = status ?? 1;
