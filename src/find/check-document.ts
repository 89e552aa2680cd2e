import type { Issue } from '../base/issue.ts';
import type { ValidationContext } from './validate.ts';

/** `pas validate FILE.xml`: well-formedness, schema, root content and every rule, each issue with file and line. */
export declare function checkDocument(file: string, document: Buffer, context: ValidationContext): readonly Issue[];
