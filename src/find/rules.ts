import { errorIssue, type Issue, warningIssue } from '../base/issue.ts';
import type { Find } from './find.ts';
import { PLACE_RULES } from './place-rules.ts';
import { PROJECT_RULES } from './project-rules.ts';
import type { Finding, Rule, RuleContext } from './rule.ts';
import { STATE_RULES } from './state-rules.ts';
import { VALUE_RULES } from './value-rules.ts';

/** Every rule of the service that can be judged before sending. */
export const RULES: readonly Rule[] = [...STATE_RULES, ...VALUE_RULES, ...PROJECT_RULES, ...PLACE_RULES];

/** What speaks against a find in its own target state, all of it at once, with the find's place. */
export function checkRules(find: Find, context: RuleContext): readonly Issue[] {
  const issues: Issue[] = [];
  for (const rule of RULES) {
    for (const finding of rule.judge(find.elements, context)) issues.push(toIssue(rule, finding, find));
  }
  return issues;
}

function toIssue(
  found: Rule,
  { element, message, warning, rule = found.name }: Finding,
  { localId, source, columns }: Find,
): Issue {
  const column = element === undefined ? undefined : columns?.[element];
  const where = { find: localId, ...source, ...(element && { element }), ...(column && { column }) };
  return warning ? warningIssue(rule, message, where) : errorIssue(rule, message, where);
}
