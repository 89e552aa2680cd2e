import { type Exchange, SECRET_HEADERS } from '../base/exchange.ts';
import { ControlRefusal } from '../base/http-message.ts';
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
import { type BodyCheck, expression, readBodyCheck, wanted } from './body-check.ts';
import { isAbout } from './journal-view.ts';
import type { Matcher } from './matcher.ts';

/** Journal and evaluator of an assertion. */
export type Sources = { readonly journal: Journal; readonly matcher: Matcher };

const headerCheck = check(
  object({ name: text({ min: 1 }), absent: optional(flag), ...wanted }),
  ({ name, absent, equals, matches }) => {
    const isCompared = equals !== undefined || matches !== undefined;
    if (absent === true && isCompared) return 'is absent, or has a value';
    return isCompared && SECRET_HEADERS.has(name.toLowerCase())
      ? `cannot compare ${name}: a secret is not kept`
      : undefined;
  },
);

/** Conditions on a request; absent keys are no conditions. */
export const readPattern = object({
  method: optional(text({ min: 1 })),
  /** Without the query. */
  path: optional(text({ min: 1 })),
  /** Regular expression of the path with its query. */
  path_matches: optional(expression),
  user: optional(nullable(text())),
  status: optional(integer({ min: 0, max: 599 })),
  find: optional(text({ min: 1 })),
  rule: optional(readRule),
  fault: optional(nullable(readOneOf(Object.keys(FAULTS) as FaultName[]))),
  request_headers: optional(array(headerCheck)),
  answer_headers: optional(array(headerCheck)),
  request_body: optional(array(readBodyCheck)),
  answer_body: optional(array(readBodyCheck)),
});
export type Pattern = Readonly<ReturnType<typeof readPattern>>;

/**
 * Asserts that a pattern is valid: an invalid one would match nothing, as `count: 0` requires.
 * @throws ShapeError
 */
export async function assertJudgeable(
  matcher: Matcher,
  { request_body = [], answer_body = [] }: Pattern,
): Promise<void> {
  for (const check of [...request_body, ...answer_body])
    await matcher.listDifferences({ kind: 'readable', check });
}

/** Explains how the path of each entry differs from the expression of a pattern. */
export async function listPathDifferences(
  matcher: Matcher,
  entries: readonly JournalEntry[],
  { path_matches }: Pattern,
): Promise<readonly (string | undefined)[]> {
  if (path_matches === undefined) return [];
  return matcher.listDifferences({
    kind: 'texts',
    name: 'path',
    texts: entries.map(({ path }) => path),
    wanted: { matches: path_matches },
  });
}

/** Explains how an entry differs from a pattern in the members that the journal lists. */
export function listDifferences(
  entry: JournalEntry,
  pattern: Pattern,
  ofPath: string | undefined,
): string[] {
  const { method, path, user, status, find, rule, fault } = pattern;
  const describeUnlike = (
    name: string,
    is: string | number | null,
    wants: string | number | null | undefined,
  ): string | undefined =>
    wants === undefined || is === wants
      ? undefined
      : `${name} is ${is ?? 'none'}, not ${wants ?? 'none'}`;
  return [
    describeUnlike('method', entry.method, method?.toUpperCase()),
    describeUnlike('path', entry.path.split('?', 1)[0] ?? '', path),
    ofPath,
    describeUnlike('user', entry.user, user),
    describeUnlike('status', entry.status, status),
    find === undefined || isAbout(entry, find) ? undefined : `is not about ${find}`,
    rule === undefined || entry.rules.includes(rule) ? undefined : `was not refused by ${rule}`,
    describeUnlike('fault', entry.fault, fault),
  ].filter((difference) => difference !== undefined);
}

/**
 * Explains how a request and its answer differ from a pattern.
 * @throws ControlRefusal where the kept part does not suffice, ShapeError where an expression does
 * not fit its document
 */
export async function listMessageDifferences(
  { journal, matcher }: Sources,
  { id }: JournalEntry,
  pattern: Pattern,
): Promise<string[]> {
  const {
    request_headers = [],
    answer_headers = [],
    request_body = [],
    answer_body = [],
  } = pattern;
  if (
    [request_headers, answer_headers, request_body, answer_body].every(({ length }) => length === 0)
  )
    return [];
  const exchange = journal.getExchange(id);
  if (exchange === undefined)
    throw new ControlRefusal(422, `headers and bodies of entry ${id} are not kept any more`);
  return [
    ...(await listSideDifferences(
      matcher,
      `the request of entry ${id}`,
      exchange.request,
      request_headers,
      request_body,
    )),
    ...(await listSideDifferences(
      matcher,
      `the answer of entry ${id}`,
      exchange.answer,
      answer_headers,
      answer_body,
    )),
  ];
}

async function listSideDifferences(
  matcher: Matcher,
  of: string,
  message: Exchange['answer'],
  headers: readonly ReturnType<typeof headerCheck>[],
  bodies: readonly BodyCheck[],
): Promise<string[]> {
  if (headers.length === 0 && bodies.length === 0) return [];
  if (message === undefined) return [`${of} was never sent`];
  const differences: (string | undefined)[] = [];
  for (const { name: header, absent, ...wants } of headers) {
    const value = message.headers[header.toLowerCase()];
    const name = `header ${header} of ${of}`;
    if (absent !== true)
      differences.push(
        ...(await matcher.listDifferences({ kind: 'texts', name, texts: [value], wanted: wants })),
      );
    else if (value !== undefined) differences.push(`${name} is there`);
  }
  for (const check of bodies)
    differences.push(...(await matcher.listDifferences({ kind: 'body', message, of, check })));
  return differences.filter((difference) => difference !== undefined);
}
