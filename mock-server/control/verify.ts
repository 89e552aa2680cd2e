import { ControlRefusal } from '../base/http-message.ts';
import { array, check, integer, number, object, optional, type Reader } from '../base/shape.ts';
import type { Journal, JournalEntry } from '../state/journal.ts';
import { Matcher } from './matcher.ts';
import {
  assertJudgeable,
  listDifferences,
  listMessageDifferences,
  listPathDifferences,
  type Pattern,
  readPattern,
  type Sources,
} from './pattern.ts';

type Range = { readonly at_least?: number; readonly at_most?: number };

/** Nearest requests to show for a failed assertion. */
const MAX_NEAREST = 3;

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

const question = check(
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

type Near = {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly status: number | null;
  readonly differs: readonly string[];
};

/** Result of an assertion: `entries` of the journal that match, and `nearest` that nearly do. */
type Verdict = {
  readonly ok: boolean;
  readonly entries: readonly number[];
  readonly reason: string | null;
  readonly nearest: readonly Near[];
};

/**
 * Checks number, order and intervals of matching requests.
 * @throws ShapeError; ControlRefusal where kept data do not suffice
 */
export async function verify(journal: Journal, body: unknown): Promise<Verdict> {
  const { request, count: wanted = { at_least: 1 }, order, gap_ms } = question(body);
  const sources: Sources = { journal, matcher: new Matcher() };
  let verified: Comparison;
  try {
    for (const pattern of order ?? [request ?? {}]) await assertJudgeable(sources.matcher, pattern);
    await journal.waitUntilSettled();
    verified =
      order === undefined
        ? await verifyCount(sources, request ?? {}, wanted)
        : await verifyOrder(sources, order);
  } finally {
    await sources.matcher.end();
  }
  const reason =
    verified.reason ?? (gap_ms === undefined ? null : describeGapFault(verified.matched, gap_ms));
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
    nearest: verified.nearest,
  };
}

type Comparison = {
  readonly matched: readonly JournalEntry[];
  readonly reason: string | null;
  readonly nearest: readonly Near[];
};

async function verifyCount(sources: Sources, request: Pattern, wanted: Range): Promise<Comparison> {
  const { matched, missed } = await findMatching(sources, sources.journal.listEntries(), request);
  const { at_least = 0, at_most = Number.POSITIVE_INFINITY } = wanted;
  if (matched.length >= at_least && matched.length <= at_most)
    return { matched, reason: null, nearest: [] };
  const reason = `expected ${describeRange(wanted)} such requests, and there were ${matched.length}`;
  return {
    matched,
    reason,
    nearest: matched.length < at_least ? await findNearest(sources, request, missed) : [],
  };
}

async function verifyOrder(sources: Sources, order: readonly Pattern[]): Promise<Comparison> {
  const matched: JournalEntry[] = [];
  for (const [index, next] of order.entries()) {
    const after = sources.journal.listEntries(matched.at(-1)?.id);
    const result = await findMatching(sources, after, next, 1);
    const [first] = result.matched;
    if (first === undefined) {
      const reason = `nothing that is order[${index}] came after the ones before it`;
      return { matched, reason, nearest: await findNearest(sources, next, result.missed) };
    }
    matched.push(first);
  }
  return { matched, reason: null, nearest: [] };
}

function describeRange({ at_least = 0, at_most }: Range): string {
  if (at_least === at_most) return `${at_least}`;
  return at_most === undefined ? `at least ${at_least}` : `${at_least} to ${at_most}`;
}

/**
 * Explains an interval between matching requests that is out of range, by the mock's clock at their
 * arrival.
 */
function describeGapFault(matched: readonly JournalEntry[], range: Range): string | null {
  const { at_least = 0, at_most = Number.POSITIVE_INFINITY } = range;
  if (matched.length < 2)
    return `expected a gap between such requests, and there was ${matched.length === 1 ? 'one' : 'none'}`;
  for (const [index, entry] of matched.slice(1).entries()) {
    const before = matched[index] ?? entry;
    const gapMs = entry.at_ms - before.at_ms;
    if (gapMs < at_least || gapMs > at_most)
      return `expected ${describeRange(range)} ms between entries ${before.id} and ${entry.id}, and it was ${gapMs.toFixed(1)} ms`;
  }
  return null;
}

type NearMiss = {
  readonly entry: JournalEntry;
  readonly differs: readonly string[];
  readonly isWhole: boolean;
};

async function findMatching(
  sources: Sources,
  entries: readonly JournalEntry[],
  pattern: Pattern,
  most = Number.POSITIVE_INFINITY,
): Promise<{ readonly matched: JournalEntry[]; readonly missed: NearMiss[] }> {
  const matched: JournalEntry[] = [];
  const missed: NearMiss[] = [];
  const ofPaths = await listPathDifferences(sources.matcher, entries, pattern);
  for (const [place, entry] of entries.entries()) {
    if (matched.length >= most) break;
    const listed = listDifferences(entry, pattern, ofPaths[place]);
    const differs =
      listed.length > 0 ? listed : await listMessageDifferences(sources, entry, pattern);
    if (differs.length === 0) matched.push(entry);
    else missed.push({ entry, differs, isWhole: listed.length === 0 });
  }
  return { matched, missed };
}

/**
 * Finds the entries that differ least, newest first; by headers and bodies where the listed members
 * are equal.
 */
async function findNearest(
  sources: Sources,
  pattern: Pattern,
  missed: readonly NearMiss[],
): Promise<Near[]> {
  const ranked = [...missed].sort(
    (a, b) => a.differs.length - b.differs.length || b.entry.id - a.entry.id,
  );
  const near: Near[] = [];
  for (const { entry, differs, isWhole } of ranked.slice(0, MAX_NEAREST)) {
    const more = isWhole
      ? []
      : await listMessageDifferences(sources, entry, pattern).catch(() => [
          'headers or body cannot be compared',
        ]);
    const { id, method, path, status } = entry;
    near.push({ id, method, path, status, differs: [...differs, ...more] });
  }
  return near;
}
