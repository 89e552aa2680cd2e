import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { normalizeId } from '../../base/characters.ts';
import { splitNames } from '../../base/csv.ts';
import { hasErrors, type Issue, isReadable, type Reading } from '../../base/issue.ts';
import { t } from '../../base/language.ts';
import {
  type ColumnName,
  type FindElements,
  getPointElement,
  POINT_ELEMENTS,
} from '../../finds/fields.ts';
import type { Find } from '../../finds/find.ts';
import { formatPoint, toWgs84 } from '../../finds/place/geometry.ts';
import { formatPosition, type Position, parsePosition } from '../../finds/place/read-position.ts';
import { getElementNames, type Question, type QuestionName } from '../../finds/questions.ts';
import { checkRules } from '../../finds/rules.ts';
import { NOT_HARVESTED, type RuleContext } from '../../finds/value-rules.ts';
import type { PhotographKeeping } from '../../outbox/changes/kept-photographs.ts';
import { applyColumnRule } from '../../tables/columns/column-rule.ts';
import type { RowContext } from '../../tables/columns/map-row.ts';
import { findKeyProblem } from '../../tables/columns/map-table.ts';
import { isOfPoint, orderElements, parseSettings } from '../../tables/columns/settings.ts';

export type AnswerContext = RowContext &
  RuleContext & {
    /** Base folder of file names. */
    readonly folder: string;
    readonly isTaken: (localId: string) => boolean;
    readonly inspectPhotograph: PhotographKeeping['inspectPhotograph'];
    readonly readPhotoPosition: (path: string) => Promise<Reading<Position>>;
  };

/** The find with the answer, or the reason why it is not accepted. */
export type Answer =
  | {
      readonly find: Find;
      /** Oddity that a person must confirm before the answer counts. */
      readonly doubt?: string;
      /** Notes that are no faults. */
      readonly remarks: readonly string[];
    }
  | { readonly problem: string };

/** Reads one answer like the cell of a table, and checks it by every rule that concerns it. */
export async function parseAnswer(
  question: Question,
  text: string,
  find: Find,
  context: AnswerContext,
): Promise<Answer> {
  switch (question.name) {
    case 'local_id':
      return parseLocalId(normalizeId(text), find, context);
    case 'photos':
      return parsePhotos(text, find, context);
    case 'point':
      return parsePointAnswer(text, find, context);
    default: {
      const value =
        question.name === 'hloubka' && DEPTH_WITH_UNIT.test(text)
          ? toCentimetres(text)
          : text.trim();
      const settled = parseSettings(
        [{ name: question.name, givenName: question.name, value }],
        find.localId,
        context,
      );
      if (hasErrors(settled.issues)) return { problem: joinIssueMessages(settled.issues) };
      const answer = judgeAnswer(
        question.name,
        replaceElements(find, [question.name], settled.elements),
        context,
      );
      if ('problem' in answer) return answer;
      const issueLines = settled.issues.map(({ message }) => `! ${message}`);
      const converted = value === text.trim() ? [] : [`→ ${value} cm`];
      return { ...answer, remarks: [...converted, ...issueLines, ...answer.remarks] };
    }
  }
}

/**
 * Removes the answer to this question. The coordinate system is required even without a point, and
 * a stated one stays.
 */
export function withoutAnswer({ name }: Question, find: Find): Find {
  if (name === 'photos') return { ...find, photos: [] };
  if (name !== 'point') return replaceElements(find, [name], {});
  const { geom_system: stated = '4326', geom_wkt, geom_sjtsk_wkt } = find.elements;
  const hasPoint = geom_wkt !== undefined || geom_sjtsk_wkt !== undefined;
  return replaceElements(find, POINT_ELEMENTS, { geom_system: hasPoint ? '4326' : stated });
}

/** Replaces what the named columns fill; a point is replaced as a whole. */
export function replaceElements(
  find: Find,
  columns: readonly ColumnName[],
  elements: FindElements,
): Find {
  const replaced = new Set<string>(
    columns.some(isOfPoint) ? [...columns, ...POINT_ELEMENTS] : columns,
  );
  const kept = Object.entries(find.elements).filter(([element]) => !replaced.has(element));
  return { ...find, elements: orderElements({ ...Object.fromEntries(kept), ...elements }) };
}

