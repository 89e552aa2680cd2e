import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { writeToStdout } from '../../../src/base/disk/output-file.ts';

/** A stdout whose reader takes so many pieces, and is then gone, or full. */
function stdoutThatTakes(
  pieces: number,
  code: string,
): { stdout: NodeJS.WriteStream; taken: string[] } {
  const taken: string[] = [];
  const stream = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, done) {
      if (taken.length === pieces) done(Object.assign(new Error(`write ${code}`), { code }));
      else done(void taken.push(String(chunk)));
    },
  });
  return { stdout: stream as unknown as NodeJS.WriteStream, taken };
}

test('pieces are made only as fast as the reader takes them, and only while it reads', async () => {
  let count = 0;
  const pieces = function* (): Generator<string> {
    for (; count < 1000; count += 1) yield `${count}`;
  };
  const { stdout, taken } = stdoutThatTakes(3, 'EPIPE');
  expect(await writeToStdout(stdout, pieces())).toBe(false);
  expect(taken).toEqual(['0', '1', '2']);
  expect(count).toBeLessThan(100);
});

test('a completely written output is reported as such, and stdout stays open', async () => {
  const { stdout, taken } = stdoutThatTakes(9, 'EPIPE');
  expect(await writeToStdout(stdout, ['a', Buffer.from('b')])).toBe(true);
  expect([taken, stdout.writableEnded]).toEqual([['a', 'b'], false]);
});
