import { msgid, ngettext, t } from '../base/language.ts';
import { wholeNumber } from './format.ts';
import { type Html, html } from './html.ts';
import type { Count, Report } from './report.ts';
import { stateBadge } from './states.ts';

/** More kinds than this are put together at the end; what has none has its own row. */
const MOST_ROWS = 12;

/** How many finds of each kind, the most frequent first. */
export function bars(title: string, counts: readonly Count[]): Html | undefined {
  if (counts.length === 0) return undefined;
  const given = counts.filter(({ key }) => key !== '');
  const rows = [...(given.length <= MOST_ROWS ? given : shortened(given)), ...counts.filter(({ key }) => key === '')];
  const most = Math.max(...rows.map(({ count }) => count));
  return html`<section class="chart"><h3>${title}</h3><table class="bars"><tbody>${rows.map(
    ({ label, count }) =>
      html`<tr><th scope="row">${label}</th><td><svg width="100%" height="10" aria-hidden="true"><rect width="${percent(count, most)}%" height="10" rx="2"/></svg></td><td class="number">${wholeNumber(count)}</td></tr>`,
  )}</tbody></table></section>`;
}

function shortened(counts: readonly Count[]): Count[] {
  const rest = counts.slice(MOST_ROWS - 1);
  const others = rest.length;
  const label = ngettext(msgid`${others} other`, `${others} others`, others);
  return [...counts.slice(0, MOST_ROWS - 1), { key: '', label, count: rest.reduce((sum, { count }) => sum + count, 0) }];
}

/** All finds as one bar, and what its parts are. */
export function stateBar({ byState, finds }: Pick<Report, 'byState' | 'finds'>): Html | undefined {
  if (finds === 0) return undefined;
  let begun = 0;
  const parts = byState.map(({ key, count }) => {
    const [from, wide] = [begun, percent(count, finds)];
    begun += wide;
    return html`<rect class="state-${key}" x="${percent(from, 100)}%" width="${wide}%" height="14"/>`;
  });
  return html`<section class="chart states"><h3>${t`By state`}</h3>
<svg class="state-bar" width="100%" height="14" aria-hidden="true">${parts}</svg>
<ul class="legend">${byState.map(({ key, count }) => html`<li>${stateBadge(key)} <b>${wholeNumber(count)}</b></li>`)}</ul></section>`;
}

function percent(part: number, whole: number): number {
  return Math.round((10_000 * part) / whole) / 100;
}
