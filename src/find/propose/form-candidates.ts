import { decimal, t } from '../../base/language.ts';
import { type DepthUnit, keyForm, type NameOrder } from '../column-map/column-rule.ts';
import { DAY_NUMBER } from '../column-map/date-form.ts';
import { foldName } from '../names.ts';
import { readBoolean } from '../read-cell.ts';
import { isReadable } from '../reading.ts';

import { type ColumnProfile, shareOf } from './column-profile.ts';
import type { NameFit } from './element-names.ts';
import type { Evidence, Knowledge } from './evidence.ts';
import { GIVEN_NAMES } from './given-names.ts';
import { dateShape, numberShape } from './value-shapes.ts';

/** Evidence of elements whose values have a form: measures, days, people, yes and no. */

export function depthCandidate(profile: ColumnProfile, name: NameFit | undefined): Evidence | undefined {
  const { share, least, most, fractions } = numberShape(profile);
  if (name === undefined || share < 0.5 || least < 0 || most > 5000) return undefined;
  const range = fractions ? `${decimal(least, 2)}–${decimal(most, 2)}` : `${least}–${most}`;
  const named = namedUnit(profile.header);
  if (named !== undefined) return { score: 0.3, rule: { unit: named }, reasons: [t`the header says ${named}`] };
  if (fractions && most <= 10) return { score: 0.2, rule: { unit: 'm' }, reasons: [t`${range}: probably metres`] };
  if (most > 1000) return { score: 0.2, rule: { unit: 'mm' }, reasons: [t`${range}: probably millimetres`] };
  const isVague = !fractions && most <= 5;
  return {
    score: 0.2,
    rule: { unit: 'cm' },
    reasons: [t`${range}: probably centimetres`],
    ...(isVague ? { doubt: t`${range} may be metres as well` } : {}),
  };
}

function namedUnit(header: string): DepthUnit | undefined {
  const words = foldName(header).split('_').slice(1);
  return (['mm', 'cm', 'dm', 'm'] as const).find((unit) => words.includes(unit));
}

export function dateCandidate(profile: ColumnProfile, name: NameFit | undefined): Evidence | undefined {
  const shape = dateShape(profile);
  if (shape === undefined || (name === undefined && shape.share < 0.9)) return undefined;
  const { form, share, ambiguous, years } = shape;
  const written = form === DAY_NUMBER ? t`day numbers of a spreadsheet` : t`days of the form ${form}`;
  return {
    score: share > 0 ? 0.5 : 0.3,
    rule: { date: form, ...(years > 0 ? { yearOnly: 'note' } : {}) },
    reasons: [...(share > 0 ? [written] : []), ...(years > 0 ? [t`a year alone is no day: it is kept in the note`] : [])],
    ...(ambiguous ? { doubt: t`nothing tells the day from the month; the day is taken to come first` } : {}),
  };
}

const PERSON = /^(?:\p{L}+\.\s+)*\p{Lu}[\p{L}'.-]*,?\s+\p{Lu}[\p{L}'.-]*/u;

export function finderCandidate(profile: ColumnProfile, name: NameFit | undefined, knowledge: Knowledge): Evidence | undefined {
  const persons = shareOf(profile, (text) => PERSON.test(text) || /^OS-\d+$/.test(text));
  if (name === undefined || persons < 0.3) return undefined;
  const order = nameOrder(profile, knowledge);
  if (order === undefined) return { score: 0.3 * persons, reasons: [t`its values are names of people`] };
  const written = order === 'surname-first' ? t`surname first` : t`given name first`;
  return { score: 0.3 * persons, rule: { name: order }, reasons: [t`names of people, ${written}`] };
}

/** Undefined where all stand with a comma. */
function nameOrder({ values }: ColumnProfile, { lookupTerm }: Knowledge): NameOrder | undefined {
  let [surnameFirst, givenFirst] = [0, 0];
  const isKnown = (surname: string, given: string): boolean => lookupTerm('osoba', `${surname}, ${given}`).kind === 'found';
  for (const text of [...values.keys()].slice(0, 100)) {
    const [first = '', second = '', more] = text.replace(/^(?:\p{L}{1,4}\.\s+)+/u, '').split(/\s+/);
    if (text.includes(',') || second === '' || more !== undefined) continue;
    if (GIVEN_NAMES.has(foldName(second)) || /ova$/.test(foldName(first)) || /^\p{Lu}\.$/u.test(second) || isKnown(first, second))
      surnameFirst += 1;
    else if (
      GIVEN_NAMES.has(foldName(first)) ||
      /ova$/.test(foldName(second)) ||
      /^\p{Lu}\.$/u.test(first) ||
      isKnown(second, first)
    )
      givenFirst += 1;
  }
  if (surnameFirst + givenFirst === 0) return undefined;
  return surnameFirst >= givenFirst ? 'surname-first' : 'given-first';
}

/** Short words for yes and no that are not read by themselves. */
const OWN_WORDS: Readonly<Record<string, string>> = { a: 'ano', n: 'ne', x: 'ano', '+': 'ano', '-': 'ne', y: 'ano' };

export function handedOverCandidate(profile: ColumnProfile, name: NameFit | undefined): Evidence | undefined {
  if (name === undefined) return undefined;
  const own = [...new Set([...profile.values.keys()].map(keyForm))].filter((text) => Object.hasOwn(OWN_WORDS, text));
  const share = shareOf(profile, (text) => isReadable(readBoolean(text)) || own.includes(keyForm(text)));
  if (share < 0.9) return undefined;
  const values = Object.fromEntries(own.map((text) => [text, OWN_WORDS[text] ?? '']));
  return { score: 0.3, reasons: [t`its values mean yes or no`], ...(own.length === 0 ? {} : { rule: { values } }) };
}
