import { formatMoment, getLanguage, t } from '../base/message.ts';
import type { Thumbnail } from '../photos/photograph.ts';
import { type Assets, type Html, html, renderPart, trustMarkup } from './html.ts';
import { renderMaps } from './map.ts';
import {
  formatReportedFindCount,
  type LabelledCount,
  type Problem,
  type Report,
  type ReportFind,
  type ReportPhotograph,
  renderStateBadge,
  renderStateLegend,
  renderStateShapes,
} from './report-model.ts';

/** A find with its pictures, which are made one find at a time. */
export type FindWithPictures = {
  readonly find: ReportFind;
  readonly photographs: readonly ReportPhotograph[];
};

/**
 * Yields the HTML of the page in pieces, in their order. Each find is a piece, and is taken from
 * `finds` only when that is due, so that not all pictures are in memory at once.
 */
export async function* renderPage(
  report: Report,
  finds: AsyncIterable<FindWithPictures>,
  assets: Assets,
): AsyncGenerator<string> {
  yield `<!doctype html>\n${renderPart(renderHead(assets))}`;
  yield renderPart(renderOpening(report));
  for await (const { find, photographs } of finds) yield renderPart(renderCard(find, photographs));
  yield renderPart(html`
</div>
<p class="none quiet" hidden>${t`No find matches.`}</p>
</section>
</main>
${renderPhotographDialog()}`);
  const { version } = report;
  yield renderPart(html`
<footer><p>${t`Made by pas ${version}. The page loads nothing from a network.`}</p></footer>
<script>${trustMarkup(`${assets.script}</script>`)}
</body>
</html>
`);
}

function renderHead({ style, policy }: Assets): Html {
  return html`<html lang="${getLanguage()}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex, nofollow">
<title>${t`Finds`}</title>
<style>${trustMarkup(style)}</style>
</head>`;
}

function renderOpening(report: Report): Html {
  const { maps, places, finds, byState } = report;
  return html`
<body>
${renderStateShapes()}
<a class="skip" href="#finds">${t`Skip to the finds`}</a>
<header class="top"><h1>${t`Finds`}</h1>${renderOrigin(report)}</header>
<main>
${renderPlacesNotice(report)}
${
  finds === 0
    ? undefined
    : html`<section><h2>${t`By state`}</h2>${renderStateLegend(byState)}</section>`
}
${maps.length === 0 ? undefined : html`<section aria-labelledby="maps-title"><h2 id="maps-title">${t`Where they were found`}</h2>${renderMaps(maps)}${renderHiddenPlaces(report)}</section>`}
${places === 'shown' && maps.length === 0 && finds > 0 ? html`<p class="quiet">${t`No find has a place that can be drawn on a map.`}</p>` : undefined}
<section id="finds" aria-labelledby="finds-title"><h2 id="finds-title">${t`The finds`}</h2>
${finds === 0 ? html`<p class="quiet">${t`There are no finds yet.`}</p>` : renderFilters(report)}
<div class="finds">`;
}

function renderOrigin({ madeMs, profile, account }: Report): Html {
  const { name, host } = profile;
  const moment = formatMoment(madeMs);
  const instance = profile.kind === 'production' ? t`production instance` : t`training instance`;
  return html`<p class="origin"><time datetime="${new Date(madeMs).toISOString()}">${moment}</time> <span>${t`profile ${name}`}</span> <span>${instance} ${host}</span>${account === undefined ? undefined : html` <span>${account}</span>`}</p>`;
}

/**
 * Renders the warning that the page shows places, since findspots are looted, or the note that they
 * are left out; nothing without finds.
 */
function renderPlacesNotice({ places, finds }: Report): Html | undefined {
  if (finds === 0) return undefined;
  if (places === 'left-out') {
    return html`<aside class="notice"><p>${t`Places are left out: no coordinates, maps, cadastral areas, place descriptions or notes.`}</p></aside>`;
  }
  return html`<aside class="notice guarded"><p><b>${t`This page reveals exact findspots.`}</b> ${t`Show it only to people who may know them. To make a page to share, use`} <code>pas report --without-places</code></p></aside>`;
}

function renderHiddenPlaces({ withoutPlace: count }: Report): Html | undefined {
  if (count === 0) return undefined;
  const counted = formatReportedFindCount(count);
  return html`<p class="quiet">${t`Not on the maps, because they have no usable point: ${counted}.`}</p>`;
}

