import { t } from '../base/language.ts';
import {
  type BoundingBox,
  clipRing,
  getCentroid,
  isInPolygon,
  type Polygon,
  type Ring,
  simplifyRing,
} from '../finds/place/areas.ts';
import type { Point } from '../finds/place/geometry.ts';
import { type Html, html } from './html.ts';
import {
  groupOverlappingMarks,
  LABEL_GAP,
  LABEL_SIZE,
  type LabelRequest,
  type LabelSide,
  type MapFrame,
  type MapLabel,
  type MarkGroup,
  makeFrameAround,
  makeGraticule,
  placeAreaNames,
  placeLabels,
  roundDownToStep,
  type Tick,
} from './map-frame.ts';
import {
  countFindsByState,
  formatEast,
  formatMetres,
  formatNorth,
  formatReportedFindCount,
  formatSJtsk,
  formatWgs84,
  getStateName,
  type LabelledArea,
  type MappedFind,
  type MapSheet,
  renderStateLegend,
} from './report-model.ts';

/** Maximum share of the scale bar in the width. */
const BAR_SHARE = 0.22;
/** Its distance from the edges; maps.js has the same. */
const BAR = { aside: 16, above: 34 };

/**
 * Renders all maps of the page. In the overview a find links to its detail map, where it has one.
 */
export function renderMaps(maps: readonly MapSheet[]): Html {
  const details = maps.filter(({ kind }) => kind === 'detail');
  const sheetOfFind = new Map<MappedFind, { readonly anchor: string; readonly title: string }>();
  details.forEach(({ finds, title }, index) => {
    for (const find of finds) sheetOfFind.set(find, { anchor: `map-${index + 2}`, title });
  });
  return html`
<p class="quiet map-help js-only" hidden>${t`Drag to move. To zoom: Ctrl and the wheel, a double click or two fingers. With the keyboard: Tab to a map, then arrows to move, + and − to zoom, 0 for the whole map.`}</p>
<div class="maps">${maps.map((sheet, index) => {
    const options: MarkOptions =
      sheet.kind === 'overview'
        ? { scale: 'overview', getSheet: (find) => sheetOfFind.get(find) }
        : { scale: 'detail' };
    return renderMap(sheet, index + 1, options);
  })}</div>
<p class="quiet">${t`Lines: WGS 84, degrees of latitude and longitude. Marks at the upper and the right edge: S-JTSK (EPSG:5514), X and Y. A ring with a number stands for several finds close together.`}</p>`;
}

function renderMap(sheet: MapSheet, number: number, options: MarkOptions): Html {
  const frame = makeFrameAround(sheet.box, sheet.kind);
  const marks = placeMarks(frame, sheet.finds, options);
  const labels = placeLabels(marks, frame);
  const districts = makeSurfaces(frame, sheet.districts, options.scale);
  const areas = makeSurfaces(frame, sheet.areas, options.scale);
  const named = areas.length > 0 ? areas : districts;
  const requested = named.flatMap(({ outline, surface }) =>
    surface.nameAt === undefined ? [] : [{ at: surface.nameAt, text: outline.label }],
  );
  const names = placeAreaNames(requested, marks, labels, frame);
  const lived = named.map(({ outline, surface }) => ({
    surface,
    holds: sheet.finds.some(({ place }) => isInPolygon(outline.polygon, ...place.wgs84)),
  }));
  const summary = formatMapSummary(sheet.finds);
  const anchor = `map-${number}`;
  return html`
<figure class="map ${sheet.kind}" id="${anchor}" aria-labelledby="${anchor}-title">
<figcaption><h3 id="${anchor}-title">${sheet.title}</h3>${renderStateLegend(countFindsByState(sheet.finds), ' quiet')}
<div class="map-buttons js-only" hidden><button type="button" data-map="in" aria-label="${t`Zoom in`}">+</button><button type="button" data-map="out" aria-label="${t`Zoom out`}">−</button><button type="button" data-map="all">${t`Whole map`}</button></div></figcaption>
<div class="map-window" role="group" aria-label="${sheet.title}">
<svg viewBox="0 0 ${frame.width} ${frame.height}" role="group" aria-label="${t`Map`}: ${summary}" data-metres="${frame.metresPerUnit}" data-box="${formatBox(frame)}" data-position="${formatMiddle()}">
<rect class="ground" width="${frame.width}" height="${frame.height}"/>
<g class="base" data-base="">${districts.map(({ surface }) => html`<path class="land" d="${surface.path}"/>`)}${lived.map(({ surface, holds }) => html`<path class="${areas.length > 0 ? 'area' : 'land'}${holds ? ' with-finds' : ''}" d="${surface.path}"/>`)}${districts.map(({ surface }) => html`<path class="district" d="${surface.path}"/>`)}</g>
${grid(frame)}
<g class="names">${names.map(({ at: [x, y], text }) => html`<text ${moving(x, y)} dy="0.35em" text-anchor="middle">${text}</text>`)}${requested.filter((each) => names.every(({ text }) => text !== each.text)).map(({ at: [x, y], text }) => html`<text class="when-closer left-out" ${moving(x, y)} dy="0.35em" text-anchor="middle">${text}</text>`)}</g>
<g class="labels">${labels.map(labelText)}</g>
<g class="marks">${marks.map(renderMark)}${options.scale === 'detail' ? renderMembers(marks, frame) : undefined}</g>
${scaleBar(frame, marks)}
<rect class="frame" width="${frame.width}" height="${frame.height}"/>
</svg></div>
<p class="quiet map-position js-only" hidden aria-live="off"></p>
</figure>`;
}

