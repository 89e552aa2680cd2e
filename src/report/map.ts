import { t } from '../base/message.ts';
import {
  type BoundingBox,
  clipRing,
  computeMetresPerDegree,
  makeBoxAround,
  type Ring,
  simplifyRing,
} from '../finds/place/areas.ts';
import type { Point } from '../finds/place/geometry.ts';
import { type Html, html } from './html.ts';
import {
  countFindsByState,
  formatReportedFindCount,
  formatSJtsk,
  formatWgs84,
  getStateName,
  type LabelledArea,
  type MapFrame,
  type MappedFind,
  type MapSheet,
  renderStateLegend,
} from './report-model.ts';

/** Size of every map in drawing units. */
export const MAP = { width: 760, height: 460 };
/** Margin around the content, as a share of its size. */
const MARGIN = 0.14;
/** Minimum width in metres, so that a single find has surroundings. */
const MIN_METRES = { overview: 16_000, detail: 900 };

/**
 * Makes the frame of a map around a box of degrees, which is in its middle: with a margin, at least
 * as wide as this kind of map needs, and in the proportions of {@link MAP}, into whose drawing
 * units `place` converts longitude and latitude. The projection is equirectangular with the scale
 * of the middle latitude: over the width of the country the error is less than 2 %.
 */
export function makeMapFrame(
  { minX, minY, maxX, maxY }: BoundingBox,
  kind: MapSheet['kind'],
): MapFrame {
  const midX = (minX + maxX) / 2;
  const midY = (minY + maxY) / 2;
  const [mPerLon, mPerLat] = computeMetresPerDegree(midY);
  const widthMetres = Math.max((maxX - minX) * mPerLon * (1 + 2 * MARGIN), MIN_METRES[kind]);
  const heightMetres = (maxY - minY) * mPerLat * (1 + 2 * MARGIN);
  const metresPerUnit = Math.max(widthMetres / MAP.width, heightMetres / MAP.height);
  const halfLon = (MAP.width / 2) * (metresPerUnit / mPerLon);
  const halfLat = (MAP.height / 2) * (metresPerUnit / mPerLat);
  return {
    metresPerUnit,
    box: {
      minX: midX - halfLon,
      maxX: midX + halfLon,
      minY: midY - halfLat,
      maxY: midY + halfLat,
    },
    place: ([longitude, latitude]) => [
      MAP.width / 2 + ((longitude - midX) * mPerLon) / metresPerUnit,
      MAP.height / 2 - ((latitude - midY) * mPerLat) / metresPerUnit,
    ],
  };
}

/**
 * Rounds a length down for a scale bar: to the largest number that is 1, 2 or 5 times a power of
 * ten. `most` must be positive.
 */
export function roundDownToStep(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  const digit = [5, 2, 1].find((each) => each * power <= most * (1 + 1e-9)) ?? 1;
  return digit * power;
}

/** Marks that would overlap, drawn as one at their middle. `reach` is how far the farthest is. */
type MarkGroup = {
  readonly at: Point;
  readonly members: readonly MappedFind[];
  readonly reach: number;
};

/** Marks closer than this, in units, would overlap. */
const DISTANCE = { overview: 30, detail: 15 };
/** Above this number of finds, marks are merged at the larger distance. */
const MANY_FINDS = 300;

/**
 * Groups finds whose marks would overlap on a map: each find joins the first group whose first find
 * is near, else it begins a group. So every find is in one group, also one without neighbours.
 * With more than {@link MANY_FINDS} finds, a detail map has the wide spacing of the overview.
 * @returns the largest group first
 */
export function groupOverlappingFinds(
  finds: readonly MappedFind[],
  frame: MapFrame,
  kind: MapSheet['kind'],
): MarkGroup[] {
  const distance = finds.length > MANY_FINDS ? DISTANCE.overview : DISTANCE[kind];
  const groups: { readonly seed: Point; readonly members: MappedFind[] }[] = [];
  for (const find of finds) {
    const [x, y] = frame.place(find.place.wgs84);
    const near = groups.find(({ seed }) => Math.hypot(seed[0] - x, seed[1] - y) < distance);
    if (near === undefined) groups.push({ seed: [x, y], members: [find] });
    else near.members.push(find);
  }
  return groups
    .map(({ members }) => makeMarkGroup(members, frame))
    .sort((a, b) => b.members.length - a.members.length);
}

function makeMarkGroup(members: readonly MappedFind[], frame: MapFrame): MarkGroup {
  const places = members.map(({ place }) => frame.place(place.wgs84));
  const getMean = (axis: 0 | 1): number =>
    places.reduce((sum, place) => sum + place[axis], 0) / places.length;
  const at = [getMean(0), getMean(1)] as const;
  const distances = places.map(([x, y]) => Math.hypot(x - at[0], y - at[1]));
  // A spread of a hundred thousand finds would exceed the stack.
  const reach = distances.reduce((most, distance) => Math.max(most, distance), 0);
  return { at, members, reach };
}

