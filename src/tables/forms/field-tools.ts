import { UsageError } from '../../base/errors.ts';
import { rememberReferences } from '../../finds/resolve-references.ts';
import { getRank } from '../../finds/value-rules.ts';
import { type FindDefaults, parseSettings } from '../columns/settings.ts';
import type { FieldMade, FieldOrder, MakeField } from './form-lists.ts';

/** Programs that record finds on a phone. The code of a form is loaded only for its program. */
const MAKERS = {
  odk: async (request) => (await import('./make-odk-form.ts')).makeOdkForm(request),
  qfield: async (request) => (await import('./make-qfield-project.ts')).makeQfieldProject(request),
} as const satisfies Readonly<Record<string, MakeField>>;

export type FieldTool = keyof typeof MAKERS;

export const FIELD_TOOLS = Object.keys(MAKERS) as readonly FieldTool[];

type FormRequest = FieldOrder & {
  /** Values of config.toml and flags for every find. */
  readonly defaults: FindDefaults;
};

/**
 * @throws UsageError where a default cannot be read, a vocabulary was not harvested, or a file
 * exists that may not be replaced; errors of the disk
 */
export async function makeField(
  tool: FieldTool,
  { defaults, ...wanted }: FormRequest,
): Promise<FieldMade> {
  const resolveReference = rememberReferences(wanted.rules.lookupTerm);
  const { elements, issues } = parseSettings(defaults, '', {
    resolveReference,
    resolvePhoto: () => ({ value: '' }),
  });
  const issue = issues.find(({ severity }) => severity === 'error');
  if (issue !== undefined) throw new UsageError(issue.message);
  const rank = getRank(wanted.rules);
  // A researcher, and so perhaps an unknown account, may import into state 1 only.
  const stav = rank === undefined || rank === 'researcher' ? 1 : 2;
  return MAKERS[tool]({ ...wanted, starting: { stav, ...elements } });
}
