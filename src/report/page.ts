import { sizeText, spokenLanguage, t } from '../base/language.ts';
import type { Assets } from './assets.ts';
import { bars, stateBar } from './bars.ts';
import { renderCard } from './card.ts';
import { renderFilters } from './filters.ts';
import { findsText, momentText, wholeNumber } from './format.ts';
import { type Html, html, markupOf, trusted } from './html.ts';
import { renderMaps } from './map.ts';
import type { Count, Report, ReportFind, ReportPhotograph } from './report.ts';
import { stateShapes } from './states.ts';

/** By what stands at its beginning, a page of ours is known again. */
export const GENERATOR = '<!doctype html>\n<!-- pas report -->\n';

export type FindWithPictures = { readonly find: ReportFind; readonly photographs: readonly ReportPhotograph[] };

/** The page, piece by piece: what is drawn of one find is let go of before the next is asked for. */
export async function* renderPage(
  report: Report,
  finds: AsyncIterable<FindWithPictures>,
  assets: Assets,
): AsyncGenerator<string> {
  let sizeBytes = 0;
  const piece = (part: Html): string => {
    const text = markupOf(part);
    sizeBytes += Buffer.byteLength(text);
    return text;
  };
  yield GENERATOR;
  yield piece(head(report, assets));
  yield piece(opening(report));
  for await (const { find, photographs } of finds) yield piece(renderCard(find, photographs));
  yield piece(html`
</div>
<p class="none quiet" hidden>${t`No find fits.`}</p>
</section>
</main>`);
  const size = sizeText(sizeBytes);
  const { version } = report;
  yield piece(html`
<footer><p>${t`Made by pas ${version}. The page is ${size} in one file and asks nobody for anything.`}</p></footer>
<script>${trusted(assets.script)}</script>
</body>
</html>
`);
}

function head({ profile }: Report, { style, policy }: Assets): Html {
  return html`<html lang="${spokenLanguage()}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex, nofollow">
<title>${t`Finds`} – ${profile.name}</title>
<style>${trusted(style)}</style>
</head>`;
}

function opening(report: Report): Html {
  const { maps, places, finds } = report;
  return html`
<body>
${stateShapes()}
<a class="skip" href="#finds">${t`Skip to the finds`}</a>
<header class="top"><h1>${t`Finds`}</h1>${origin(report)}</header>
<main>
${sensitivity(report)}
${figures(report)}
${
  finds === 0
    ? undefined
    : html`<section class="charts" aria-label="${t`Counts`}">${stateBar(report)}<div class="columns">${bars(t`By period`, report.byPeriod)}${bars(t`By object type`, report.byObjectType)}</div></section>`
}
${maps.length === 0 ? undefined : html`<section aria-labelledby="maps-title"><h2 id="maps-title">${t`Where they were found`}</h2>${renderMaps(maps)}${withoutPlace(report)}</section>`}
${places === 'shown' && maps.length === 0 && finds > 0 ? html`<p class="quiet">${t`No find has a place that could be drawn on a map.`}</p>` : undefined}
<section id="finds" aria-labelledby="finds-title"><h2 id="finds-title">${t`The finds`}</h2>
${finds === 0 ? html`<p class="quiet">${t`There are no finds yet.`}</p>` : renderFilters(report)}
<div class="finds">`;
}

function origin({ madeMs, profile, account }: Report): Html {
  const { name, host } = profile;
  const moment = momentText(madeMs);
  const instance = profile.kind === 'production' ? t`production instance` : t`training instance`;
  return html`<p class="origin"><time datetime="${new Date(madeMs).toISOString()}">${moment}</time> <span>${t`profile ${name}`}</span> <span>${instance} ${host}</span>${account === undefined ? undefined : html` <span>${account}</span>`}</p>`;
}

/** Findspots are looted: who holds the page must know what it gives away. */
function sensitivity({ places, finds, byAccessibility }: Report): Html | undefined {
  if (finds === 0) return undefined;
  if (places === 'left-out') {
    return html`<aside class="notice"><p>${t`Places are left out: no coordinates, maps, cadastral areas, descriptions of places or notes. The levels of accessibility are those of the places in the service.`}</p>${levels(byAccessibility)}</aside>`;
  }
  return html`<aside class="notice guarded"><p><b>${t`This page gives away exact findspots.`}</b> ${t`Keep it from those who may not see them. A page to hand on is made with`} <code>pas report --without-places</code></p>${levels(byAccessibility)}</aside>`;
}

function levels(byAccessibility: readonly Count[]): Html {
  return html`<p class="quiet">${t`Who may see the exact place, as the service knows it:`} ${byAccessibility.map(
    ({ label, count }, index) => html`${index === 0 ? '' : ', '}${label} ${wholeNumber(count)}`,
  )}</p>`;
}

function figures({ finds, photographs, withProblems, byState, pictures }: Report): Html {
  const at = (...states: readonly string[]): number =>
    byState.filter(({ key }) => states.includes(key)).reduce((sum, { count }) => sum + count, 0);
  const tiles: readonly (readonly [number, string])[] = [
    [finds, t`finds in all`],
    [at('registered', 'submitted', 'confirmed', 'archived'), t`at the service`],
    [at('queued'), t`waiting to be sent`],
    [withProblems, t`need somebody`],
    ...(pictures === 'shown' ? ([[photographs, t`photographs in all`]] as const) : []),
  ];
  return html`<ul class="figures-row">${tiles.map(([number, label]) => html`<li><b>${wholeNumber(number)}</b> ${label}</li>`)}</ul>`;
}

function withoutPlace({ withoutPlace: count }: Report): Html | undefined {
  if (count === 0) return undefined;
  const counted = findsText(count);
  return html`<p class="quiet">${t`Not on the maps, since they have no usable point: ${counted}.`}</p>`;
}
