import { foldName } from '../names.ts';
import { ANGLE_PARTS, type AnglePart, withoutAngleMark } from '../read-degrees.ts';
import { type ColumnProfile, shareOf } from './column-profile.ts';
import { numberOf } from './value-shapes.ts';

type AngleAxis = 'lon' | 'lat';

/** The columns of one coordinate that stands in several. */
export type AngleColumns = ReadonlyMap<AnglePart, ColumnProfile>;

const AXIS_WORDS: Readonly<Record<AngleAxis, readonly string[]>> = {
  lat: ['lat', 'latitude', 'sirka', 'sirky', 'zs', 'ss', 'n', 'north', 'sev', 's'],
  lon: ['lon', 'long', 'lng', 'longitude', 'delka', 'delky', 'zd', 'vd', 'e', 'east', 'vych', 'd'],
};
const PART_WORDS: Readonly<Record<AnglePart, readonly string[]>> = {
  degrees: ['deg', 'degs', 'degree', 'degrees', 'st', 'stup', 'stupen', 'stupne', 'stupnu', 'd'],
  minutes: ['min', 'mins', 'minute', 'minutes', 'minuta', 'minuty', 'minut', 'm'],
  seconds: ['sec', 'secs', 'second', 'seconds', 'vt', 'vter', 'vterina', 'vteriny', 'vterin', 'sek', 'sekundy', 's'],
};
const MARKS: readonly (readonly [RegExp, AnglePart])[] = [
  [/[°º]/, 'degrees'],
  [/["″”]|''/, 'seconds'],
  [/['′’]/, 'minutes'],
];
/** `latdeg`, `LONs` */
const RUN_TOGETHER = /^(lat|lon|long|lng|zs|zd)(deg|min|sec|st|vt|d|m|s)$/;

/** Degrees of the Czech Republic and what is around it. */
const DEGREES: Readonly<Record<AngleAxis, readonly [least: number, most: number]>> = { lon: [12, 19], lat: [48, 52] };

/** Both coordinates in columns of degrees, minutes and perhaps seconds, by the names of the columns and the numbers in them. */
export function angleColumns(profiles: readonly ColumnProfile[]): Readonly<Record<AngleAxis, AngleColumns>> | undefined {
  const found = { lon: new Map<AnglePart, ColumnProfile>(), lat: new Map<AnglePart, ColumnProfile>() };
  for (const profile of profiles) {
    const named = namedPart(profile.header);
    if (named === undefined || !holds(profile, named)) continue;
    const parts = found[named.axis];
    if (!parts.has(named.part)) parts.set(named.part, profile);
  }
  return isWhole(found.lon) && isWhole(found.lat) ? found : undefined;
}

function isWhole(parts: AngleColumns): boolean {
  return parts.has('degrees') && parts.has('minutes');
}

type NamedPart = { readonly axis: AngleAxis; readonly part: AnglePart };

/** One word of a header, or a mark in it, says the part, and another word the axis: `lat_min`, `š. °`, `stupně délky`. */
function namedPart(header: string): NamedPart | undefined {
  const words = foldName(header.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 '))
    .replace(RUN_TOGETHER, '$1_$2')
    .split('_');
  const mark = MARKS.find(([sign]) => sign.test(header))?.[1];
  if (mark !== undefined) return withAxis(mark, words);
  // The part is said last as a rule; of `s` and `d` only the place tells what they mean.
  const places = [...words.keys()].reverse().sort((a, b) => Number(words[a]?.length === 1) - Number(words[b]?.length === 1));
  for (const place of places) {
    const part = ANGLE_PARTS.find((each) => PART_WORDS[each].includes(words[place] ?? ''));
    if (part !== undefined) return withAxis(part, words.toSpliced(place, 1));
  }
  return undefined;
}

function withAxis(part: AnglePart, words: readonly string[]): NamedPart | undefined {
  const axes = (['lat', 'lon'] as const).filter((axis) => words.some((word) => AXIS_WORDS[axis].includes(word)));
  const [axis, other] = axes;
  return axis === undefined || other !== undefined ? undefined : { axis, part };
}

function holds(profile: ColumnProfile, { axis, part }: NamedPart): boolean {
  const [least, most] = part === 'degrees' ? DEGREES[axis] : [0, 60];
  const share = shareOf(profile, (text) => {
    const value = numberOf(withoutAngleMark(text));
    return value !== undefined && value >= least && value < most;
  });
  return share >= 0.6;
}
