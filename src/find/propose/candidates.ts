import { msgid, ngettext, t } from '../../base/language.ts';
import type { ReadColumn } from '../column-map/column-rule.ts';
import type { ColumnName } from '../columns.ts';
import { FIELDS } from '../fields.ts';
import { readGeomSystem, readTargetState } from '../read-cell.ts';
import { isReadable } from '../reading.ts';
import { type ColumnProfile, shareOf } from './column-profile.ts';
import { type NameFit, nameFit } from './element-names.ts';
import type { Evidence, Knowledge } from './evidence.ts';
import { dateCandidate, depthCandidate, finderCandidate, handedOverCandidate } from './form-candidates.ts';
import { termReason, termShape } from './propose-terms.ts';
import { numberShape, photographShare, positionShare } from './value-shapes.ts';

/** What a column may be: above 1 is as good as certain, below {@link LEAST_SCORE} nothing. */
export type Candidate = {
  readonly element: ColumnName;
  readonly score: number;
  readonly rule: ReadColumn;
  readonly reasons: readonly string[];
  /** Why a person should look at it. */
  readonly doubt?: string;
};

const LEAST_SCORE = 0.45;

type Judge = (profile: ColumnProfile, name: NameFit | undefined, knowledge: Knowledge) => Evidence | undefined;

/** How much the name counts; the evidence of the values is added. */
const WEIGHT_OF_NAME = 0.6;

const JUDGES: Readonly<Partial<Record<ColumnName, Judge>>> = {
  local_id: localId,
  evidencni_cislo: byName(0.05),
  projekt: project,
  hloubka: depthCandidate,
  presna_datace: byName(0),
  pocet: byName(0.1),
  poznamka: byName(0),
  lokalizace: byName(0.05),
  nalezce: finderCandidate,
  datum_nalezu: dateCandidate,
  stav: (profile, name) =>
    name !== undefined && shareOf(profile, (text) => isReadable(readTargetState(text))) > 0.9
      ? { score: 0.3, reasons: [t`its values are 1, 2 or 3`] }
      : undefined,
  predano: handedOverCandidate,
  geom_system: (profile, name) =>
    name !== undefined && shareOf(profile, (text) => isReadable(readGeomSystem(text))) > 0.9
      ? { score: 0.4, reasons: [t`its values name coordinate systems`] }
      : undefined,
  wkt: position,
  photos: photographs,
  ...Object.fromEntries(FIELDS.filter(({ kind }) => kind === 'term').map(({ name, set = '' }) => [name, termOf(set)])),
};

/** Whatever the column may be, best first. Coordinates in columns of their own are found by {@link proposePoint}. */
export function candidatesOf(profile: ColumnProfile, knowledge: Knowledge): Candidate[] {
  if (profile.filled === 0) return [];
  const found = (Object.entries(JUDGES) as [ColumnName, Judge][]).flatMap(([element, judge]): Candidate[] => {
    const name = nameFit(profile.header, element);
    const evidence = judge(profile, name, knowledge);
    if (evidence === undefined) return [];
    const score = WEIGHT_OF_NAME * (name?.score ?? 0) + evidence.score;
    if (score < LEAST_SCORE) return [];
    const { rule, reasons, doubt } = evidence;
    return [
      {
        element,
        score,
        rule: { kind: 'read', element, ...rule },
        reasons: [...(name === undefined ? [] : [nameReason(name)]), ...reasons],
        ...(doubt === undefined ? {} : { doubt }),
      },
    ];
  });
  return found.sort((a, b) => b.score - a.score);
}

function nameReason({ score, like }: NameFit): string {
  return score === 1 ? t`called so` : t`its name is like ‘${like}’`;
}

function byName(score: number): Judge {
  return (_profile, name) => (name === undefined ? undefined : { score, reasons: [] });
}

function localId(profile: ColumnProfile, name: NameFit | undefined): Evidence | undefined {
  const everywhere = profile.filled === profile.rowCount;
  if (name === undefined) return undefined;
  if (profile.unique && everywhere) return { score: 0.3, reasons: [t`every row has one, and no two are the same`] };
  const empty = profile.rowCount - profile.filled;
  const doubt = profile.unique
    ? ngettext(msgid`${empty} row has none and will be left out`, `${empty} rows have none and will be left out`, empty)
    : t`some are there twice and will be left out`;
  return { score: profile.unique ? 0.1 : -0.1, reasons: [], doubt };
}

function project(profile: ColumnProfile): Evidence | undefined {
  const share = shareOf(profile, (text) => /^(?:X-)?[CM]-\d{9}$/.test(text));
  return share < 0.8 ? undefined : { score: 0.7, reasons: [t`its values are identifiers of projects`] };
}

function termOf(set: string): Judge {
  return (profile, name, { lookupTerm }) => {
    const isText = numberShape(profile).share < 0.8;
    // Many different texts that are called otherwise are no terms.
    if (!isText || (name === undefined && profile.values.size > Math.max(20, profile.filled / 2))) return undefined;
    const shape = termShape(profile, set, lookupTerm);
    if (shape === undefined) return name === undefined ? undefined : { score: 0, reasons: [t`${set} was not harvested`] };
    if (set === 'organizace' && shape.found === 0) return undefined;
    if (name === undefined && shape.found < 2) return undefined;
    return { score: shape.found === 0 ? -0.1 : 0.65 * shape.share, reasons: [termReason(shape, set)] };
  };
}

function position(profile: ColumnProfile, name: NameFit | undefined): Evidence | undefined {
  if (positionShare(profile) < 0.6) return undefined;
  const plain = shareOf(profile, (text) => /^point/i.test(text)) > 0.9;
  return {
    score: name === undefined ? 0.6 : 0.5,
    reasons: [t`both coordinates stand in one cell`],
    ...(plain ? {} : { rule: { form: 'position' } }),
  };
}

const SEPARATORS = [';', ',', '|', '+', '\n'] as const;

function photographs(profile: ColumnProfile): Evidence | undefined {
  const share = photographShare(profile);
  if (share < 0.5) return undefined;
  const separator = SEPARATORS.find((mark) => [...profile.values.keys()].some((text) => text.split(mark).length > 1));
  return {
    score: 0.6,
    reasons: [t`its values are names of photographs`],
    ...(separator === undefined || separator === ';' ? {} : { rule: { separator } }),
  };
}
