import type { Issue } from '../../base/issue.ts';
import type { FindElements } from '../../find/fields.ts';
import type { Find } from '../../find/find.ts';
import type { QuestionWorld } from './interview-question.ts';

export type InterviewWorld = QuestionWorld & {
  /** What is offered where the find says nothing yet; it may depend on the project. */
  readonly suggest: (find: Find) => Suggested;
  /** Everything that keeps the find from its target state, or is odd. */
  readonly check: (find: Find) => readonly Issue[];
  /** Puts the unfinished find where nothing can lose it; called after every answer. `before` is the find that it replaces. */
  readonly keep: (find: Find, before: Find) => Promise<void>;
};

export type Suggested = { readonly localId: string; readonly elements: FindElements };

export type Interviewed = { readonly find: Find; readonly intent: 'send' | 'draft' };
