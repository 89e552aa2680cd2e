import { msgid, ngettext } from '../base/language.ts';

/** Counts with their nouns, for sentences that have several of them. */

export function findCount(count: number): string {
  return ngettext(msgid`${count} find`, `${count} finds`, count);
}

export function photographCount(count: number): string {
  return ngettext(msgid`${count} photograph`, `${count} photographs`, count);
}

export function numberCount(count: number): string {
  return ngettext(msgid`${count} number`, `${count} numbers`, count);
}

export function recordCount(count: number): string {
  return ngettext(msgid`${count} record`, `${count} records`, count);
}

export function requestCount(count: number): string {
  return ngettext(msgid`${count} request`, `${count} requests`, count);
}

/** A complete sentence. */
export function strippedText(count: number): string {
  return ngettext(
    msgid`The place was taken out of ${count} photograph.`,
    `The place was taken out of ${count} photographs.`,
    count,
  );
}
