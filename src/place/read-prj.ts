import type { GeomSystem } from './geometry.ts';

/** Folded names of the two systems in well-known text, as ESRI, GDAL and EPSG write them. */
const SYSTEM_NAMES: Readonly<Record<GeomSystem, readonly string[]>> = {
  '4326': ['gcswgs1984', 'wgs84', 'wgs1984', 'wgs84longlat'],
  '5514': ['sjtskkrovakeastnorth', 'sjtskgreenwichkrovakeastnorth'],
};

/** Kind and name of the outermost system. */
const HEAD = /^\s*([A-Z]+)\s*[[(]\s*"([^"]*)"/i;

/**
 * Returns the system that a `.prj` describes, by its outermost name; undefined for every other. It
 * distinguishes a projected system from the geographic one inside it, and one with shifted or
 * rotated axes from the one whose name it has.
 */
export function parseSystemOfPrj(prj: string): GeomSystem | undefined {
  const [, kind = '', name = ''] = HEAD.exec(prj) ?? [];
  const isProjected = /^PROJ/i.test(kind);
  if (!isProjected && !/^GEOG/i.test(kind)) return undefined;
  const system = isProjected ? '5514' : '4326';
  const folded = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return SYSTEM_NAMES[system].includes(folded) && !isMoved(prj) ? system : undefined;
}

/** Returns the name of the system in the file, for messages. */
export function parseNameOfPrj(prj: string): string {
  const name = HEAD.exec(prj)?.[2] ?? '';
  return name === '' ? prj.trim().slice(0, 60) : name;
}

/**
 * Tells if the axes are shifted: from Greenwich, in degrees; EPSG:5514 has no false origin, both
 * axes negative, and metres.
 */
function isMoved(prj: string): boolean {
  const parameters = [...prj.matchAll(/PARAMETER\s*\[\s*"([^"]+)"\s*,\s*([-+.\deE]+)/gi)].map(
    ([, name = '', value]) => [name.toLowerCase().replaceAll(' ', '_'), Number(value)] as const,
  );
  const units = [...prj.matchAll(/UNIT\s*\[\s*"[^"]*"\s*,\s*([-+.\deE]+)/gi)].map(([, value]) =>
    Number(value),
  );
  const isScaled = /^\s*PROJ/i.test(prj)
    ? (units.at(-1) ?? 1) !== 1
    : units.length > 0 && !units.some((unit) => Math.abs(unit - Math.PI / 180) < 1e-9);
  const isFromElsewhere =
    Number(/PRIMEM\s*\[\s*"[^"]*"\s*,\s*([-+.\deE]+)/i.exec(prj)?.[1] ?? 0) !== 0;
  const expected: Readonly<Record<string, number>> = {
    false_easting: 0,
    false_northing: 0,
    x_scale: -1,
    y_scale: 1,
    xy_plane_rotation: 90,
  };
  return (
    isScaled ||
    isFromElsewhere ||
    parameters.some(([name, value]) => expected[name] !== undefined && expected[name] !== value)
  );
}
