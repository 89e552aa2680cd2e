import { t } from '../base/language.ts';
import { wholeNumber } from './format.ts';
import { type Html, html } from './html.ts';
import type { Count, Report } from './report.ts';

/** Shown by the page's script, without which they would do nothing. */
export function renderFilters({ byState, byPeriod, byObjectType, finds }: Report): Html {
  const shown = t`{shown} of {all} finds are shown.`;
  return html`
<form class="filters js-only" hidden role="search" aria-label="${t`Filter the finds`}">
<label class="text"><span>${t`Text`}</span><input type="search" name="text" autocomplete="off" placeholder="${t`in all fields`}"></label>
${select('state', t`State`, byState)}${select('period', t`Period`, byPeriod)}${select('type', t`Object type`, byObjectType)}
<button type="reset">${t`Show all`}</button>
<output class="quiet" data-shown="${shown}" data-all="${finds}"></output>
</form>`;
}

function select(name: string, label: string, counts: readonly Count[]): Html {
  const byName = [...counts].sort((a, b) => a.label.localeCompare(b.label));
  const options = name === 'state' ? counts : byName;
  return html`<label><span>${label}</span><select name="${name}"><option value="*">${t`all`}</option>${options.map(
    ({ key, label: text, count }) => html`<option value="${key}">${text} (${wholeNumber(count)})</option>`,
  )}</select></label>`;
}
