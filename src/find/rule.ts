import type { ElementName, FindElements } from './find.ts';
import type { LookupArea, LookupProject, LookupTerm } from './lookup.ts';

/** What is known beside the find itself. What is absent is not checked. */
export type RuleContext = {
  /** Letter (A–E) or name, English or Czech, of the account's role. */
  readonly role?: string;
  readonly lookupTerm?: LookupTerm;
  readonly lookupArea?: LookupArea;
  readonly lookupProject?: LookupProject;
  /** YYYY-MM-DD where the user is. */
  readonly today: string;
};

/** What a rule has against a find: what is wrong, and then what to do. */
export type Finding = {
  readonly element?: ElementName;
  readonly message: string;
  readonly warning?: true;
  /** Named where it says something else than the rule that found it. */
  readonly rule?: string;
};

export type Rule = {
  /** Stable, kebab-case; the `rule` of the issues. */
  readonly name: string;
  readonly judge: (elements: FindElements, context: RuleContext) => readonly Finding[];
};

/** The rule of the warning that an identifier could not be checked, because its set was never harvested. */
export const NOT_HARVESTED = 'not-harvested';