function parseLocalId(name: string, find: Find, { isTaken }: AnswerContext): Answer {
  const problem = findKeyProblem(name);
  if (problem !== undefined) return { problem: String(problem) };
  if (name !== find.localId && isTaken(name))
    return { problem: t`There is already a find ${name}.` };
  return { find: { ...find, localId: name }, remarks: [] };
}

async function parsePhotos(text: string, find: Find, context: AnswerContext): Promise<Answer> {
  const photos: string[] = [];
  const remarks: string[] = [];
  for (const name of splitNames(text).map(withoutQuotes)) {
    if (name === '') continue;
    const path = resolve(context.folder, name);
    const { photograph, issues } = await context.inspectPhotograph(path);
    if (hasErrors(issues)) return { problem: joinIssueMessages(issues) };
    photos.push(photograph?.source ?? path);
    remarks.push(...issues.map(({ message }) => message));
  }
  return { find: { ...find, photos: [...new Set(photos)] }, remarks };
}

async function parsePointAnswer(text: string, find: Find, context: AnswerContext): Promise<Answer> {
  const path = resolve(context.folder, withoutQuotes(text));
  const isPhoto = await stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
  const reading = isPhoto ? await context.readPhotoPosition(path) : parsePosition(text);
  if (!isReadable(reading)) return { problem: String(reading.problem) };
  const { value } = reading;
  const answer = judgeAnswer('point', withPosition(find, value), context);
  if ('problem' in answer) return answer;
  const area = findAreaLabel(value, context);
  return {
    ...answer,
    remarks: [
      `→ ${formatPosition(value)}${area === undefined ? '' : `, ${area}`}`,
      ...answer.remarks,
    ],
    doubt: value.doubt && String(value.doubt),
  };
}

/** Replaces the coordinate system and the point; the point in the other system is removed. */
export function withPosition(find: Find, { system, point }: Position): Find {
  const elements = { geom_system: system, [getPointElement(system)]: formatPoint(point) };
  return replaceElements(find, POINT_ELEMENTS, elements);
}

function findAreaLabel(
  { system, point }: Position,
  { lookupArea }: RuleContext,
): string | undefined {
  const numbers = [Number(point.x), Number(point.y)] as const;
  const areaLookup = lookupArea?.(...(system === '4326' ? numbers : toWgs84(numbers)));
  return areaLookup?.kind === 'inside' ? areaLookup.area.label : undefined;
}

/** Reports only issues of this answer; missing elements are reported at the end. */
function judgeAnswer(name: QuestionName, find: Find, context: AnswerContext): Answer {
  const concerned = new Set<string>(getElementNames(name));
  const issues = checkRules(find, context).filter(
    ({ element, rule }) =>
      element !== undefined && concerned.has(element) && !ABOUT_ABSENCE.includes(rule),
  );
  const errors = issues.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) return { problem: joinIssueMessages(errors) };
  // Unchecked identifiers were reported with the suggestions.
  const odd = issues.filter(({ rule }) => rule !== NOT_HARVESTED);
  return { find, remarks: odd.map(({ message }) => `! ${message}`) };
}

/** Rules about missing elements. */
export const ABOUT_ABSENCE: readonly string[] = ['required', 'geometry-required'];

const DEPTH_WITH_UNIT = /\d\s*(?:mm|cm|dm|m)\.?\s*$/i;

function toCentimetres(text: string): string {
  return applyColumnRule(text, { element: 'hloubka', unit: 'cm' });
}

function joinIssueMessages(issues: readonly Issue[]): string {
  return issues.map(({ message }) => message).join(' ');
}

/** File names from drag and drop are quoted, or have escaped blanks. */
function withoutQuotes(name: string): string {
  const text = name.trim();
  return /^'.*'$|^".*"$/.test(text) ? text.slice(1, -1) : text.replace(/\\ /g, ' ');
}
