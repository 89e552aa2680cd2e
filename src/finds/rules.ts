import { trimText } from '../base/characters.ts';
import {
  hasErrors,
  type Issue,
  isReadable,
  makeErrorIssue,
  makeWarningIssue,
} from '../base/issue.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import { buildDocument, type FindSchema } from './document.ts';
import { FIELDS, type Field, type FindElements, getPointElement } from './fields.ts';
import type { Find, LookupArea, ProjectLookupResult } from './find.ts';
import { findRangeProblem, type GeomSystem, parsePoint, toWgs84 } from './place/geometry.ts';
import {
  type Finding,
  findRoleRank,
  type Rule,
  type RuleContext,
  VALUE_RULES,
} from './value-rules.ts';

/**
 * Tells if imports into a project may succeed: {@link checkProject} has no error for it. True also
 * where that only warns, and where no projects were harvested.
 */
export function canProjectTakeFinds(ident: string, context: RuleContext): boolean {
  const findings = checkProject({ projekt: { id: ident, text: ident } }, context);
  return findings.every(({ warning }) => warning === true);
}

type FoundProject = Extract<ProjectLookupResult, { kind: 'found' }>;

/**
 * Checks that the find's project is a survey project into which the account may import (A-PROJECT-1
 * to A-PROJECT-7). Facts that may have changed since the harvest, or that this account may not see,
 * give a warning instead of an error. Empty where nothing speaks against the project, where the
 * find has none, and where no projects were harvested.
 */
export function checkProject({ projekt }: FindElements, context: RuleContext): Finding[] {
  const { lookupProject } = context;
  if (projekt === undefined || lookupProject === undefined) return [];
  const { id } = projekt;
  const project = lookupProject(id);
  switch (project.kind) {
    case 'found':
      return checkFoundProject(id, project, context);
    case 'deleted':
      return [makeRefusal(msg`${id} was deleted in the service. Specify an existing project.`)];
    case 'unknown': {
      const message = msg`${id} is not among the harvested projects. Check the spelling; if the project is new, run ${cmd`pas harvest-vocab`} projekt.`;
      return [isWholeList(project.list, context) ? makeRefusal(message) : warnUnverified(message)];
    }
    case 'hidden':
      return [
        warnUnverified(
          msg`The harvest did not show ${id}, so its type and state are not checked. If it was made before you signed in, run ${cmd`pas harvest-vocab`} projekt.`,
        ),
      ];
    case 'not-harvested':
      return [];
  }
}

function checkFoundProject(id: string, project: FoundProject, context: RuleContext): Finding[] {
  if (!project.survey) {
    const message = msg`${id} is a project of the type "${project.type}". Finds belong to survey projects; name one.`;
    return [makeRefusal(message)];
  }
  return [...checkProjectState(id, project, context), ...checkOrganisation(id, project, context)];
}

/** An archaeologist sees every project that accepts finds; a researcher only archived ones. */
function isWholeList(list: 'whole' | 'as-shown' | undefined, context: RuleContext): boolean {
  const rank = findRoleRank(context);
  return list === 'whole' || (list === 'as-shown' && rank !== undefined && rank !== 'researcher');
}

/**
 * States other than 3 and 4, in which every role may import. An ended project (`isOver`) is not
 * reopened.
 */
const STATES: Readonly<Record<number, { readonly name: Message; readonly isOver?: true }>> = {
  [-1]: { name: msg`created` },
  0: { name: msg`announced` },
  1: { name: msg`registered` },
  2: { name: msg`signed up` },
  5: { name: msg`closed`, isOver: true },
  6: { name: msg`archived`, isOver: true },
  7: { name: msg`proposed for cancellation` },
  8: { name: msg`cancelled`, isOver: true },
};

function checkProjectState(id: string, { stav }: FoundProject, context: RuleContext): Finding[] {
  const state = STATES[stav ?? 3];
  const rank = findRoleRank(context);
  if (state === undefined || (rank === 'archivist' && stav !== -1)) return [];
  const message = msg`${id} is in the state "${state.name}". The service accepts finds only for projects that have started in the field and are not closed. If its state has changed: ${cmd`pas harvest-vocab`} projekt`;
  const finding =
    state.isOver && rank !== undefined ? makeRefusal(message) : warnUnverified(message);
  return [{ ...finding, rule: 'project-state' }];
}

