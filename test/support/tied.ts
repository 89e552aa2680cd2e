import type { ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
// So that a worker of Vitest is ended.
process.once('SIGTERM', () => process.exit());

/**
 * A process that ends with this one at the latest: a test that fails in the middle leaves nothing
 * running.
 */
export function tied<C extends ChildProcess>(child: C): C {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}
