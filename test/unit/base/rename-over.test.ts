import { expect, test } from 'vitest';
import { renameOver } from '../../../src/base/disk/files.ts';

/** A disk that refuses so many times. */
function disk(platform: NodeJS.Platform, code: string, refusals: number) {
  const tries: string[] = [];
  const pausesMs: number[] = [];
  const rename = (from: string, to: string): void => {
    tries.push(`${from} ${to}`);
    if (tries.length <= refusals) throw Object.assign(new Error(code), { code });
  };
  return {
    tries,
    pausesMs,
    system: { platform, rename, blockFor: (ms: number) => void pausesMs.push(ms) },
  };
}

test.each(['EACCES', 'EBUSY', 'EPERM'])(
  'on Windows %s is tried again, each time after a longer pause',
  (code) => {
    const { tries, pausesMs, system } = disk('win32', code, 3);
    renameOver('draft', 'outbox', system);
    expect(tries).toEqual(Array(4).fill('draft outbox'));
    expect(pausesMs).toEqual([10, 20, 40]);
  },
);

test('but not forever, and the last refusal is reported', () => {
  const { pausesMs, system } = disk('win32', 'EBUSY', Number.POSITIVE_INFINITY);
  expect(() => renameOver('draft', 'outbox', system)).toThrow('EBUSY');
  expect(pausesMs.reduce((sum, ms) => sum + ms, 0)).toBe(2550);
});

test.each([
  ['linux', 'EPERM'],
  ['win32', 'ENOSPC'],
] as const)('on %s %s is reported at once', (platform, code) => {
  const { tries, system } = disk(platform, code, 1);
  expect(() => renameOver('draft', 'outbox', system)).toThrow(code);
  expect(tries).toHaveLength(1);
});