/** The partners of an archaeologist are not known offline, so this is a warning. */
function checkOrganisation(
  id: string,
  { organisation: of }: FoundProject,
  context: RuleContext,
): Finding[] {
  const { organisation: ownOrganisation = '' } = context;
  if (
    findRoleRank(context) !== 'archaeologist' ||
    ownOrganisation === '' ||
    of === '' ||
    of === ownOrganisation
  )
    return [];
  const message = msg`${id} belongs to ${of}, you to ${ownOrganisation}. The service accepts the find only if you cooperate with an archaeologist of ${of}.`;
  return [{ ...warnUnverified(message), rule: 'project-organisation' }];
}

function makeRefusal(message: Message): Finding {
  return { element: 'projekt', message };
}

function warnUnverified(message: Message): Finding {
  return { element: 'projekt', message, warning: true };
}

/**
 * A box around Czechia, in degrees of WGS 84, with a margin of a few kilometres: no point outside
 * is in a cadastral area.
 */
export const COUNTRY = { minLon: 12.0, maxLon: 18.95, minLat: 48.5, maxLat: 51.1 };

/** Checks form, range and area of the point (A-POINT-1 to A-POINT-6). */
function checkPoint(elements: FindElements, { lookupArea }: RuleContext): Finding[] {
  const { geom_system: system } = elements;
  if (system === undefined) return [];
  const element = getPointElement(system);
  const wkt = trimText(elements[element] ?? '');
  if (wkt === '') return [];
  const reading = parsePoint(wkt);
  if (!isReadable(reading)) return [{ element, message: reading.problem }];
  const numbers = [Number(reading.value.x), Number(reading.value.y)] as const;
  const problem = findRangeProblem(system, ...numbers);
  if (problem !== undefined) return [{ element, message: problem, rule: 'geometry-range' }];
  const findings: Finding[] = [];
  if (system === '4326' && numbers.every(Number.isInteger)) {
    const message = msg`${wkt} has whole degrees only. Check that no minutes or decimals were lost.`;
    findings.push({ element, message, rule: 'geometry-range', warning: true });
  }
  const outside = findAreaProblem(system, numbers, lookupArea);
  if (outside !== undefined) findings.push({ element, ...outside, rule: 'geometry-area' });
  return findings;
}

/**
 * The service refuses a point outside all cadastral areas in every state, even where no point is
 * required.
 */
function findAreaProblem(
  system: GeomSystem,
  numbers: readonly [number, number],
  lookupArea: LookupArea | undefined,
): { readonly message: Message; readonly warning: boolean } | undefined {
  const [lon, lat] = system === '4326' ? numbers : toWgs84(numbers);
  const areaLookup = lookupArea?.(lon, lat) ?? { kind: 'not-harvested' };
  const place = `${lon.toFixed(5)} ${lat.toFixed(5)}`;
  switch (areaLookup.kind) {
    case 'inside':
      return undefined;
    case 'outside':
      return {
        message: msg`The point ${place} is not in any known cadastral area. Check the coordinates.`,
        warning: false,
      };
    case 'not-harvested': {
      const inCountry =
        lon >= COUNTRY.minLon &&
        lon <= COUNTRY.maxLon &&
        lat >= COUNTRY.minLat &&
        lat <= COUNTRY.maxLat;
      const message = msg`The point ${place} is outside Czechia. Check the coordinates and their order.`;
      return inCountry ? undefined : { message, warning: true };
    }
  }
}

/** Blank texts and references without an identifier count as absent, as at the service. */
function isPresent(elements: FindElements, name: Field['name']): boolean {
  const value = elements[name];
  if (value === undefined) return false;
  if (typeof value === 'object') return value.id.trim() !== '';
  return typeof value !== 'string' || trimText(value) !== '';
}

