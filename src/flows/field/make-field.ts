import type { FindDefaults } from '../../columns/defaults.ts';
import type { RuleContext } from '../../find/rule.ts';
import type { Vocabulary } from '../../vocabulary/vocabulary.ts';

/** What every form is made from. */
export type FieldRequest = {
  /** The file or folder that the user named. */
  readonly destination: string;
  readonly overwrite: boolean;
  /** What was harvested; whoever needs a set asks for it. */
  readonly vocabulary: Vocabulary;
  /** What config.toml says that every find of the profile has. */
  readonly defaults: FindDefaults;
  /** What is known of the account and of what was harvested. */
  readonly rules: RuleContext;
  /** The account's own name, who is the finder where nothing else says it. */
  readonly finder?: string | undefined;
  readonly nowMs: number;
};

/** What was written, for whoever has to carry it to the phone: the form first, then what belongs beside it; and what it lacks. */
export type FieldMade = { readonly files: readonly string[]; readonly notes?: readonly string[] };

type MakeField = (request: FieldRequest) => Promise<FieldMade>;

/** The programs that finds are recorded in on a phone. What makes a form is loaded only for its program. */
const MAKERS = {
  odk: async (request) => (await import('./make-odk-form.ts')).makeOdkForm(request),
  qfield: async (request) => (await import('./make-qfield-project.ts')).makeQfieldProject(request),
} as const satisfies Readonly<Record<string, MakeField>>;

export type FieldTool = keyof typeof MAKERS;

export const FIELD_TOOLS = Object.keys(MAKERS) as readonly FieldTool[];

/** @throws UsageError where a vocabulary was not harvested, or a file is there that may not be replaced; what the disk refuses */
export function makeField(tool: FieldTool, request: FieldRequest): Promise<FieldMade> {
  return MAKERS[tool](request);
}
