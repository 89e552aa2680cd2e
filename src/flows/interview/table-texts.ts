import { formatIssuePlace } from '../../base/issue.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import type { ColumnRule } from '../../columns/column-rule.ts';
import type { Preview, UnmappedTerm } from '../../columns/preview.ts';
import type { ColumnProposal, TableProposal } from '../../columns/propose-columns.ts';
import { FIELDS, type FindElements } from '../../find/fields.ts';
import type { Find } from '../../find/find.ts';
import { formatMergeValue } from '../../find/merge-row.ts';
import { formatFinds } from '../../report/format.ts';
import { cutTo } from '../../text/characters.ts';

export function formatOverview({ columns, fixed, undecided }: TableProposal): string[] {
  const lines = columns.flatMap(formatColumn);
  if (fixed.length + undecided.length > 0) lines.push('', t`For every find:`);
  for (const { name, value } of fixed) lines.push(`   ${name} = ${value}`);
  for (const element of undecided) {
    const gloss = getGloss(element);
    const missing = t`${element}: every find needs it (${gloss})`;
    lines.push(`   ? ${missing}`);
  }
  return lines;
}

function formatColumn({ profile, rule, doubt }: ColumnProposal): string[] {
  const { key, filled } = profile;
  const examples = cut(profile.examples.join(' · '), MAX_EXAMPLES);
  const markOfCertain = rule.kind === 'ignored' ? '–' : '✓';
  const mark = doubt === undefined ? markOfCertain : '?';
  const count = rule.kind === 'ignored' ? ` (${formatValues(filled)})` : '';
  return [
    ` ${mark} ${key} → ${formatColumnRule(rule)}${count}`,
    ...[examples, doubt ?? ''].filter((line) => line !== '').map((line) => `     ${line}`),
  ];
}

const MAX_EXAMPLES = 90;

function formatValues(count: number): string {
  return ngettext(msgid`${count} value`, `${count} values`, count);
}

/** Formats a rule: `hloubka (m)`; an ignored column is marked. */
export function formatColumnRule(rule: ColumnRule): string {
  if (rule.kind === 'ignored') return t`not read`;
  const { unit, date, name, sign, label, values = {} } = rule;
  const parts = [
    unit,
    date,
    name && formatNameOrder(name),
    sign && '−',
    label,
    ...Object.entries(values).map(([ownText, is]) => `${ownText}=${is}`),
  ];
  const shown = parts.filter((text) => text !== undefined).join(', ');
  return shown === '' ? rule.element : `${rule.element} (${shown})`;
}

export function formatNameOrder(order: 'surname-first' | 'given-first'): string {
  return order === 'surname-first' ? t`surname first` : t`given name first`;
}

/** Returns the gloss of an element, or the name where it is no element. */
export function getGloss(element: string): string {
  return String(FIELDS.find(({ name }) => name === element)?.gloss ?? element);
}

/** Tells if `pas vocab list` lists the values of an element. */
export function hasVocabulary(element: string): boolean {
  const kind = FIELDS.find(({ name }) => name === element)?.kind;
  return kind === 'term' || kind === 'reference';
}

export function previewLines({ rows, finds, leftOut, drafts, commonest }: Preview): string[] {
  const first = formatFinds(finds.length);
  const all = rows;
  const lines =
    finds.length === 0
      ? []
      : [
          t`This is how pas reads them, with ${first} as an example:`,
          ...finds.flatMap(findLines),
          '',
        ];
  const good = rows - leftOut - drafts;
  lines.push(
    ngettext(
      msgid`${all} row: ${good} ready to send, ${drafts} incomplete, ${leftOut} unreadable.`,
      `${all} rows: ${good} ready to send, ${drafts} incomplete, ${leftOut} unreadable.`,
      all,
    ),
  );
  for (const { issue, rows: count } of commonest) {
    const where = formatIssuePlace(issue.without('file', 'sheet'));
    const line = t`${count}× first in ${where}: ${issue.message}`;
    lines.push(`  ${line}`);
  }
  return lines;
}

function findLines({ localId, elements }: Find): string[] {
  const parts = (
    Object.entries(elements) as [keyof FindElements, FindElements[keyof FindElements]][]
  ).map(([name, value]) => `${name} ${cut(formatMergeValue(value) ?? '', 40)}`);
  return [` ${localId}`, `     ${parts.join(' · ')}`];
}

const MAX_TERMS = 12;

/**
 * Formats own terms without one entry, and the commands that map them; empty where there are none.
 */
export function formatUnmappedTerms(terms: readonly UnmappedTerm[], termsFile: string): string[] {
  const count = terms.length;
  if (count === 0) return [];
  const head = ngettext(
    msgid`${count} of your terms matches no entry, or several:`,
    `${count} of your terms match no entry, or several:`,
    count,
  );
  const shownTexts = terms
    .slice(0, MAX_TERMS)
    .map(({ element, term, rows }) => `   ${element}: ${cut(term, 40)} (${rows}×)`);
  const more = count - shownTexts.length;
  const proposals = termsFile.replace(/\.csv$/, '.proposals.csv');
  const moreText = t`… and ${more} more`;
  return [
    '',
    head,
    ...shownTexts,
    ...(more > 0 ? [`   ${moreText}`] : []),
    t`They are in ${termsFile}. To map them once, let pas propose entries:`,
    `   ${cmd`pas vocab map suggest ${termsFile} --out ${proposals}`}`,
    t`Write yes under "confirmed" where an entry of ${proposals} is right, then:`,
    `   ${cmd`pas vocab map import ${proposals}`}`,
  ];
}

function cut(text: string, most: number): string {
  return cutTo(text.replace(/\s+/g, ' '), most);
}
