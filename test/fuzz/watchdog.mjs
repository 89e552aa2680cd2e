// Sees from another thread what the reading thread cannot see of itself: that it does not end, and
// how much memory it takes meanwhile.
import { writeFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

/** @type {{ shared: SharedArrayBuffer, hangMs: number, findingFile: string }} */
const { shared, hangMs, findingFile } = workerData;
const [state, input] = [new Int32Array(shared, 0, 4), new Uint8Array(shared, 16)];
const LOOK_MS = 20;

/** Processor time of the process: on a busy machine it waits for others. */
const processorMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

let [seen, since] = [0, processorMs()];
for (;;) {
  const run = Atomics.load(state, 0);
  const kilobytes = Math.round(process.memoryUsage.rss() / 1024);
  if (kilobytes > Atomics.load(state, 2)) Atomics.store(state, 2, kilobytes);
  if (run !== seen || run % 2 === 0) [seen, since] = [run, processorMs()];
  else if (processorMs() - since > hangMs) {
    writeFileSync(findingFile, input.slice(0, Atomics.load(state, 1)));
    process.stderr.write(`does not end within ${hangMs} ms of the processor: ${findingFile}\n`);
    process.kill(process.pid, 'SIGKILL');
  }
  Atomics.wait(state, 3, 0, LOOK_MS);
}
