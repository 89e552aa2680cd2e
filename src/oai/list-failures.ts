import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { ListPage } from './client.ts';
import { countMissing, type HarvestPass } from './pass.ts';
import type { OaiRecord } from './protocol.ts';

/** Pages without a new record after which a list counts as endless. */
const MAX_PAGES_WITHOUT_NEWS = 100;
/** Maximum length of a list: a multiple of the count on its first page, plus some records. */
const MAX_GROWTH = 2;
const A_DAY_OF_RECORDS = 10_000;

/**
 * Makes a function to be called for each page of a list.
 * @throws OaiError `loop` where the list does not end
 */
export function makeEndGuard(knownSize: number | null = null) {
  let pagesWithoutNews = 0;
  let records = 0;
  let firstSize = knownSize ?? undefined;
  return ({ items, completeListSize }: ListPage<OaiRecord>, hasNews: boolean): void => {
    pagesWithoutNews = hasNews ? 0 : pagesWithoutNews + 1;
    records += items.length;
    firstSize ??= completeListSize;
    if (pagesWithoutNews > MAX_PAGES_WITHOUT_NEWS) {
      throw new OaiError(
        'loop',
        t`The service sent nothing new on ${pagesWithoutNews} pages, so its list seems endless.`,
      );
    }
    if (firstSize !== undefined && records > MAX_GROWTH * firstSize + A_DAY_OF_RECORDS) {
      throw new OaiError(
        'loop',
        t`The service counted ${firstSize} records, sent ${records} and still has more, so its list seems endless.`,
      );
    }
  };
}

export function formatSetName(setSpec: string): string {
  return setSpec === '' ? t`everything` : setSpec;
}

export function makeIncompleteError(
  list: string,
  pass: HarvestPass,
  reason = explainIncomplete(pass),
): OaiError {
  const missing = describeShortfall(pass);
  return new OaiError('incomplete', t`${list} is not complete: ${reason}. ${missing}`, {
    hint: t`Run the command again: what was stored is kept, and the list is read again.`,
  });
}

export function describeShortfall(pass: HarvestPass): string {
  const { listSize, seen: seenCount } = pass;
  if (listSize === null)
    return t`The service does not say how many records there are; it sent ${seenCount}.`;
  const missing = countMissing(pass);
  return t`The service counts ${listSize} records and sent ${seenCount}: ${missing} are missing.`;
}

function explainIncomplete(pass: HarvestPass): string {
  return countMissing(pass) > 0
    ? t`its list ended before`
    : t`its list kept changing while it was read`;
}

/** Explains why a list that lacks one record of its count is accepted. */
export function explainOvercount(list: string, { listSize, seen: seenCount }: HarvestPass): string {
  return t`${list}: the service counts ${listSize} records, but listed ${seenCount} twice in a row. pas takes these as all.`;
}

/**
 * Returns the reason for a full pass: while a server clock was ahead, a watermark may have skipped
 * changes.
 */
export function formatClockWentBack(
  setSpec: string,
  watermarkMs: number,
  serverNowMs: number,
): string {
  const was = new Date(watermarkMs).toISOString();
  const is = new Date(serverNowMs).toISOString();
  return t`${setSpec}: the service's clock went back from ${was} (last harvest) to ${is}, so everything is read again.`;
}
