import { decimal } from '../base/language.ts';
import { type Message, msg } from '../base/message.ts';
import { CENTIMETRES } from '../find/read-cell.ts';
import { foldName } from '../text/names.ts';
import { type ColumnProfile, unreadableDoubt } from './column-profile.ts';
import { type DepthUnit, OPEN_UNIT, type ReadColumn } from './column-rule.ts';
import { type NameScore, unitNamed } from './element-names.ts';
import { type NumberShape, numberOf, numberShape } from './value-shapes.ts';

type DepthEvidence = {
  readonly score: number;
  readonly rule: Pick<ReadColumn, 'unit'>;
  readonly reasons: readonly Message[];
  readonly doubt?: Message;
};

/** Judges a column of depths: the unit is in the header or the cells, or follows from the size of the numbers. */
export function depthCandidate(profile: ColumnProfile, name: NameScore | undefined): DepthEvidence | undefined {
  const all = numberShape([...profile.values]);
  if (name === undefined || all.share < 0.5 || all.least < 0 || all.most > 5000) return undefined;
  const bare = [...profile.values].filter(([text]) => !/\d\s*(?:mm|cm|dm|m)\.?$/i.test(text));
  if (bare.length === 0) return { score: 0.3, rule: { unit: 'cm' }, reasons: [msg`each value names its unit`] };
  const shape = numberShape(bare);
  const { least, most, fractions } = shape;
  const range = fractions ? `${decimal(least, 2)}–${decimal(most, 2)}` : `${least}–${most}`;
  const numbers = bare.flatMap(([text]) => numberOf(text) ?? []);
  const open = (doubt: Message): DepthEvidence => ({ score: 0.2, rule: { unit: OPEN_UNIT }, reasons: [], doubt });
  const doubt = unreadableDoubt(profile, all.share);
  const named = namedUnit(profile.header);
  if (named !== undefined) {
    return numbers.some((value) => isOutOfUnit(value, named))
      ? open(msg`the header says ${named}, but some of ${range} seem to be in another unit. Which unit are they in?`)
      : { score: 0.3, rule: { unit: named }, reasons: [msg`the header says ${named}`], ...(doubt && { doubt }) };
  }
  const unit = unitBySize(shape);
  if (unit === undefined || numbers.some((value) => isOutOfUnit(value, unit)))
    return open(msg`${range}: some seem to be metres and others centimetres. Which unit are they in?`);
  const vague = !fractions && most <= 5 ? msg`${range} may be metres as well` : doubt;
  return { score: 0.2, rule: { unit }, reasons: [SIZE_REASONS[unit](range)], ...(vague && { doubt: vague }) };
}

const SIZE_REASONS: Readonly<Record<Exclude<DepthUnit, 'dm'>, (range: string) => Message>> = {
  m: (range) => msg`${range}: probably metres`,
  cm: (range) => msg`${range}: probably centimetres`,
  mm: (range) => msg`${range}: probably millimetres`,
};

/** Returns the unit that fits all numbers; undefined for `0,3` beside `35`. */
function unitBySize({ least, most, fractions }: NumberShape): keyof typeof SIZE_REASONS | undefined {
  if (!fractions) return most > 1000 ? 'mm' : 'cm';
  if (most <= 10) return 'm';
  return least < 5 ? undefined : 'cm';
}

/** Metres; no find lies deeper. */
const MAX_DEPTH_M = 20;

function isOutOfUnit(value: number, unit: DepthUnit): boolean {
  return (unit === 'm' && value > MAX_DEPTH_M) || (value > 0 && value * CENTIMETRES[unit] < 0.5);
}

function namedUnit(header: string): DepthUnit | undefined {
  const [, ...words] = foldName(header).split('_');
  return words.map(unitNamed).find((unit) => unit !== undefined);
}
