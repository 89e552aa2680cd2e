import type { Issue } from '../base/issue.ts';
import type { Find } from './find.ts';
import type { LookupArea, LookupTerm } from './lookup.ts';

/** What is known beside the find itself. What is absent is not checked. */
export type RuleContext = {
  /** Letter (A–E) or name, English or Czech, of the account's role. */
  readonly role?: string;
  readonly lookupTerm?: LookupTerm;
  readonly lookupArea?: LookupArea;
  /** YYYY-MM-DD where the user is. */
  readonly today: string;
};

/** Every rule of the service that can be judged before sending, for the find's own target state. */
export declare function checkRules(find: Find, context: RuleContext): readonly Issue[];