const MAX_DETAILS = 8;

/**
 * Plans the maps of the page: an overview of all finds, then a detail map of each of its
 * {@link MAX_DETAILS} largest groups, also of a find alone. Empty without finds. The sheets have no
 * titles and boundaries yet.
 */
export function planMapSheets(
  finds: readonly MappedFind[],
): Pick<MapSheet, 'kind' | 'finds' | 'frame'>[] {
  if (finds.length === 0) return [];
  const makeSheet = (kind: MapSheet['kind'], members: readonly MappedFind[]) => ({
    kind,
    finds: members,
    frame: makeMapFrame(makeBoxAround(members.map(({ place }) => place.wgs84)), kind),
  });
  const overview = makeSheet('overview', finds);
  const largest = groupOverlappingFinds(finds, overview.frame, 'overview').slice(0, MAX_DETAILS);
  return [overview, ...largest.map(({ members }) => makeSheet('detail', members))];
}

/**
 * Renders all maps of the page, with the anchors `map-1` and so on. A mark of the overview links to
 * the detail map of its group, where there is one; any other mark to the card of its first find.
 */
export function renderMaps(maps: readonly MapSheet[]): Html {
  return html`
<p class="quiet map-help js-only" hidden>${t`Drag to move. To zoom: Ctrl and the wheel, a double click or two fingers. With the keyboard: Tab to a map, then arrows to move, + and − to zoom, 0 for the whole map.`}</p>
<div class="maps">${maps.map((sheet, index) => renderMap(sheet, `map-${index + 1}`, maps))}</div>
<p class="quiet">${t`A ring with a number stands for several finds close together.`}</p>`;
}

/**
 * Renders one map. Names are those of cadastral areas where it has any, else of districts. The
 * members of a group are drawn only in a detail map.
 * @param maps all maps, to whose details an overview leads
 */
function renderMap(sheet: MapSheet, anchor: string, maps: readonly MapSheet[]): Html {
  const { kind, title, frame, finds } = sheet;
  const { width, height } = MAP;
  const marks = listMarks(sheet, kind === 'overview' ? maps : []);
  const districts = sheet.districts.map((area) => drawArea(frame, area));
  const areas = sheet.areas.map((area) => drawArea(frame, area));
  const named = areas.length > 0 ? areas : districts;
  const counts = countFindsByState(finds);
  const summary = counts.map(({ label, count }) => `, ${label} ${count}`).join('');
  return html`
<figure class="map ${kind}" id="${anchor}" aria-labelledby="${anchor}-title">
<figcaption><h3 id="${anchor}-title">${title}</h3>${renderStateLegend(counts, ' quiet')}
<div class="map-buttons js-only" hidden><button type="button" data-map="in" aria-label="${t`Zoom in`}">+</button><button type="button" data-map="out" aria-label="${t`Zoom out`}">−</button><button type="button" data-map="all">${t`Whole map`}</button></div></figcaption>
<div class="map-window" role="group" aria-label="${title}">
<svg viewBox="0 0 ${width} ${height}" role="group" aria-label="${t`Map`}: ${formatReportedFindCount(finds.length)}${summary}" data-metres="${frame.metresPerUnit}">
<rect class="ground" width="${width}" height="${height}"/>
<g class="base" data-base="">${districts.map(({ path }) => html`<path class="land" d="${path}"/>`)}${areas.map(({ path }) => html`<path class="area" d="${path}"/>`)}${districts.map(({ path }) => html`<path class="district" d="${path}"/>`)}</g>
<g class="names">${named.map(({ nameAt, label }) => nameAt && html`<text ${renderPosition(nameAt)} dy="0.35em" text-anchor="middle">${label}</text>`)}</g>
<g class="labels"></g>
<g class="marks">${marks.map(renderMark)}${kind === 'detail' ? renderMembers(marks, frame) : undefined}</g>
${renderScale(frame)}
<rect class="frame" width="${width}" height="${height}"/>
</svg></div>
</figure>`;
}

/** Maximum share of the scale bar in the width. */
const BAR_SHARE = 0.22;
/** Its distance from the edges; maps.js has the same. */
const BAR = { aside: 16, above: 34 };

function renderScale({ metresPerUnit }: MapFrame): Html {
  const metres = roundDownToStep(MAP.width * BAR_SHARE * metresPerUnit);
  const length = roundToTenth(metres / metresPerUnit);
  const label = metres < 1000 ? `${metres} m` : `${metres / 1000} km`;
  return html`<g class="scale" transform="translate(${MAP.width - BAR.aside - length} ${MAP.height - BAR.above})"><path class="halo" d="M0-5V0H${length}V-5"/><path d="M0-5V0H${length}V-5"/><text x="${length / 2}" y="-5" text-anchor="middle">${label}</text></g>`;
}

/** Returns the position attributes for the drawing and for the script that moves it. */
function renderPosition([x, y]: Point): Html {
  const left = roundToTenth(x);
  const top = roundToTenth(y);
  return html`data-x="${left}" data-y="${top}" transform="translate(${left} ${top})"`;
}

