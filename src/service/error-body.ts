import { parseHtml } from '../base/characters.ts';
import type { Message } from '../base/message.ts';

/**
 * One entry of `schema_errors` or `validation_errors` (A-ERROR-2). The message is for people only.
 */
export type ServerFinding = {
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly message: Message;
  /** 1 missing record, 2 invalid data, 3 permission error */
  readonly errorType: number | undefined;
};

export type ErrorBody =
  | { readonly kind: 'detail'; readonly detail: string }
  | { readonly kind: 'findings'; readonly findings: readonly ServerFinding[] }
  /** HTML of a proxy, an empty body, or another form that the contract does not have. */
  | { readonly kind: 'other'; readonly excerpt: string };

/** Limit of one text of the service, which is printed and stored with each refused entry. */
const MAX_QUOTED_CHARACTERS = 300;
const MAX_FINDINGS = 1000;

/**
 * Parses the body of a refusal (A-ERROR-1, A-ERROR-2), whatever its bytes are; it throws nothing.
 */
export function parseErrorBody(body: Buffer): ErrorBody {
  const text = body.toString('utf8');
  const json = parseJson(text);
  if (isObject(json)) {
    const list = json['schema_errors'] ?? json['validation_errors'];
    if (Array.isArray(list))
      return { kind: 'findings', findings: list.slice(0, MAX_FINDINGS).map(toFinding) };
    if (typeof json['detail'] === 'string') return { kind: 'detail', detail: cut(json['detail']) };
  }
  return { kind: 'other', excerpt: makeExcerpt(text) };
}

function toFinding(value: unknown): ServerFinding {
  const { line, column, message, error_type }: Record<string, unknown> = isObject(value)
    ? value
    : { message: value };
  return {
    line: asWholeNumber(line),
    column: asWholeNumber(column),
    message: cut(typeof message === 'string' ? message : JSON.stringify(value)),
    errorType: asWholeNumber(error_type),
  };
}

/** Returns the beginning of a foreign answer without markup. */
function makeExcerpt(text: string): string {
  const visible = parseHtml(text.slice(0, 20_000)).text.replace(/\s+/g, ' ').trim();
  return cut(visible);
}

function cut(text: string): string {
  return text.length > MAX_QUOTED_CHARACTERS
    ? `${text.slice(0, MAX_QUOTED_CHARACTERS - 1)}…`
    : text;
}

/** Limit of nesting; the service's own JSON is flat. */
const DEEPEST = 100;

/**
 * Parses JSON; undefined for other texts, and for JSON nested deeper than DEEPEST, which JSON.parse
 * reads slowly.
 */
export function parseJson(text: string): unknown {
  let depth = 0;
  for (let at = 0; at < text.length && depth <= DEEPEST; at++) {
    const letter = text[at];
    if (letter === '[' || letter === '{') depth += 1;
    else if (letter === ']' || letter === '}') depth -= 1;
  }
  if (depth > DEEPEST) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asWholeNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}
