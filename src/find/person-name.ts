import { foldName } from '../text/names.ts';
import { GIVEN_NAMES } from './given-names.ts';

export const NAME_ORDERS = ['surname-first', 'given-first'] as const;
export type NameOrder = (typeof NAME_ORDERS)[number];

export type PersonName = { readonly surname: string; readonly given: string };

const TITLE =
  '(?:BcA?|MgA|Mgr|Ing(?:\\.?\\s?arch)?|PhDr|PaedDr|PharmDr|RNDr|RSDr|MUDr|MVDr|MDDr|JUDr|ThDr|ThLic|ThMgr|Dr|Doc|Prof)';
const BEFORE = new RegExp(`^(?:(?:${TITLE}|p|pí|sl|MUC)\\.\\s*|(?:${TITLE}|paní|pan|slečna)\\s+)+(?=\\p{L})`, 'iu');
const BEHIND = /[,\s]+(?:Ph\.?\s?D|Th\.?\s?D|CSc|DrSc|DSc|DiS|MBA|MPA|MSc|LL\.?M|FEng|Mgr|Ing|Bc|PhDr|RNDr)\.?$/iu;

/** A name as the vocabulary has it: nothing of what stands before or behind it in a letter. */
export function withoutTitles(text: string): string {
  const name = text.trim();
  const shorter = name.replace(BEHIND, '').replace(BEFORE, '').trim();
  return shorter === name || shorter === '' ? name : withoutTitles(shorter);
}

/** Both ways in which words can be one name; none where they are not two to four. */
export function readings(name: string): Readonly<Record<NameOrder, PersonName>> | undefined {
  const words = name.split(/\s+/);
  if (words.length < 2 || words.length > 4 || /[;/&+\d]/.test(name) || words.some((word) => /^(?:a|and|et|und)$/i.test(word)))
    return undefined;
  return {
    'surname-first': { surname: words[0] ?? '', given: words.slice(1).join(' ') },
    'given-first': { surname: words.at(-1) ?? '', given: words.slice(0, -1).join(' ') },
  };
}

/** Which end of a name the given name stands at; undefined where the names themselves do not tell. */
export function orderOf(name: string): NameOrder | undefined {
  const words = name.split(/\s+/);
  const [first = '', last = ''] = [words[0], words.at(-1)];
  // Women's surnames, and no given name, end so.
  if (isFeminineSurname(last) !== isFeminineSurname(first)) return isFeminineSurname(last) ? 'given-first' : 'surname-first';
  if (isGiven(first) === isGiven(last)) return undefined;
  return isGiven(first) ? 'given-first' : 'surname-first';
}

function isGiven(word: string): boolean {
  return GIVEN_NAMES.has(foldName(word)) || /^\p{Lu}\.$/u.test(word);
}

export function isFeminineSurname(word: string): boolean {
  return /ov[aá]$/i.test(word) && !isGiven(word);
}
