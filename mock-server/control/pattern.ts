import { METHODS } from 'node:http';
import { type Exchange, SECRET_HEADERS } from '../base/exchange.ts';
import { ControlRefusal, parseTarget } from '../base/http-message.ts';
import {
  array,
  check,
  flag,
  integer,
  nullable,
  object,
  optional,
  readOneOf,
  text,
} from '../base/shape.ts';
import { readRule } from '../state/contract-references.ts';
import type { Journal, JournalEntry } from '../state/journal.ts';
import { FAULTS, type FaultName } from '../state/parse-fault-rules.ts';
import { type BodyCheck, CONDITION_FIELDS, readBodyCheck, readExpression } from './body-check.ts';
import { isAbout } from './journal-view.ts';
import type { Matcher } from './matcher.ts';

/** Journal and evaluator of an assertion. */
export type Sources = { readonly journal: Journal; readonly matcher: Matcher };

const headerCheck = check(
  object({ name: text({ min: 1 }), absent: optional(flag), ...CONDITION_FIELDS }),
  ({ name, absent, equals, matches }) => {
    const isCompared = equals !== undefined || matches !== undefined;
    if (absent === true && isCompared) return 'is absent, or has a value';
    return isCompared && SECRET_HEADERS.has(name.toLowerCase())
      ? `cannot compare ${name}: a secret is not kept`
      : undefined;
  },
);

const readMethod = check(text(), (method) =>
  METHODS.includes(method.toUpperCase()) ? undefined : `no method is called ${method}`,
);

/** Reads a path as the journal lists it, without its query; any other would match nothing. */
const readPath = check(text(), (path) =>
  /^\/[^?]*$/.test(path) && parseTarget(path).target === path
    ? undefined
    : 'begins with / and has no query, as in the journal',
);

/**
 * Makes a reader of conditions on a request; absent keys are no conditions.
 * @param usernames of all accounts: no request is of another user
 */
export const makePatternReader = (usernames: readonly string[]) =>
  object({
    method: optional(readMethod),
    path: optional(readPath),
    /** Regular expression of the path with its query. */
    path_matches: optional(readExpression),
    user: optional(nullable(readOneOf(usernames))),
    status: optional(integer({ min: 0, max: 599 })),
    find: optional(text({ min: 1 })),
    rule: optional(readRule),
    fault: optional(nullable(readOneOf(Object.keys(FAULTS) as FaultName[]))),
    request_headers: optional(array(headerCheck)),
    answer_headers: optional(array(headerCheck)),
    request_body: optional(array(readBodyCheck)),
    answer_body: optional(array(readBodyCheck)),
  });
export type Pattern = Readonly<ReturnType<ReturnType<typeof makePatternReader>>>;

/**
 * Asserts that a pattern is valid: an invalid one would match nothing, as `count: 0` requires.
 * @throws ShapeError
 */
export async function assertJudgeable(
  matcher: Matcher,
  { request_body = [], answer_body = [] }: Pattern,
): Promise<void> {
  for (const check of [...request_body, ...answer_body])
    await matcher.listMatches({ kind: 'readable', check });
}

/** Returns the entries that a pattern fits by what the journal lists of them. */
export async function selectListed(
  matcher: Matcher,
  entries: readonly JournalEntry[],
  { method, path, path_matches, user, status, find, rule, fault }: Pattern,
): Promise<readonly JournalEntry[]> {
  const fitting = entries.filter(
    (entry) =>
      (method === undefined || entry.method === method.toUpperCase()) &&
      (path === undefined || entry.path.split('?', 1)[0] === path) &&
      (user === undefined || entry.user === user) &&
      (status === undefined || entry.status === status) &&
      (find === undefined || isAbout(entry, find)) &&
      (rule === undefined || entry.rules.includes(rule)) &&
      (fault === undefined || entry.fault === fault),
  );
  if (path_matches === undefined) return fitting;
  const matches = await matcher.listMatches({
    kind: 'texts',
    texts: fitting.map(({ path }) => path),
    wanted: { matches: path_matches },
  });
  return fitting.filter((_, place) => matches[place]);
}

/**
 * Tells if the headers and bodies of a request and its answer fit a pattern.
 * @throws ControlRefusal where the kept part does not suffice, ShapeError where an expression does
 * not fit its document
 */
export async function matchesExchange(
  { journal, matcher }: Sources,
  { id }: JournalEntry,
  pattern: Pattern,
): Promise<boolean> {
  const {
    request_headers = [],
    answer_headers = [],
    request_body = [],
    answer_body = [],
  } = pattern;
  const checks = [request_headers, answer_headers, request_body, answer_body];
  if (checks.every(({ length }) => length === 0)) return true;
  const exchange = journal.getExchange(id);
  if (exchange === undefined)
    throw new ControlRefusal(422, `headers and bodies of entry ${id} are not kept any more`);
  const { request, answer } = exchange;
  return (
    (await matchesMessage(
      matcher,
      `the request of entry ${id}`,
      request,
      request_headers,
      request_body,
    )) &&
    (await matchesMessage(
      matcher,
      `the answer of entry ${id}`,
      answer,
      answer_headers,
      answer_body,
    ))
  );
}

async function matchesMessage(
  matcher: Matcher,
  of: string,
  message: Exchange['answer'],
  headers: readonly ReturnType<typeof headerCheck>[],
  bodies: readonly BodyCheck[],
): Promise<boolean> {
  if (message === undefined) return headers.length === 0 && bodies.length === 0;
  for (const { name, absent, ...wants } of headers) {
    const value = message.headers[name.toLowerCase()];
    const question = { kind: 'texts', texts: [value], wanted: wants } as const;
    const [fits = false] = await matcher.listMatches(question);
    if (absent === true ? value !== undefined : !fits) return false;
  }
  for (const check of bodies) {
    const [fits = false] = await matcher.listMatches({ kind: 'body', message, of, check });
    if (!fits) return false;
  }
  return true;
}
