import { ControlRefusal } from '../base/http-message.ts';
import { array, check, integer, number, object, optional, type Reader } from '../base/shape.ts';
import type { Journal, JournalEntry } from '../state/journal.ts';
import { Matcher } from './matcher.ts';
import {
  assertJudgeable,
  makePatternReader,
  matchesExchange,
  type Pattern,
  type Sources,
  selectListed,
} from './pattern.ts';

type Range = { readonly at_least?: number; readonly at_most?: number };

const readRange = (reader: Reader<number>): Reader<Range> =>
  check(
    object({ at_least: optional(reader), at_most: optional(reader) }),
    ({ at_least, at_most }) => {
      if (at_least === undefined && at_most === undefined) return 'needs at_least or at_most';
      if (at_least === 0 && at_most === undefined) return 'always holds with at_least 0 alone';
      return at_least !== undefined && at_most !== undefined && at_least > at_most
        ? 'never holds'
        : undefined;
    },
  );

const many = integer({ min: 0 });
const manyRange = readRange(many);
const count: Reader<Range> = (value, place) => {
  if (typeof value !== 'number') return manyRange(value, place);
  const exact = many(value, place);
  return { at_least: exact, at_most: exact };
};

const makeQuestionReader = (readPattern: Reader<Pattern>) =>
  check(
    object({
      request: optional(readPattern),
      count: optional(count),
      order: optional(array(readPattern)),
      gap_ms: optional(readRange(number({ min: 0 }))),
    }),
    ({ request, order, count: wanted }) => {
      if ((request === undefined) === (order === undefined)) return 'needs either request or order';
      if (order?.length === 0) return 'needs a request in order';
      return order !== undefined && wanted !== undefined
        ? 'takes count beside request only'
        : undefined;
    },
  );

/** Result of an assertion: `entries` of the journal that match. */
type Verdict = {
  readonly ok: boolean;
  readonly entries: readonly number[];
  readonly reason: string | null;
};

/**
 * Checks number, order and intervals of matching requests.
 * @param usernames of all accounts
 * @throws ShapeError; ControlRefusal where kept data do not suffice
 */
export async function verifyRequests(
  journal: Journal,
  usernames: readonly string[],
  body: unknown,
): Promise<Verdict> {
  const readQuestion = makeQuestionReader(makePatternReader(usernames));
  const { request = {}, count: wanted = { at_least: 1 }, order, gap_ms } = readQuestion(body);
  const sources: Sources = { journal, matcher: new Matcher() };
  let verified: Comparison;
  try {
    for (const pattern of order ?? [request]) await assertJudgeable(sources.matcher, pattern);
    await journal.waitUntilSettled();
    verified =
      order === undefined
        ? await verifyCount(sources, request, wanted)
        : await verifyOrder(sources, order);
  } finally {
    await sources.matcher.end();
  }
  const reason =
    verified.reason ??
    (gap_ms === undefined ? null : describeGapFault(journal, verified.matched, gap_ms));
  const isBounded = (order === undefined && wanted.at_most !== undefined) || gap_ms !== undefined;
  if (reason === null && isBounded && journal.hasDropped) {
    const advice = 'clear the journal (DELETE /journal) before what is asserted';
    throw new ControlRefusal(
      422,
      `older entries were dropped, and such requests may be among them: ${advice}`,
    );
  }
  return {
    ok: reason === null,
    entries: verified.matched.map(({ id }) => id),
    reason,
  };
}

type Comparison = {
  readonly matched: readonly JournalEntry[];
  readonly reason: string | null;
};

async function verifyCount(sources: Sources, request: Pattern, wanted: Range): Promise<Comparison> {
  const matched = await findMatching(sources, sources.journal.listEntries(), request);
  const { at_least = 0, at_most = Number.POSITIVE_INFINITY } = wanted;
  if (matched.length >= at_least && matched.length <= at_most) return { matched, reason: null };
  const reason = `expected ${describeRange(wanted)} such requests, and there were ${matched.length}`;
  return { matched, reason };
}

async function verifyOrder(sources: Sources, order: readonly Pattern[]): Promise<Comparison> {
  const matched: JournalEntry[] = [];
  for (const [index, next] of order.entries()) {
    const after = sources.journal.listEntries(matched.at(-1)?.id);
    const [first] = await findMatching(sources, after, next, 1);
    if (first === undefined)
      return { matched, reason: `nothing that is order[${index}] came after the ones before it` };
    matched.push(first);
  }
  return { matched, reason: null };
}

function describeRange({ at_least = 0, at_most }: Range): string {
  if (at_least === at_most) return `${at_least}`;
  return at_most === undefined ? `at least ${at_least}` : `${at_least} to ${at_most}`;
}

/**
 * Explains an interval between matching requests that is out of range, by the mock's clock at their
 * arrival.
 */
function describeGapFault(
  journal: Journal,
  matched: readonly JournalEntry[],
  range: Range,
): string | null {
  const { at_least = 0, at_most = Number.POSITIVE_INFINITY } = range;
  if (matched.length < 2)
    return `expected a gap between such requests, and there was ${matched.length === 1 ? 'one' : 'none'}`;
  for (const [index, entry] of matched.slice(1).entries()) {
    const before = matched[index] ?? entry;
    const gapMs = entry.at_ms - before.at_ms;
    // As the throttle counts, the first may have arrived earlier.
    if (gapMs + journal.getLateMs(before) < at_least || gapMs > at_most)
      return `expected ${describeRange(range)} ms between entries ${before.id} and ${entry.id}, and it was ${gapMs.toFixed(1)} ms`;
  }
  return null;
}

async function findMatching(
  sources: Sources,
  entries: readonly JournalEntry[],
  pattern: Pattern,
  most = Number.POSITIVE_INFINITY,
): Promise<JournalEntry[]> {
  const matched: JournalEntry[] = [];
  for (const entry of await selectListed(sources.matcher, entries, pattern)) {
    if (matched.length >= most) break;
    if (await matchesExchange(sources, entry, pattern)) matched.push(entry);
  }
  return matched;
}
