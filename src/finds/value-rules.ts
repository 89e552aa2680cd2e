import {
  formatCodePoint,
  INVISIBLE_CHARACTER,
  normalizeRegistrationNumber,
  trimText,
} from '../base/characters.ts';
import { UsageError } from '../base/errors.ts';
import { makeRuleProblem, type RuleProblem } from '../base/issue.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import { findCharacterIllegalInXml } from '../base/xml/build.ts';
import { type ElementName, FIELDS, type Field, type FindElements, NEW_PERSON } from './fields.ts';
import type {
  LookupArea,
  LookupNumber,
  LookupProject,
  LookupTerm,
  TermLookupResult,
} from './find.ts';
import { findDayDoubt, isRealDate } from './parse-cell.ts';
import {
  explainFailedLookup,
  findPersonNameDoubt,
  findPersonNameProblem,
  formatVocabularySet,
} from './resolve-references.ts';

/** PostgreSQL's largest integer, the type of the depth at the service (A-VALUE-3). */
export const MAX_DEPTH_CM = 2_147_483_647;

/** Rule of the error that another find has a find's number. */
export const NUMBER_USED = 'number-used';

/** Requirements for values in every state (A-VALUE-1 to A-VALUE-7). */
export const VALUE_RULES: readonly Rule[] = [
  { name: 'text-characters', judge: checkCharacters },
  { name: 'number-form', judge: checkNumberForm },
  { name: NUMBER_USED, judge: checkNumberUse },
  { name: 'depth-range', judge: checkDepthRange },
  { name: 'date', judge: checkRealDate },
  { name: 'date-plausible', judge: checkPlausibleDate },
  { name: 'finder-name', judge: checkFinderName },
  { name: 'vocabulary', judge: checkReferences },
];

function checkCharacters(elements: FindElements): Finding[] {
  const findings: Finding[] = [];
  for (const { name } of FIELDS) {
    const character = findElementIllegalCharacter(elements[name]);
    if (character === undefined) continue;
    const code = formatCodePoint(character);
    findings.push({
      element: name,
      message: msg`${name} contains the character ${code}, which XML does not allow. Remove it.`,
    });
  }
  return findings;
}

function findElementIllegalCharacter(value: FindElements[Field['name']]): string | undefined {
  if (typeof value === 'object')
    return findElementIllegalCharacter(value.id) ?? findElementIllegalCharacter(value.text);
  return typeof value === 'string'
    ? findCharacterIllegalInXml(value.includes('\r') ? value.replaceAll('\r', '') : value)
    : undefined;
}

/** Limit for a registration number, in code points. */
export const MAX_NUMBER_CHARACTERS = 255;

/**
 * Explains why a trimmed registration number cannot be assigned: it is too long (A-NUMBER-2), or
 * has a character that cannot be seen. Undefined where it can be, and for an empty one. Finds that
 * have the number already are not searched for.
 */
export function findNumberProblem(value: string): RuleProblem | undefined {
  const characters = [...value].length;
  if (characters > MAX_NUMBER_CHARACTERS) {
    const problem = msg`The number has ${characters} characters; the service accepts at most ${MAX_NUMBER_CHARACTERS}. Shorten it.`;
    return makeRuleProblem('number-length', problem);
  }
  return findUnseenCharacter(value);
}

/**
 * Parses a typed registration number into the form in which it is stored and sent (A-NUMBER-2), see
 * {@link normalizeRegistrationNumber}.
 * @throws UsageError where it is empty, or {@link findNumberProblem} has a problem with it
 */
export function parseRegistrationNumber(rawValue: string): string {
  const value = normalizeRegistrationNumber(rawValue);
  if (value === '')
    throw new UsageError(msg`The registration number is empty.`, {
      hint: msg`A number cannot be removed, only changed.`,
    });
  const unfit = findNumberProblem(value);
  if (unfit !== undefined) throw new UsageError(unfit.problem);
  return value;
}

/** By a character that cannot be seen, two numbers would look equal and differ. */
function findUnseenCharacter(value: string): RuleProblem | undefined {
  const index = value.search(INVISIBLE_CHARACTER);
  if (index === -1) return undefined;
  const code = formatCodePoint(value.slice(index));
  const before = value.slice(0, index);
  return makeRuleProblem(
    'number-form',
    msg`The number contains the invisible character ${code} after "${before}". Remove it.`,
  );
}

/**
 * Explains that another find or record has a registration number; undefined where none has it,
 * where it is empty, and where the context has no `lookupNumber`.
 * @param find local id or record that the number is for, which does not count
 */
export function findUsedNumberProblem(
  value: string,
  find: string,
  { lookupNumber }: Pick<RuleContext, 'lookupNumber'>,
): RuleProblem | undefined {
  const number = normalizeRegistrationNumber(value);
  const other = number === '' ? undefined : lookupNumber?.(number, find);
  if (other === undefined) return undefined;
  const problem = msg`${number} is also the number of ${other}. Give each find its own.`;
  return makeRuleProblem(NUMBER_USED, problem);
}

/**
 * Checks that a number is one visible line. Characters that XML cannot hold are reported by another
 * rule.
 */
function checkNumberForm({ evidencni_cislo: number = '' }: FindElements): Finding[] {
  const unseen =
    findElementIllegalCharacter(number) === undefined
      ? findUnseenCharacter(trimText(number))
      : undefined;
  return toFindings('evidencni_cislo', unseen?.problem);
}

function checkNumberUse(
  { evidencni_cislo: number = '' }: FindElements,
  context: RuleContext,
  find: string,
): Finding[] {
  const used = findUsedNumberProblem(number, find, context);
  return toFindings('evidencni_cislo', used?.problem);
}

