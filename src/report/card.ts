import { t } from '../base/language.ts';
import { dayOfMoment, dayText, sJtskText, wgs84Text } from './format.ts';
import { type Html, html, trusted, webAddress } from './html.ts';
import type { NextStep, Picture, Problem, ReportFind, ReportPhotograph } from './report.ts';
import { stateBadge } from './states.ts';

/** One find with all that the page says of it. */
export function renderCard(find: ReportFind, photographs: readonly ReportPhotograph[]): Html {
  const anchor = `find-${find.number}`;
  return html`
<article class="find" id="${anchor}" aria-labelledby="${anchor}-title" data-state="${find.state}" data-period="${find.period?.id ?? ''}" data-type="${find.objectType?.id ?? ''}">
<header><h3 id="${anchor}-title">${find.localId}</h3>${stateBadge(find.state)}${find.stateNote === undefined ? undefined : html`<span class="quiet">${find.stateNote}</span>`}${identifier(find)}</header>
<div class="find-body"><dl>${facts(find)}</dl>${pictures(find, photographs)}</div>
${find.problems.length === 0 ? undefined : html`<ul class="problems" aria-label="${t`Problems`}">${find.problems.map(problem)}</ul>`}
${find.next.length === 0 ? undefined : html`<div class="next"><h4>${t`What to do next`}</h4><ul>${find.next.map(step)}</ul></div>`}
</article>`;
}

function identifier({ identCely, recordUrl }: ReportFind): Html | undefined {
  if (identCely === undefined) return undefined;
  const address = recordUrl === undefined ? undefined : webAddress(recordUrl);
  if (address === undefined) return html`<span class="ident">${identCely}</span>`;
  return html`<a class="ident" href="${address}" rel="noreferrer noopener external">${identCely}</a>`;
}

function facts(find: ReportFind): (Html | undefined)[] {
  const { depthCm, place, accessibility } = find;
  return [
    fact(t`Period`, joined([find.period?.text, find.dating])),
    fact(t`Object type`, find.objectType?.text),
    fact(t`Material`, find.material?.text),
    fact(t`Count`, find.count),
    fact(t`Found on`, find.foundOn === undefined ? undefined : dayText(find.foundOn)),
    fact(t`Finder`, find.finder),
    fact(t`Circumstances`, find.context?.text),
    fact(t`Depth`, depthCm === undefined ? undefined : `${depthCm} cm`),
    fact(t`Cadastral area`, find.area),
    fact(t`District`, find.district),
    fact(t`Place`, find.location, 'double'),
    place === undefined ? undefined : coordinates('WGS 84', wgs84Text(place, 6), place.measuredIn === '4326'),
    place === undefined ? undefined : coordinates('S-JTSK', sJtskText(place), place.measuredIn === '5514'),
    accessibility === undefined ? undefined : access(accessibility),
    fact(t`Project`, find.project),
    fact(t`Registration number`, find.registrationNumber),
    fact(t`Sent`, find.acceptedMs === undefined ? undefined : dayOfMoment(find.acceptedMs)),
    fact(t`Note`, find.note, 'wide'),
  ];
}

function fact(name: string, value: string | undefined, classes = ''): Html | undefined {
  return value === undefined || value === '' ? undefined : html`<div class="${classes}"><dt>${name}</dt><dd>${value}</dd></div>`;
}

function joined(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(', ');
}

function coordinates(system: 'WGS 84' | 'S-JTSK', text: string, measured: boolean): Html {
  const origin = measured ? t`as measured` : t`computed`;
  return html`<div class="double${system === 'WGS 84' ? ' first' : ''}"><dt>${system}, ${origin}</dt><dd class="figures">${text}</dd></div>`;
}

function access({ text, letter }: NonNullable<ReportFind['accessibility']>): Html {
  return html`<div><dt>${t`Accessibility`}</dt><dd><span class="access access-${letter ?? 'unknown'}">${letter === undefined ? undefined : html`<b>${letter}</b> `}${text}</span></dd></div>`;
}

function pictures({ localId }: ReportFind, photographs: readonly ReportPhotograph[]): Html | undefined {
  if (photographs.length === 0) return undefined;
  return html`<ul class="photographs">${photographs.map(({ name, picture }, index) => {
    const number = index + 1;
    const alt = t`Photograph ${number} of ${localId}`;
    return html`<li>${pictured(picture, alt)}${name === undefined ? undefined : html`<span class="quiet name">${name}</span>`}</li>`;
  })}</ul>`;
}

function pictured(picture: Picture, alt: string): Html {
  if (picture.kind === 'none') return html`<p class="no-picture">${picture.why}</p>`;
  const data = trusted(picture.jpeg.toString('base64'));
  return html`<span class="picture turn-${picture.orientation}"><img src="data:image/jpeg;base64,${data}" width="${picture.widthPx}" height="${picture.heightPx}" alt="${alt}" loading="lazy" decoding="async"></span>`;
}

function problem({ severity, element, message }: Problem): Html {
  const mark = severity === 'error' ? t`Error` : t`Warning`;
  return html`<li class="${severity}"><b>${mark}</b>${element === undefined ? undefined : html` <code>${element}</code>`} ${message}</li>`;
}

function step({ text, command }: NextStep): Html {
  return html`<li>${text}${command === undefined ? undefined : html` <code>${command}</code>`}</li>`;
}
