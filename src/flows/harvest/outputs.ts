import type { Subject } from '../../harvested/harvested-records.ts';
import { listRepeatedElements, type RepeatedElements } from '../../oai/record-json.ts';
import { type AppendTarget, openJsonlOutput } from './append-output.ts';
import type { RecordOutput } from './record-output.ts';
import { openXmlStreamOutput } from './xml-output.ts';

/** Extensions of file names that select a form of output. */
const EXTENSIONS = { jsonl: ['jsonl', 'ndjson'], xml: ['xml'] };

export type OutputName = keyof typeof EXTENSIONS;

export const OUTPUT_NAMES = Object.keys(EXTENSIONS) as readonly OutputName[];

/** Subject of a harvest into an output of a known form. */
export type OutputSubject = Subject & { readonly form: OutputName };

export function findOutputOfExtension(extension: string): OutputName | undefined {
  return OUTPUT_NAMES.find((name) => EXTENSIONS[name].includes(extension));
}

export function openRecordOutput(target: AppendTarget, subject: OutputSubject): RecordOutput {
  const { form, verb, format, version } = subject;
  if (form === 'xml') return openXmlStreamOutput(target, verb);
  // The service's schema describes only records of its own format.
  const repeated: RepeatedElements =
    format === 'oai_dc' ? new Map() : listRepeatedElements(version);
  return openJsonlOutput(target, repeated, verb);
}
