import type { Issue } from '../../base/issue.ts';
import type { FindElements } from '../../find/fields.ts';
import type { Find } from '../../find/find.ts';
import type { QuestionContext } from './interview-question.ts';

export type InterviewContext = QuestionContext & {
  /** Returns suggestions for empty elements; they may depend on the project. */
  readonly suggest: (find: Find) => Suggested;
  /** Returns errors and warnings of the find in its target state. */
  readonly check: (find: Find) => readonly Issue[];
  /** Saves the incomplete find; called after every answer. `before` is the find that it replaces. */
  readonly keep: (find: Find, before: Find) => Promise<void>;
};

export type Suggested = { readonly localId: string; readonly elements: FindElements };

export type Interviewed = { readonly find: Find; readonly intent: 'send' | 'draft' };
