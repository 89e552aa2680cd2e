import type { Clock } from '../base/clock.ts';
import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { OnToken } from './ask.ts';
import type { ListPage } from './client.ts';
import { MalformedAnswerError } from './malformed-error.ts';
import type { OaiArguments } from './protocol.ts';

export type FetchPage<Item> = (args: OaiArguments, signal?: AbortSignal, onToken?: OnToken) => Promise<ListPage<Item>>;

export type PagesOptions<Item> = {
  readonly fetchPage: FetchPage<Item>;
  /** The list's own arguments, or `{ resumptionToken }` to go on where an earlier run stopped. */
  readonly start: OaiArguments;
  readonly clock: Clock;
  /**
   * Tells two pages apart: the same page under two tokens means that the service goes round in a circle. Left out where
   * the reader itself sees that nothing new comes: a list that moves may well show a page again.
   */
  readonly fingerprint?: (items: readonly Item[]) => string;
  /** Recovers a page that stays malformed. Without it, or where it returns undefined, the list fails there. */
  readonly salvage?: (error: MalformedAnswerError) => ListPage<Item> | undefined;
  readonly signal?: AbortSignal;
};

/** Waits before the same page is asked for again. A service in trouble may send nonsense, or say badArgument. */
const WAITS_AFTER_NONSENSE_MS: readonly number[] = [1000, 4000];
const WAITS_AFTER_REFUSAL_MS: readonly number[] = [1000];

const MAX_EMPTY_PAGES = 100;

/**
 * The pages of one list in order; the next ones, two at most, are fetched one by one while the last one is used. Ends where the service says
 * so: no token, an empty token, or an empty page without one.
 * @throws OaiError with the code `loop` when the service comes back to a page that it has given before
 */
export async function* listPages<Item>(options: PagesOptions<Item>): AsyncGenerator<ListPage<Item>> {
  const { fingerprint, start } = options;
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, options.signal]);
  const seenTokens = new Set(start.resumptionToken === undefined ? [] : [start.resumptionToken]);
  const seenPages = new Set<string>();
  let emptyPages = 0;
  let foreseen: { readonly token: string; readonly page: Promise<ListPage<Item>> } | undefined;
  const fetch = (args: OaiArguments): Promise<ListPage<Item>> => {
    const page = fetchPatiently(options, args, signal, prefetch);
    // The awaiting code sees the failure; without this line, a reader that stops early would end the process.
    page.catch(() => {});
    return page;
  };
  /** Prefetches the page after one that has arrived but is not parsed yet. */
  const prefetch = (token: string): void => {
    if (foreseen === undefined && !seenTokens.has(token)) foreseen = { token, page: fetch({ resumptionToken: token }) };
  };
  try {
    let upcoming: Promise<ListPage<Item>> | undefined = fetch(start);
    while (upcoming !== undefined) {
      const page: ListPage<Item> = await upcoming;
      const { items, next } = page;
      emptyPages = items.length === 0 ? emptyPages + 1 : 0;
      if (emptyPages > MAX_EMPTY_PAGES) throw new CircleError(t`gave ${emptyPages} empty pages in a row`);
      const print = items.length === 0 ? undefined : fingerprint?.(items);
      if (print !== undefined && seenPages.size === seenPages.add(print).size) throw new CircleError(t`gave the same page twice`);
      const isCircle = next !== undefined && seenTokens.size === seenTokens.add(copyText(next)).size;
      if (next === undefined || isCircle) upcoming = undefined;
      else upcoming = foreseen?.token === next ? foreseen.page : fetch({ resumptionToken: next });
      foreseen = undefined;
      yield page;
      if (isCircle) throw new CircleError(t`gave the token ${next} twice`);
    }
  } finally {
    stop.abort();
  }
}

/** The first page of a list, and no other. */
export function fetchFirstPage<Item>(options: PagesOptions<Item>): Promise<ListPage<Item>> {
  return fetchPatiently(options, options.start, options.signal, undefined);
}

/** A piece of a page's text keeps the whole page in memory; a copy does not. */
function copyText(text: string): string {
  return Buffer.from(text).toString();
}

/** The list leads back to where it was. */
export class CircleError extends OaiError {
  constructor(what: string) {
    super('loop', t`The service ${what}: its list loops and would never end.`, {
      hint: t`Run the command again later. If it happens again, tell the operator of the service.`,
    });
  }
}

async function fetchPatiently<Item>(
  { fetchPage, clock, salvage }: PagesOptions<Item>,
  args: OaiArguments,
  signal: AbortSignal | undefined,
  onToken: OnToken | undefined,
): Promise<ListPage<Item>> {
  let malformed: MalformedAnswerError | undefined;
  for (let tries = 0; ; tries++) {
    try {
      return await fetchPage(args, signal, onToken);
    } catch (thrown) {
      if (thrown instanceof MalformedAnswerError) malformed = thrown;
      // The page after it may have been asked for, and then the service need not give this one again.
      const failure = malformed !== undefined && isRefusedToken(thrown) ? malformed : thrown;
      const waitMs = waitsAfter(failure)[tries];
      if (waitMs === undefined) {
        const page = failure instanceof MalformedAnswerError ? salvage?.(failure) : undefined;
        if (page === undefined) throw failure;
        return page;
      }
      malformed?.shorten();
      // A wait that is interrupted rejects with the signal's own reason; the fetch after it says it better.
      await clock.sleep(waitMs, signal).catch(() => {});
    }
  }
}

/** The service no longer knows the token, or says so; that nothing matches is no answer to one either. */
export function isRefusedToken(thrown: unknown): boolean {
  return thrown instanceof OaiError && ['badResumptionToken', 'noRecordsMatch'].includes(thrown.oaiCode);
}

function waitsAfter(thrown: unknown): readonly number[] {
  if (thrown instanceof MalformedAnswerError) return WAITS_AFTER_NONSENSE_MS;
  return thrown instanceof OaiError && thrown.oaiCode === 'badArgument' ? WAITS_AFTER_REFUSAL_MS : [];
}
