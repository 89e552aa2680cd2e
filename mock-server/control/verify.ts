import { readRule } from '../clauses.ts';
import { bodyText, type Exchange } from '../exchange.ts';
import { FAULTS, type FaultName } from '../fault-rules.ts';
import type { JournalEntry } from '../journal.ts';
import type { Mock } from '../mock.ts';
import { array, check, integer, nullable, object, oneOf, optional, type Reader, text } from '../shape.ts';
import { messageOf } from '../thrown.ts';
import { isAbout } from './journal-view.ts';
import { type BodyCheck, Matcher, readJsonPath } from './matcher.ts';
import { ControlRefusal } from './refusal.ts';

/** What a request must have been. Nothing that is left out is looked at. */
type Pattern = {
  readonly method?: string;
  /** Without the query. */
  readonly path?: string;
  /** Regular expression of the path with its query. */
  readonly path_matches?: string;
  readonly user?: string | null;
  readonly status?: number;
  readonly find?: string;
  readonly rule?: string;
  readonly fault?: string | null;
  readonly request_body?: readonly BodyCheck[];
  readonly answer_body?: readonly BodyCheck[];
};

type Count = number | { readonly at_least?: number; readonly at_most?: number };

const expression: Reader<string> = check(text({ min: 1 }), (source) => {
  try {
    new RegExp(source, 'u');
    return undefined;
  } catch (thrown) {
    return `is no regular expression (${messageOf(thrown)})`;
  }
});

const bodyCheck: Reader<BodyCheck> = check(
  object({
    xpath: optional(text({ min: 1 })),
    json: optional(text({ min: 1 })),
    equals: optional(text()),
    matches: optional(expression),
  }),
  ({ xpath, json }) => ((xpath === undefined) === (json === undefined) ? 'needs either xpath or json' : undefined),
);

const pattern: Reader<Pattern> = object({
  method: optional(text({ min: 1 })),
  path: optional(text({ min: 1 })),
  path_matches: optional(expression),
  user: optional(nullable(text())),
  status: optional(integer({ min: 0, max: 599 })),
  find: optional(text({ min: 1 })),
  rule: optional(readRule),
  fault: optional(nullable(oneOf(Object.keys(FAULTS) as FaultName[]))),
  request_body: optional(array(bodyCheck)),
  answer_body: optional(array(bodyCheck)),
});

const many = integer({ min: 0 });
const range = check(object({ at_least: optional(many), at_most: optional(many) }), ({ at_least, at_most }) =>
  at_least === undefined && at_most === undefined ? 'needs at_least or at_most' : undefined,
);
const count: Reader<Count> = (value, place) => (typeof value === 'number' ? many(value, place) : range(value, place));

const question = check(
  object({ request: optional(pattern), count: optional(count), order: optional(array(pattern)) }),
  ({ request, order, count: wanted }) => {
    if ((request === undefined) === (order === undefined)) return 'needs either request or order';
    if (order?.length === 0) return 'needs a request in order';
    return order !== undefined && wanted !== undefined ? 'takes count beside request only' : undefined;
  },
);

/** What came of an assertion: `entries` are the journal's, the ones that were met. */
type Verified = { readonly ok: boolean; readonly entries: readonly number[]; readonly reason: string | null };

/**
 * Holds the journal against what somebody expected of it: how many requests were such, or that such requests came in this order.
 * @throws ShapeError; ControlRefusal where a body that decides was not kept as a whole, or a path cannot be read
 */
export async function verify(mock: Mock, body: unknown): Promise<Verified> {
  const { request, count: wanted, order } = question(body);
  // Also where no request is such: `count: 0` would hold whatever the path is.
  for (const { request_body = [], answer_body = [] } of order ?? [request ?? {}])
    for (const { json } of [...request_body, ...answer_body]) if (json !== undefined) await readJsonPath(json);
  const journal: Journal = { mock, entries: mock.journal.entries(), matcher: new Matcher() };
  try {
    if (request !== undefined) return counted(await matching(journal, request), wanted ?? { at_least: 1 });
    return await inOrder(journal, order ?? []);
  } finally {
    await journal.matcher.end();
  }
}

type Journal = { readonly mock: Mock; readonly entries: readonly JournalEntry[]; readonly matcher: Matcher };

async function inOrder({ entries, ...journal }: Journal, order: readonly Pattern[]): Promise<Verified> {
  const met: number[] = [];
  for (const [index, next] of order.entries()) {
    const later = entries.filter(({ id }) => id > (met.at(-1) ?? 0));
    const [first] = await matching({ ...journal, entries: later }, next, 1);
    if (first === undefined)
      return { ok: false, entries: met, reason: `nothing that is order[${index}] came after the ones before it` };
    met.push(first);
  }
  return { ok: true, entries: met, reason: null };
}

function counted(entries: readonly number[], wanted: Count): Verified {
  const { at_least = 0, at_most = Number.POSITIVE_INFINITY } =
    typeof wanted === 'number' ? { at_least: wanted, at_most: wanted } : wanted;
  const ok = entries.length >= at_least && entries.length <= at_most;
  const said =
    at_least === at_most
      ? `${at_least}`
      : at_most === Number.POSITIVE_INFINITY
        ? `at least ${at_least}`
        : `${at_least} to ${at_most}`;
  return { ok, entries, reason: ok ? null : `expected ${said} such requests, and there were ${entries.length}` };
}

async function matching(journal: Journal, wanted: Pattern, most = Number.POSITIVE_INFINITY): Promise<number[]> {
  const such = journal.entries.filter((entry) => isSuch(entry, wanted));
  const { path_matches } = wanted;
  const texts = such.map(({ path }) => path);
  const places = path_matches === undefined ? texts.keys() : await journal.matcher.ask({ texts, matches: path_matches });
  const found: number[] = [];
  for (const place of places) {
    const entry = such[place];
    if (found.length >= most) break;
    if (entry !== undefined && (await hasBodies(journal, entry, wanted))) found.push(entry.id);
  }
  return found;
}

function isSuch(entry: JournalEntry, { method, path, user, status, find, rule, fault }: Pattern): boolean {
  return (
    (method === undefined || entry.method === method.toUpperCase()) &&
    (path === undefined || entry.path.split('?', 1)[0] === path) &&
    (user === undefined || entry.user === user) &&
    (status === undefined || entry.status === status) &&
    (find === undefined || isAbout(entry, find)) &&
    (rule === undefined || entry.rules.includes(rule)) &&
    (fault === undefined || entry.fault === fault)
  );
}

async function hasBodies(
  { mock, matcher }: Journal,
  { id }: JournalEntry,
  { request_body, answer_body }: Pattern,
): Promise<boolean> {
  for (const [side, checks] of [
    ['request', request_body],
    ['answer', answer_body],
  ] as const) {
    if (checks === undefined || checks.length === 0) continue;
    const said = bodyOf(mock.journal.exchange(id), id, side);
    for (const check of checks)
      if (said === undefined || (await matcher.ask({ texts: [said], check })).length === 0) return false;
  }
  return true;
}

function bodyOf(exchange: Exchange | undefined, id: number, side: 'request' | 'answer'): string | undefined {
  if (exchange === undefined) throw new ControlRefusal(422, `the bodies of entry ${id} are not kept any more`);
  const message = exchange[side];
  const said = message === undefined ? undefined : bodyText(message);
  if (said?.cut === true) throw new ControlRefusal(422, `of the ${side} of entry ${id} only the beginning is kept`);
  return said?.text;
}
