import { Script } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { parseHtml } from '../../src/base/characters.ts';
import { parseDateInForm } from '../../src/finds/parse-cell.ts';
import { parsePlainNumber } from '../../src/tables/columns/column-tests.ts';
import { processorMsSince } from '../support/processor-time.ts';
import { type Attack, attacksOn, attackText } from './pattern-attacks.ts';
import { findPatterns } from './patterns.ts';

const COMMAND_LINE = 'the command line of the user';
/** Patterns that may go back again and again, since their text is short or the user's own. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "/^option '(.+)' cannot be used with option '(.+)'$/": COMMAND_LINE,
  '/\\{#(\\w+)\\}(.*?)\\{\\/\\1\\}|\\{(&?)(\\w+)\\}/gs': 'the templates of the package',
  '/<xs:complexType name="([^"]+)"[^>]*>(.*?)<\\/xs:complexType>/gs': 'the schemas of the package',
};

const SHORT = 1000;
const LONGER = 64;
/** Linear work grows by {@link LONGER}, quadratic by its square: the middle between the two. */
const MAX_GROWTH = LONGER ** 1.5;
/** Less is too little to be compared. */
const MIN_MS = 20;
/** Linear work on this length takes a tenth of the time; what takes longer is measured. */
const SUSPICIOUS_LENGTH = 4 * SHORT;
const SUSPICIOUS_MS = 0.15;
/** Ends what is worse than quadratic. */
const TIMEOUT_MS = 60_000;

/**
 * Processor time of the quickest of some runs, so that other work on the machine does not count.
 */
function cost(work: () => unknown): number {
  const times = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    work();
    return processorMsSince(before);
  });
  return Math.min(...times);
}

/** Measured again before it is believed: a run may be slow by chance, but not each time. */
function isSuperlinear(work: (length: number) => unknown): boolean {
  return Array.from({ length: 3 }).every(() => isSlowOnce(work));
}

function isSlowOnce(work: (length: number) => unknown): boolean {
  const longer = cost(() => work(SHORT * LONGER));
  if (longer < MIN_MS) return false;
  return (
    longer >
    MAX_GROWTH *
      Math.max(
        cost(() => work(SHORT)),
        MIN_MS / LONGER / LONGER,
      )
  );
}

function slowAttack(source: string, flags: string): Attack | undefined {
  const pattern = new RegExp(source, flags);
  const search = (text: string): unknown =>
    pattern.global || pattern.sticky
      ? text.replaceAll(new RegExp(pattern, `${flags.replace('g', '')}g`), 'x')
      : pattern.test(text);
  return attacksOn(source, flags).find((attack) => {
    const text = attackText(attack, SUSPICIOUS_LENGTH);
    const begun = performance.now();
    search(text);
    if (performance.now() - begun < SUSPICIOUS_MS) return false;
    return isSuperlinear((length) => search(attackText(attack, length)));
  });
}

/** Interrupts the engine of regular expressions, which nothing else in the process can. */
function within<Result>(work: () => Result): Result | string {
  const holder = globalThis as { attacked?: () => Result };
  holder.attacked = work;
  try {
    return new Script('attacked()').runInThisContext({ timeout: TIMEOUT_MS }) as Result;
  } catch (thrown) {
    return String(thrown);
  } finally {
    delete holder.attacked;
  }
}

describe('a regular expression takes time in proportion to the length of the text', () => {
  const patterns = findPatterns('src', 'mock-server');

  test('and is found wherever it is written', () => {
    expect(patterns.length).toBeGreaterThan(500);
    // Expressions made of constants, some of another file; in `body-check.ts` clients write them,
    // and a worker with a deadline runs them.
    expect(
      patterns.filter(({ source }) => source.includes('(?:19|20)\\d\\d([-_. ])')),
    ).toHaveLength(1);
    expect(patterns.filter(({ source }) => source === 'x').flatMap(({ files }) => files)).toEqual([
      'mock-server/control/body-check.ts',
    ]);
  });

  test('for any text', () => {
    const slow = patterns.flatMap(({ source, flags, files }) => {
      const attack = within(() => slowAttack(source, flags));
      return attack === undefined ? [] : [{ pattern: `/${source}/${flags}`, files, attack }];
    });
    expect(slow.filter(({ pattern }) => EXCEPTIONS[pattern] === undefined)).toEqual([]);
    expect(
      Object.keys(EXCEPTIONS).filter((each) => slow.every(({ pattern }) => pattern !== each)),
    ).toEqual([]);
  });
});

test.each([
  [
    'blanks before a time that does not come',
    (count: number) => parseDateInForm(`1.1.2024${' '.repeat(count)}x`, 'd.m.yyyy'),
  ],
  [
    'blanks between the parts of a date',
    (count: number) => parseDateInForm(`1${' '.repeat(count)}x`, 'd m yyyy'),
  ],
  [
    'blanks before a unit that does not come',
    (count: number) => parsePlainNumber(`5${' '.repeat(count)}x`),
  ],
  ['blanks in HTML without a line break', (count: number) => parseHtml(`<p>${' '.repeat(count)}x`)],
  ['hidden elements of HTML', (count: number) => parseHtml('<script></script>'.repeat(count))],
])('%s take time in proportion to their length', (_, work) => {
  expect(isSuperlinear(work)).toBe(false);
});