type DrawnOutline = { readonly outline: LabelledArea; readonly surface: Surface };

function makeSurfaces(
  frame: MapFrame,
  outlines: readonly LabelledArea[],
  scale: MarkOptions['scale'],
): DrawnOutline[] {
  return outlines
    .map((outline) => ({ outline, surface: makeSurface(frame, outline.polygon, scale) }))
    .filter(({ surface }) => surface.path !== '');
}

function grid(frame: MapFrame): Html {
  const { width, height } = frame;
  const { meridians, parallels, top, right } = makeGraticule(frame);
  const along = (ticks: readonly Tick[], draw: (at: number, label: string) => Html): Html[] =>
    ticks.map(({ at, label }) => draw(roundToTenth(at), label));
  return html`<g class="grid">
${along(meridians, (x, label) => {
  const name = html`<text x="${x}" y="${height - 5}" dx="4">${label}</text>`;
  return html`<g data-x="${x}"><path d="M${x} 0V${height}"/>${width - x > LABEL_ROOM ? name : undefined}</g>`;
})}
${along(parallels, (y, label) => html`<g data-y="${y}"><path d="M0 ${y}H${width}"/><text x="5" y="${y}" dy="-4">${label}</text></g>`)}
<g class="s-jtsk">${along(top, (x, label) => html`<g data-x="${x}"><path d="M${x} 0v7"/><text x="${x}" y="0" dy="1.6em" text-anchor="middle">${label}</text></g>`)}
${along(right, (y, label) => html`<g data-y="${y}"><path d="M${width} ${y}h-7"/><text x="${width - 10}" y="${y}" dy="0.35em" text-anchor="end">${label}</text></g>`)}</g></g>`;
}

/** Space for the label of a meridian at its right: one with less has no label. */
const LABEL_ROOM = 70;

/** Draws the scale bar in the lower right corner, or in the left one where marks are in the way. */
function scaleBar({ width, height, metresPerUnit }: MapFrame, marks: readonly Mark[]): Html {
  const metres = roundDownToStep(width * BAR_SHARE * metresPerUnit);
  const length = roundToTenth(metres / metresPerUnit);
  const isTaken = marks.some(
    ({ at: [x, y], radius }) =>
      y > height - BAR.above - 22 - radius && x > width - BAR.aside - width * BAR_SHARE - radius,
  );
  const x = isTaken ? BAR.aside : width - BAR.aside - length;
  return html`<g class="scale" data-corner="${isTaken ? 'left' : 'right'}" transform="translate(${roundToTenth(x)} ${height - BAR.above})"><path class="halo" d="M0-5V0H${length}V-5"/><path d="M0-5V0H${length}V-5"/><text x="${length / 2}" y="-5" text-anchor="middle">${formatMetres(metres)}</text></g>`;
}

/** Template for the position of the map's centre, which the script fills in. */
function formatMiddle(): string {
  const position = `${formatNorth('{latitude}')}, ${formatEast('{longitude}')}`;
  return t`Middle of the map: ${position}`;
}

