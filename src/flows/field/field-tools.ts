import type { FieldMade, FieldRequest, MakeField } from './make-field.ts';

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
