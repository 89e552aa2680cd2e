import { must } from './check.ts';
import type { Answer } from './line.ts';
import { jsonOf } from './writes.ts';

/** Kinds of an error's body: contract, Errors, Interface A. */
export type BodyKind = 'detail' | 'schema_errors' | 'validation_errors';

/**
 * The answer refuses with one of these statuses, in JSON of one of these kinds; default: any.
 * @throws Broken
 */
export function mustRefuse(answer: Answer, statuses: readonly number[], ...kinds: readonly BodyKind[]): void {
  must(statuses.includes(answer.status), `${answer.status}: ${answer.text}`);
  const body = jsonOf(answer);
  must(body !== undefined, `${answer.status} without JSON: ${answer.type} ${answer.text}`);
  const kind = (['detail', 'schema_errors', 'validation_errors'] as const).find((name) => name in body);
  must(kind !== undefined, `${answer.status} with neither detail nor errors: ${answer.text}`);
  must(kinds.length === 0 || kinds.includes(kind), `${answer.status} with ${kind}: ${answer.text}`);
  if (kind === 'detail') must(typeof body[kind] === 'string', `detail is no text: ${answer.text}`);
  else mustBeEntries(body[kind], answer.text);
}

function mustBeEntries(value: unknown, text: string): void {
  must(Array.isArray(value) && value.length > 0, `no list of errors: ${text}`);
  for (const entry of value as readonly Readonly<Record<string, unknown>>[]) {
    for (const name of ['line', 'column'])
      must(entry[name] === null || Number.isInteger(entry[name]), `${name} is ${entry[name]}: ${text}`);
    must(typeof entry['message'] === 'string', `message is no text: ${text}`);
    must([1, 2, 3].includes(Number(entry['error_type'])), `error_type is ${entry['error_type']}: ${text}`);
  }
}
