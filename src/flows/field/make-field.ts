import type { FindElements } from '../../find/fields.ts';
import type { RuleContext } from '../../find/rule.ts';
import type { Vocabulary } from '../../vocabulary/vocabulary.ts';

/** What every form is made from. */
export type FieldRequest = {
  /** The file or folder that the user named. */
  readonly destination: string;
  readonly overwrite: boolean;
  /** What was harvested; whoever needs a set asks for it. */
  readonly vocabulary: Vocabulary;
  /** What every find begins with. */
  readonly starting: FindElements;
  /** What is known of the account and of what was harvested. */
  readonly rules: RuleContext;
  /** The account's own name, who is the finder where nothing else says it. */
  readonly finder?: string | undefined;
  readonly nowMs: number;
};

/** What was written, for whoever has to carry it to the phone: the form first, then what belongs beside it; and what it lacks. */
export type FieldMade = { readonly files: readonly string[]; readonly notes?: readonly string[] };

export type MakeField = (request: FieldRequest) => Promise<FieldMade>;