/** Maximum deviation of a simplified boundary, in units. */
const TOLERANCE = 0.3;
/** Boundaries are clipped this far outside the frame, so that the cut is invisible. */
const BLEED = 12;
/** Minimum box of the visible part for a name, in square units. */
const MIN_NAMED = 4000;

type DrawnArea = LabelledArea & {
  /** Path data; empty where no part is in the frame. */
  readonly path: string;
  /** Centre of the box of the largest visible part, where there is room for a name. */
  readonly nameAt: Point | undefined;
};

/** Clips a boundary to the frame and simplifies it to the visible detail. */
function drawArea(frame: MapFrame, area: LabelledArea): DrawnArea {
  const box: BoundingBox = {
    minX: -BLEED,
    minY: -BLEED,
    maxX: MAP.width + BLEED,
    maxY: MAP.height + BLEED,
  };
  let path = '';
  let nameAt: Point | undefined;
  let largest = MIN_NAMED;
  for (const ring of area.polygon.rings) {
    const line = simplifyRing(clipRing(ring.map(frame.place), box), TOLERANCE);
    if (line === undefined) continue;
    path += renderPath(line);
    const { minX, minY, maxX, maxY } = makeBoxAround(line);
    const size = (maxX - minX) * (maxY - minY);
    if (size < largest) continue;
    largest = size;
    nameAt = [(minX + maxX) / 2, (minY + maxY) / 2];
  }
  return { ...area, path, nameAt };
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

/** A group with its name, and the place on the page to which it leads. */
type Mark = MarkGroup & {
  readonly first: MappedFind;
  readonly name: string;
  readonly anchor: string;
};

/**
 * Groups the finds of a map into marks, each with its name and the anchor to which it leads.
 * @param maps those to which the marks lead; empty where they lead to the finds
 */
function listMarks({ finds, frame, kind }: MapSheet, maps: readonly MapSheet[]): Mark[] {
  return groupOverlappingFinds(finds, frame, kind).flatMap((group): Mark[] => {
    const [first] = group.members;
    if (first === undefined) return [];
    const at = maps.findIndex((map) => map.kind === 'detail' && map.finds[0] === first);
    const { title: name = formatNames(group.members) } = maps[at] ?? {};
    return [{ ...group, first, name, anchor: at < 0 ? `find-${first.number}` : `map-${at + 1}` }];
  });
}

/** Names the finds of a group of two; a larger one has its number only. */
function formatNames(members: readonly MappedFind[]): string {
  return members.length > 2 ? '' : members.map(({ localId }) => cutName(localId)).join(', ');
}

function cutName(text: string): string {
  const letters = [...text];
  return letters.length > 20 ? `${letters.slice(0, 19).join('')}…` : text;
}

function renderMark(mark: Mark): Html {
  const { members, first, at, name, anchor } = mark;
  return members.length === 1 ? renderFindMark(first, at, name, anchor) : renderGroupMark(mark);
}

/** Renders the members of groups, which are drawn only where the reader opens the group. */
function renderMembers(marks: readonly Mark[], frame: MapFrame): Html[] {
  return marks
    .filter(({ members }) => members.length > 1)
    .flatMap(({ members }) => members)
    .map((find) =>
      renderFindMark(
        find,
        frame.place(find.place.wgs84),
        cutName(find.localId),
        `find-${find.number}`,
        ' member',
      ),
    );
}

function renderFindMark(
  find: MappedFind,
  at: Point,
  name: string,
  anchor: string,
  more = '',
): Html {
  const title = `${find.localId}: ${getStateName(find.state)}\n${formatWgs84(find.place)}\n${formatSJtsk(find.place)}`;
  return html`<a class="mark${more}" href="#${anchor}" tabindex="-1" data-find="${find.number}" data-name="${name}" ${renderPosition(at)}><title>${title}</title><use href="#mark-${find.state}"/></a>
`;
}

function renderGroupMark({ at, members, reach, name, anchor }: Mark): Html {
  const count = members.length;
  const shown = members
    .slice(0, 12)
    .map(({ localId, state }) => `${localId}: ${getStateName(state)}`);
  const lines = [formatReportedFindCount(count), ...shown].join('\n');
  const numbers = members.map(({ number }) => number).join(' ');
  const radius = count < 10 ? 9 : 12;
  return html`<a class="mark stack" href="#${anchor}" tabindex="-1" data-finds="${numbers}" data-name="${name}" data-reach="${roundToTenth(reach)}" ${renderPosition(at)}><title>${lines}${count > shown.length ? '\n…' : ''}</title><g class="shape"><circle class="disc" r="${radius}"/>${renderShares(members, radius)}<text class="count" y="3.6" text-anchor="middle">${count}</text></g></a>
`;
}

/** Renders the ring of a group, an arc per state in proportion to its finds. */
function renderShares(members: readonly MappedFind[], radius: number): Html[] {
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