/** Rendered hidden; the page's script shows them, since they need it. */
function renderFilters({ byState, byPeriod, byObjectType, finds }: Report): Html {
  const shown = t`{shown} of {all} finds are shown.`;
  return html`
<form class="filters js-only" hidden role="search" aria-label="${t`Filter the finds`}">
<label class="text"><span>${t`Text`}</span><input type="search" name="text" autocomplete="off" placeholder="${t`in all fields`}"></label>
${renderSelect('state', t`State`, byState)}${renderSelect('period', t`Period`, byPeriod)}${renderSelect('type', t`Object type`, byObjectType)}
<button type="reset">${t`Show all`}</button>
<output class="quiet" data-shown="${shown}" data-all="${finds}"></output>
</form>`;
}

function renderSelect(name: string, label: string, counts: readonly LabelledCount[]): Html {
  return html`<label><span>${label}</span><select name="${name}"><option value="*">${t`all`}</option>${counts.map(
    ({ key, label: text, count }) => html`<option value="${key}">${text} (${count})</option>`,
  )}</select></label>`;
}

function renderCard(find: ReportFind, photographs: readonly ReportPhotograph[]): Html {
  const anchor = `find-${find.number}`;
  return html`
<article class="find" id="${anchor}" aria-labelledby="${anchor}-title" data-state="${find.state}" data-period="${find.period?.id ?? ''}" data-type="${find.objectType?.id ?? ''}">
<header><h3 id="${anchor}-title">${find.localId}</h3>${renderStateBadge(find.state)}${find.stateNote === undefined ? undefined : html`<span class="quiet">${find.stateNote}</span>`}${renderIdentifier(find)}</header>
<div class="find-body"><dl>${renderFacts(find)}</dl>${renderPictures(find, photographs)}</div>
${find.problems.length === 0 ? undefined : html`<ul class="problems" aria-label="${t`Problems`}">${find.problems.map(renderProblem)}</ul>`}
</article>`;
}

function renderIdentifier({ identCely, recordUrl }: ReportFind): Html | undefined {
  if (identCely === undefined) return undefined;
  if (recordUrl === undefined) return html`<span class="ident">${identCely}</span>`;
  return html`<a class="ident" href="${recordUrl}" rel="noreferrer noopener external">${identCely}</a>`;
}

function renderFacts({ facts }: ReportFind): Html[] {
  return facts
    .filter(({ text }) => text !== '')
    .sort((a, b) => a.at - b.at)
    .map(
      ({ label, text, shape = '' }) =>
        html`<div class="${shape}"><dt>${label}</dt><dd>${text}</dd></div>`,
    );
}

function renderPictures(
  { localId }: ReportFind,
  photographs: readonly ReportPhotograph[],
): Html | undefined {
  if (photographs.length === 0) return undefined;
  return html`<ul class="photographs">${photographs.map(({ name, picture }, index) => {
    const number = index + 1;
    const alt = t`Photograph ${number} of ${localId}`;
    return html`<li>${renderPicture(picture, alt)}${name === undefined ? undefined : html`<span class="quiet name">${name}</span>`}</li>`;
  })}</ul>`;
}

function renderPicture(picture: Thumbnail, alt: string): Html {
  if (picture.kind === 'none') return html`<p class="no-picture">${picture.why}</p>`;
  const data = trustMarkup(picture.jpeg.toString('base64'));
  return html`<span class="picture"><img src="data:image/jpeg;base64,${data}" width="${picture.widthPx}" height="${picture.heightPx}" alt="${alt}" loading="lazy" decoding="async"></span>`;
}

/** Renders the full-screen view of a photograph, which the page's script operates. */
function renderPhotographDialog(): Html {
  return html`
<dialog class="large" aria-label="${t`Photograph`}" data-open="${t`enlarge`}">
<div class="stage"></div>
<p class="caption" aria-live="polite"></p>
<div class="turning"><button type="button" data-step="-1" aria-label="${t`Previous photograph`}">‹</button><button type="button" data-step="1" aria-label="${t`Next photograph`}">›</button><button type="button" class="close">${t`Close`}</button></div>
</dialog>`;
}

function renderProblem({ severity, element, message }: Problem): Html {
  const mark = severity === 'error' ? t`Error` : t`Warning`;
  return html`<li class="${severity}"><b>${mark}</b>${element === undefined ? undefined : html` <code>${element}</code>`} ${message}</li>`;
}