const ANCHORS: Readonly<Record<LabelSide, string>> = {
  right: 'start',
  left: 'end',
  above: 'middle',
  below: 'middle',
};

/** Offsets in em, so that the label stays beside its mark at either scale. */
function labelText({ at: [x, y], text, side, radius }: MapLabel): Html {
  const away = (radius + LABEL_GAP) / LABEL_SIZE;
  const across = { right: away, left: -away, above: 0, below: 0 }[side];
  const down = { right: 0.35, left: 0.35, above: -away, below: away + 0.7 }[side];
  return html`<text ${moving(x, y)} dx="${roundToHundredth(across)}em" dy="${roundToHundredth(down)}em" text-anchor="${ANCHORS[side]}">${text}</text>
`;
}

function roundToHundredth(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Returns the position attributes for the drawing and for the script that moves it. */
function moving(x: number, y: number): Html {
  const left = roundToTenth(x);
  const top = roundToTenth(y);
  return html`data-x="${left}" data-y="${top}" transform="translate(${left} ${top})"`;
}

function formatBox({ box }: MapFrame): string {
  return [box.minX, box.minY, box.maxX, box.maxY].map((degrees) => degrees.toFixed(7)).join(' ');
}

/** Maximum deviation of a simplified boundary, in units. */
const TOLERANCE = { overview: 0.5, detail: 0.2 };
/** Boundaries are clipped this far outside the frame, so that the cut is invisible. */
const BLEED = 12;
/** Minimum visible area for a name, in square units. */
const MIN_NAMED = 2600;

type Surface = {
  /** Path data; empty where no part is in the frame. */
  readonly path: string;
  /** Centre of the largest visible part, where there is room for a name. */
  readonly nameAt: Point | undefined;
};

/** Clips a boundary to the frame and simplifies it to the visible detail. */
function makeSurface(frame: MapFrame, polygon: Polygon, scale: keyof typeof TOLERANCE): Surface {
  const around: BoundingBox = {
    minX: -BLEED,
    minY: -BLEED,
    maxX: frame.width + BLEED,
    maxY: frame.height + BLEED,
  };
  const inner: BoundingBox = { minX: 0, minY: 0, maxX: frame.width, maxY: frame.height };
  const paths: string[] = [];
  let named: { readonly doubleArea: number; readonly at: Point } | undefined;
  for (const ring of polygon.rings) {
    const cut = clipRing(ring.map(frame.place), around);
    const line = simplifyRing(cut, TOLERANCE[scale]);
    if (line === undefined) continue;
    paths.push(renderPath(line));
    const { doubleArea, x, y } = getCentroid(clipRing(cut, inner));
    if (Math.abs(doubleArea) > (named?.doubleArea ?? 0))
      named = { doubleArea: Math.abs(doubleArea), at: [x, y] };
  }
  return {
    path: paths.join(''),
    nameAt: named !== undefined && named.doubleArea / 2 >= MIN_NAMED ? named.at : undefined,
  };
}

/**
 * Writes relative coordinates in tenths of a unit; each is computed from rounded ones, so errors do
 * not add up.
 */
function renderPath(ring: Ring): string {
  const tenths = ring
    .slice(0, -1)
    .map(([x, y]) => [Math.round(x * 10), Math.round(y * 10)] as const);
  const [start = '', ...steps] = tenths.map(([x, y], index) => {
    const [beforeX, beforeY] = tenths[index - 1] ?? [0, 0];
    return `${(x - beforeX) / 10} ${(y - beforeY) / 10}`;
  });
  return `M${start}l${steps.join(' ')}z`;
}

/** Marks closer than this would overlap. */
const DISTANCE = { overview: 30, detail: 15 };
/** Above this number of finds, marks are merged at larger distances. */
const MANY_FINDS = 300;
const MARK_RADIUS = 7;
/** A larger stack is named after its first find only. */
const MAX_NAMED = 2;

/** A stack with its name, and the place on the page to which it leads. */
type Mark = MarkGroup<MappedFind> &
  LabelRequest & { readonly first: MappedFind; readonly anchor: string };

type MarkOptions = {
  readonly scale: keyof typeof DISTANCE;
  /** Target and title of a stack on an overview. */
  readonly getSheet?: (
    find: MappedFind,
  ) => { readonly anchor: string; readonly title: string } | undefined;
};

/** Places the marks of a map, the largest first. */
function placeMarks(
  frame: MapFrame,
  finds: readonly MappedFind[],
  { scale, getSheet }: MarkOptions,
): Mark[] {
  const distance = finds.length > MANY_FINDS ? DISTANCE.overview : DISTANCE[scale];
  const stacks = groupOverlappingMarks(finds, ({ place }) => frame.place(place.wgs84), distance);
  const titled = new Set<string>();
  return stacks
    .toSorted((a, b) => b.members.length - a.members.length)
    .flatMap((each): Mark[] => {
      const [first] = each.members;
      if (first === undefined) return [];
      const radius = getRadius(each.members.length);
      const sheet = getSheet?.(first);
      if (sheet === undefined)
        return [
          {
            ...each,
            first,
            radius,
            text: formatNames(each.members),
            anchor: `find-${first.number}`,
          },
        ];
      // The title of a detail map is shown once.
      const text = titled.has(sheet.anchor) ? '' : sheet.title;
      titled.add(sheet.anchor);
      return [{ ...each, first, radius, text, anchor: sheet.anchor }];
    });
}

/** A larger stack has no name. */
const MAX_MEMBERS = 9;

function formatNames(members: readonly MappedFind[]): string {
  if (members.length > MAX_MEMBERS) return '';
  const names = members
    .slice(0, members.length > MAX_NAMED ? 1 : MAX_NAMED)
    .map(({ localId }) => shortenList(localId));
  const rest = members.length - names.length;
  return names.join(', ') + (rest > 0 ? ` +${rest}` : '');
}

function shortenList(text: string): string {
  const letters = [...text];
  return letters.length > 20 ? `${letters.slice(0, 19).join('')}…` : text;
}

function getRadius(count: number): number {
  if (count === 1) return MARK_RADIUS;
  if (count < 10) return 9;
  return count < 100 ? 11 : 14;
}

function renderMark(mark: Mark): Html {
  const { members, first, at, anchor } = mark;
  return members.length === 1 ? singleMark(first, at, '', anchor) : stackMark(mark);
}

/** Renders members of stacks, which are drawn only where the reader opens the stack. */
function renderMembers(marks: readonly Mark[], frame: MapFrame): Html[] {
  return marks
    .filter(({ members }) => members.length > 1)
    .flatMap(({ members }) => members)
    .map((find) =>
      singleMark(find, frame.place(find.place.wgs84), ' member', `find-${find.number}`),
    );
}

function singleMark(find: MappedFind, [x, y]: Point, more: string, anchor: string): Html {
  const title = `${find.localId}: ${getStateName(find.state)}\n${formatWgs84(find.place)}\n${formatSJtsk(find.place)}`;
  return html`<a class="mark${more}" href="#${anchor}" tabindex="-1" data-find="${find.number}" ${moving(x, y)}><title>${title}</title><use href="#mark-${find.state}"/></a>
`;
}

function stackMark({ at: [x, y], members, reach, radius, anchor }: Mark): Html {
  const count = members.length;
  const some = members
    .slice(0, 12)
    .map(({ localId, state }) => `${localId}: ${getStateName(state)}`);
  const lines = [
    formatReportedFindCount(count),
    ...some,
    ...(count > some.length ? ['…'] : []),
  ].join('\n');
  const numbers = members.map(({ number }) => number).join(' ');
  return html`<a class="mark stack" href="#${anchor}" tabindex="-1" data-finds="${numbers}" data-reach="${roundToTenth(reach)}" ${moving(x, y)}><title>${lines}</title><g class="shape"><circle class="disc" r="${radius}"/>${shares(members, radius)}<text class="count" y="3.6" text-anchor="middle">${count}</text></g></a>
`;
}

function shares(members: readonly MappedFind[], radius: number): Html[] {
  let begun = 0;
  return countFindsByState(members).map(({ key, count }) => {
    const share = (100 * count) / members.length;
    const offset = -begun;
    begun += share;
    return html`<circle class="share state-${key}" r="${radius - 1.5}" pathLength="100" stroke-dasharray="${roundToTenth(share)} 100" stroke-dashoffset="${roundToTenth(offset)}" transform="rotate(-90)"/>`;
  });
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

function formatMapSummary(finds: readonly MappedFind[]): string {
  const states = countFindsByState(finds).map(({ label, count }) => `${label} ${count}`);
  return [formatReportedFindCount(finds.length), ...states].join(', ');
}
