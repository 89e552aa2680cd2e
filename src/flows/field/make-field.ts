import type { FindElements } from '../../find/fields.ts';
import type { RuleContext } from '../../find/value-rules.ts';
import type { Vocabulary } from '../../vocabulary/term.ts';

/** Input of every form. */
export type FieldRequest = {
  /** File or folder that the user named. */
  readonly destination: string;
  readonly overwrite: boolean;
  readonly vocabulary: Vocabulary;
  /** Defaults of every find. */
  readonly starting: FindElements;
  /** Data of the account and of the vocabularies. */
  readonly rules: RuleContext;
  /** The account's own name, the default finder. */
  readonly finder?: string | undefined;
  readonly nowMs: number;
};

/** Written files that must be copied to the phone, the form first; and notes on what is missing. */
export type FieldMade = { readonly files: readonly string[]; readonly notes?: readonly string[] };

export type MakeField = (request: FieldRequest) => Promise<FieldMade>;
