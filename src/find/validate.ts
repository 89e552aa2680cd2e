import type { Issue } from '../base/issue.ts';
import type { Find } from './find.ts';
import type { RuleContext } from './rules.ts';
import type { FindSchema } from './schema.ts';

export type ValidationContext = RuleContext & { readonly schema: FindSchema };

/** `document` is what may be sent if, and only if, `issues` holds no error. */
export type ValidatedFind = { readonly document: Buffer; readonly issues: readonly Issue[] };

/** The walk rules -> document -> schema. Synchronous; issues carry the find's file, row and column where known. */
export declare function validateFind(find: Find, context: ValidationContext): ValidatedFind;
