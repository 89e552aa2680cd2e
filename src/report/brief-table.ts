import { t } from '../base/language.ts';
import { type Html, html } from './html.ts';
import { needsSomebody, type ReportFind } from './report-model.ts';
import { stateBadge } from './states.ts';

/** A row of the table. `comesFirst` where a person has to act. */
export type BriefRow = { readonly comesFirst: boolean; readonly row: Html };

export function briefRow(find: ReportFind): BriefRow {
  const { number, localId, state, objectType, period, area, identCely, problems, next } = find;
  const first = problems.find(({ severity }) => severity === 'error');
  const toDo =
    first === undefined ? (next[0]?.text ?? '') : [first.element, first.message].filter((part) => part !== undefined).join(': ');
  const row = html`
<tr data-find="${number}"><th scope="row"><a href="#find-${number}">${localId}</a>${identCely === undefined ? undefined : html`<span class="quiet figures">${identCely}</span>`}</th><td>${stateBadge(state)}</td><td class="to-do">${toDo}</td><td class="more">${objectType?.text}</td><td class="more">${period?.text}</td><td class="more">${area}</td></tr>`;
  return { comesFirst: needsSomebody(find), row };
}

/** Renders all finds as table rows, first those on which a person has to act; the reader can show it instead of the cards. */
export function renderBriefTable(rows: readonly BriefRow[]): Html {
  const ordered = [...rows.filter(({ comesFirst }) => comesFirst), ...rows.filter(({ comesFirst }) => !comesFirst)];
  const columns = [t`Find`, t`State`, t`What to do next`];
  // Hidden on a narrow screen, where the cards show them.
  const more = [t`Object type`, t`Period`, t`Cadastral area`];
  return html`
<div class="brief" tabindex="0" role="region" aria-label="${t`Finds as a table`}" hidden><table>
<thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}${more.map((name) => html`<th scope="col" class="more">${name}</th>`)}</tr></thead>
<tbody>${ordered.map(({ row }) => row)}</tbody></table></div>`;
}
