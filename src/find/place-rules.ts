import { t } from '../base/language.ts';
import { toWgs84 } from '../geo/project.ts';
import { pointElement } from './fields.ts';
import type { ElementName, FindElements, GeomSystem } from './find.ts';
import { findRangeProblem, parsePoint, pointNumbers } from './geometry.ts';
import type { TermCandidate } from './lookup.ts';
import { isReadable } from './reading.ts';
import type { Finding, Rule, RuleContext } from './rule.ts';
import { CONVERTED_WITHIN_M } from './same-place.ts';

/** A box around Czechia, a few kilometres wide of it: outside there is no cadastral area for certain. */
const COUNTRY = { minLon: 12.0, maxLon: 18.95, minLat: 48.5, maxLat: 51.1 };

/** What the service asks of the point (contract, "Find import document", rules 2 and 3; service facts 4.5). */
export const PLACE_RULES: readonly Rule[] = [
  { name: 'geometry-form', judge: plainPoint },
  { name: 'geometry-range', judge: convertiblePoint },
  { name: 'geometry-area', judge: pointInArea },
];

type Selected = { readonly element: ElementName; readonly system: GeomSystem; readonly wkt: string };

function selectedPoint(elements: FindElements): Selected | undefined {
  const { geom_system: system } = elements;
  if (system === undefined) return undefined;
  const element = pointElement(system);
  const wkt = elements[element]?.trim() ?? '';
  return wkt === '' ? undefined : { element, system, wkt };
}

function plainPoint(elements: FindElements): Finding[] {
  const point = selectedPoint(elements);
  const reading = point && parsePoint(point.wkt);
  return point === undefined || reading === undefined || isReadable(reading)
    ? []
    : [{ element: point.element, message: reading.problem }];
}

function convertiblePoint(elements: FindElements): Finding[] {
  const point = selectedPoint(elements);
  const numbers = point && pointNumbers(point.wkt);
  const problem = point && numbers && findRangeProblem(point.system, ...numbers);
  return point === undefined || problem === undefined ? [] : [{ element: point.element, message: problem }];
}

/** The service refuses a point in no cadastral area in every state, also where it would not need a point. */
function pointInArea(elements: FindElements, { lookupArea }: RuleContext): Finding[] {
  const point = selectedPoint(elements);
  const numbers = point && pointNumbers(point.wkt);
  if (point === undefined || numbers === undefined || findRangeProblem(point.system, ...numbers) !== undefined) return [];
  const [lon, lat] = point.system === '4326' ? numbers : toWgs84(numbers);
  const found = lookupArea?.(lon, lat) ?? { kind: 'not-harvested' };
  if (found.kind === 'inside') return [];
  const place = `${lon.toFixed(5)} ${lat.toFixed(5)}`;
  switch (found.kind) {
    case 'outside': {
      const { nearest, distanceM } = found;
      const where = nearest === undefined ? '' : nearestText(nearest, distanceM);
      const message = t`The point ${place} lies in no known cadastral area.${where} Check the coordinates.`;
      // The service, which converts it by other means, may find it inside.
      const isOpen = point.system === '5514' && distanceM !== undefined && distanceM <= CONVERTED_WITHIN_M;
      return [{ element: point.element, message, ...(isOpen && { warning: true }) }];
    }
    case 'not-harvested': {
      const inCountry = lon >= COUNTRY.minLon && lon <= COUNTRY.maxLon && lat >= COUNTRY.minLat && lat <= COUNTRY.maxLat;
      const message = t`The point ${place} lies outside Czechia. Check the coordinates and their order.`;
      return inCountry ? [] : [{ element: point.element, message, warning: true }];
    }
  }
}

function nearestText(nearest: TermCandidate, distanceM: number | undefined): string {
  const named = `${nearest.label} (${nearest.id})`;
  if (distanceM === undefined) return t` The nearest is ${named}.`;
  const distance = distanceM < 10_000 ? `${Math.round(distanceM)} m` : `${Math.round(distanceM / 1000)} km`;
  return t` The nearest is ${named}, ${distance} away.`;
}
