import { errorIssue, type Issue, warningIssue } from '../base/issue.ts';
import type { ElementName, Find, FindElements } from './find.ts';
import type { LookupArea, LookupTerm } from './lookup.ts';
import { PLACE_RULES } from './place-rules.ts';
import { STATE_RULES } from './state-rules.ts';
import { VALUE_RULES } from './value-rules.ts';

/** What is known beside the find itself. What is absent is not checked. */
export type RuleContext = {
  /** Letter (A–E) or name, English or Czech, of the account's role. */
  readonly role?: string;
  readonly lookupTerm?: LookupTerm;
  readonly lookupArea?: LookupArea;
  /** YYYY-MM-DD where the user is. */
  readonly today: string;
};

/** What a rule has against a find: what is wrong, and then what to do. */
export type Finding = { readonly element?: ElementName; readonly message: string; readonly warning?: true };

export type Rule = {
  /** Stable, kebab-case; the `rule` of the issues. */
  readonly name: string;
  readonly judge: (elements: FindElements, context: RuleContext) => readonly Finding[];
};

/** Every rule of the service that can be judged before sending. */
export const RULES: readonly Rule[] = [...STATE_RULES, ...VALUE_RULES, ...PLACE_RULES];

/** What speaks against a find in its own target state, all of it at once, with the find's place. */
export function checkRules(find: Find, context: RuleContext): readonly Issue[] {
  return RULES.flatMap((rule) => rule.judge(find.elements, context).map((finding) => toIssue(rule, finding, find)));
}

function toIssue({ name }: Rule, { element, message, warning }: Finding, { localId, source, columns }: Find): Issue {
  const column = element === undefined ? undefined : columns?.[element];
  const where = { find: localId, ...source, ...(element && { element }), ...(column && { column }) };
  return warning ? warningIssue(name, message, where) : errorIssue(name, message, where);
}