function checkDepthRange({ hloubka: depthCm }: FindElements): Finding[] {
  if (
    depthCm === undefined ||
    (Number.isInteger(depthCm) && depthCm >= 0 && depthCm <= MAX_DEPTH_CM)
  )
    return [];
  const message = msg`hloubka must be a whole number of centimetres below the surface, 0 to ${MAX_DEPTH_CM}.`;
  return [{ element: 'hloubka', message }];
}

function checkRealDate({ datum_nalezu: date }: FindElements): Finding[] {
  if (date === undefined || trimText(date) === '' || isRealDate(date)) return [];
  return [
    {
      element: 'datum_nalezu',
      message: msg`"${date}" is not a calendar date. Write YYYY-MM-DD, without a time or time zone.`,
    },
  ];
}

function checkPlausibleDate(
  { datum_nalezu: date }: FindElements,
  { today }: RuleContext,
): Finding[] {
  if (date === undefined || !isRealDate(date)) return [];
  const doubt = findDayDoubt(date, today);
  return toFindings('datum_nalezu', doubt, true);
}

function checkFinderName({ nalezce }: FindElements): Finding[] {
  if (nalezce?.id !== NEW_PERSON) return [];
  const problem = findPersonNameProblem(nalezce.text);
  if (problem !== undefined) return [{ element: 'nalezce', message: problem }];
  const doubt = findPersonNameDoubt(nalezce.text);
  return toFindings('nalezce', doubt, true);
}

function toFindings(
  element: ElementName,
  message: Message | undefined,
  warning?: boolean,
): Finding[] {
  return message === undefined ? [] : [{ element, message, warning }];
}

/**
 * Checks that each identifier is `HES-<digits>`, not a label or an address (S-SERVICE-4), and that
 * its vocabulary has it.
 */
function checkReferences(elements: FindElements, { lookupTerm }: RuleContext): readonly Finding[] {
  return REFERENCE_FIELDS.flatMap(({ name, set }): readonly Finding[] => {
    const reference = elements[name];
    if (typeof reference !== 'object' || reference.id.trim() === '') return [];
    const { id } = reference;
    if (name === 'nalezce' && id === NEW_PERSON) return [];
    const form = set?.startsWith('heslo:') ? /^HES-\d+$/ : /^\s*\S+\s*$/;
    if (id === NEW_PERSON || !form.test(id)) {
      const message = describeNoIdentifier(name, id);
      return [{ element: name, message, rule: 'identifier-form' }];
    }
    if (lookupTerm === undefined || set === undefined) return [];
    const lookup = lookupTerm(set, id);
    if (lookup.kind === 'not-harvested') {
      const where = formatVocabularySet(set);
      const message = msg`${id} in ${name} was not checked: ${where} was not harvested. Run ${cmd`pas harvest-vocab`} to check it.`;
      return [{ element: name, message, warning: true, rule: NOT_HARVESTED }];
    }
    const message = findMembershipProblem(lookup, name, set, id);
    return toFindings(name, message);
  });
}

/** Explains why an identifier is none of the set; undefined where it is, in exactly this form. */
function findMembershipProblem(
  lookup: Exclude<TermLookupResult, { kind: 'not-harvested' }>,
  name: string,
  set: string,
  id: string,
): Message | undefined {
  if (lookup.kind === 'found' && lookup.term.id === id) return undefined;
  // A lookup finds labels and lower-case identifiers as well; the service accepts neither.
  if (lookup.kind === 'found' || lookup.kind === 'ambiguous') return describeNoIdentifier(name, id);
  const problem = explainFailedLookup(lookup, set, id);
  return lookup.kind === 'unknown'
    ? msg`${problem} If it is new, run ${cmd`pas harvest-vocab`}.`
    : problem;
}

function describeNoIdentifier(name: string, id: string): Message {
  return msg`"${id}" cannot be an identifier of ${name}. Write the one that ${cmd`pas vocab search`} finds.`;
}

const REFERENCE_FIELDS = FIELDS.filter(({ kind }) => kind === 'reference' || kind === 'term');

/** Data beside the find itself. A check whose data is absent is skipped. */
export type RuleContext = {
  /** Role of the account, as the outbox stores it. */
  readonly role?: string | undefined;
  /** Name of the account's organisation, as the service writes it. */
  readonly organisation?: string | undefined;
  readonly lookupTerm?: LookupTerm;
  readonly lookupArea?: LookupArea;
  readonly lookupProject?: LookupProject;
  readonly lookupNumber?: LookupNumber;
  /** Local day, YYYY-MM-DD. */
  readonly today: string;
};

/** A violation of a rule: the fault, then the remedy. */
export type Finding = {
  readonly element?: ElementName;
  readonly message: Message;
  readonly warning?: boolean;
  /** Name of the issue where it differs from the rule's. */
  readonly rule?: string;
};

/**
 * A rule of the service; `judge` returns nothing where the find obeys it, or the data for it are
 * absent.
 */
export type Rule = {
  /** Stable, kebab-case; the `rule` of the issues. */
  readonly name: string;
  readonly judge: (
    elements: FindElements,
    context: RuleContext,
    localId: string,
  ) => readonly Finding[];
};

/**
 * Rule of the warning that an identifier could not be checked, because its set was not harvested.
 */
export const NOT_HARVESTED = 'not-harvested';

type Rank = 'researcher' | 'archaeologist' | 'archivist';

const RANKS: Readonly<Record<string, Rank>> = {
  researcher: 'researcher',
  archaeologist: 'archaeologist',
  archivist: 'archivist',
  administrator: 'archivist',
};

/**
 * Returns the role whose permissions count: that of the account, for an administrator that of an
 * archivist. Undefined where the context has no role, or another one.
 */
export function findRoleRank({ role = '' }: RuleContext): Rank | undefined {
  return RANKS[role];
}
