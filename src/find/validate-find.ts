import { hasErrors, type Issue } from '../base/issue.ts';
import { buildDocument } from './document.ts';
import type { Find } from './find.ts';
import type { FindSchema } from './find-schema.ts';
import type { RuleContext } from './rule.ts';
import { checkRules } from './rules.ts';

export type ValidationContext = RuleContext & { readonly schema: FindSchema };

/** `document` is what may be sent if, and only if, `issues` holds no error. */
export type ValidatedFind = { readonly document: Buffer; readonly issues: readonly Issue[] };

/**
 * The walk rules -> document -> schema, for the exact bytes that are sent later. The schema is asked only where the rules found
 * no error: it would say the same again, in terms of the document.
 */
export function validateFind(find: Find, context: ValidationContext): ValidatedFind {
  const issues = checkRules(find, context);
  const document = buildDocument(find, context.schema.profile);
  if (hasErrors(issues)) return { document, issues };
  const violations = context.schema.check(document).map((issue) => issue.with({ find: find.localId, ...find.source }));
  return { document, issues: [...issues, ...violations] };
}