function checkRequiredElements(elements: FindElements): Finding[] {
  const state = elements.stav ?? 1;
  return FIELDS.flatMap(({ name, kind, gloss, requiredFrom }): Finding[] => {
    const isRequired = kind !== 'point' && requiredFrom !== undefined && requiredFrom <= state;
    if (!isRequired || isPresent(elements, name)) return [];
    const lower = requiredFrom - 1;
    const message =
      requiredFrom === 1
        ? msg`Every find needs ${name} (${gloss}). Fill it in.`
        : msg`A find for state ${state} needs ${name} (${gloss}). Fill it in, or choose state ${lower}.`;
    return [{ element: name, message }];
  });
}

/** A point in the other element does not count: `geom_system` selects one (A-POINT-10). */
function checkRequiredPoint(elements: FindElements): Finding[] {
  const { geom_system: system, stav = 1 } = elements;
  if (system === undefined || stav < 2 || isPresent(elements, getPointElement(system))) return [];
  const element = getPointElement(system);
  const other = getPointElement(system === '4326' ? '5514' : '4326');
  const message = isPresent(elements, other)
    ? msg`geom_system says ${system}, but the point is in ${other}. Correct geom_system, or give the point in ${system}.`
    : msg`A find for state ${stav} needs a point in ${element}. Fill in its coordinates, or choose state 1.`;
  return [{ element, message }];
}

/** Message of the rule `handed-over`. */
export const HANDOVER_REQUIRED: Message = msg`A find for state 3 must be handed over. Set predano to true, or choose state 2.`;

/** An absent element is reported by {@link checkRequiredElements}. */
function checkHandover({ stav, predano }: FindElements): Finding[] {
  if (stav !== 3 || predano !== false) return [];
  return [{ element: 'predano', message: HANDOVER_REQUIRED }];
}

/** A Researcher imports into state 1 only (A-PROJECT-2). */
function checkRoleForState({ stav = 1 }: FindElements, context: RuleContext): Finding[] {
  if (stav === 1 || findRoleRank(context) !== 'researcher') return [];
  const message = msg`Your role is Researcher, which may import into state 1 only. Choose state 1, or ask an archaeologist to import it. If the account now has another role: ${cmd`pas whoami`}`;
  return [{ element: 'stav', message }];
}

/** All rules, in the order of their findings. */
export const RULES: readonly Rule[] = [
  { name: 'required', judge: checkRequiredElements },
  { name: 'geometry-required', judge: checkRequiredPoint },
  { name: 'handed-over', judge: checkHandover },
  { name: 'role-state', judge: checkRoleForState },
  ...VALUE_RULES,
  { name: 'survey-project', judge: checkProject },
  { name: 'geometry-form', judge: checkPoint },
];

/**
 * Checks a find by the {@link RULES} for its target state and returns every finding as an issue
 * with the find's position in its table; empty where it obeys them all. The schema is not used
 * here, but by {@link validateFind}.
 */
export function checkFindByRules(find: Find, context: RuleContext): readonly Issue[] {
  const issues: Issue[] = [];
  for (const rule of RULES) {
    for (const finding of rule.judge(find.elements, context, find.localId))
      issues.push(toIssue(rule, finding, find));
  }
  return issues;
}

function toIssue(
  brokenRule: Rule,
  { element, message, warning, rule = brokenRule.name }: Finding,
  { localId, source, getColumn }: Find,
): Issue {
  const column = element === undefined ? undefined : getColumn?.(element);
  const where = { find: localId, ...source, element, column };
  return warning ? makeWarningIssue(rule, message, where) : makeErrorIssue(rule, message, where);
}

/** Data for the rules, and the schema of the profile. */
export type ValidationContext = RuleContext & { readonly schema: FindSchema };

/** `document` is what may be sent if, and only if, `issues` holds no error. */
export type ValidatedFind = { readonly document: Buffer; readonly issues: readonly Issue[] };

/**
 * Checks a find by the rules, builds its document, and validates these bytes, which are stored and
 * sent as they are, by the schema. The schema is used only where the rules find no error, since it
 * would report the same errors again.
 */
export function validateFind(find: Find, context: ValidationContext): ValidatedFind {
  const { schema } = context;
  const issues = checkFindByRules(find, context);
  const document = buildDocument(find, schema.profile);
  if (hasErrors(issues)) return { document, issues };
  const { localId, source } = find;
  const violations = schema
    .check(document)
    .map((issue) => issue.with({ find: localId, ...source }));
  return { document, issues: [...issues, ...violations] };
}
