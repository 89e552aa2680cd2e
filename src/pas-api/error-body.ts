import type { Message } from '../base/message.ts';
import type { HttpResponse } from '../http/exchange.ts';
import { parseHtml } from '../text/html-text.ts';

/** One entry of `schema_errors` or `validation_errors` (A-ERROR-2). The message is for people only. */
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
  /** HTML of a proxy, an empty body, or anything else that the contract does not know. */
  | { readonly kind: 'other'; readonly excerpt: string };

const EXCERPT_CHARACTERS = 200;
/** More of one text nobody reads; it is printed, and kept with each entry that was refused. */
const MAX_CHARACTERS = 2000;
const MAX_FINDINGS = 1000;

export function parseErrorBody(response: Pick<HttpResponse, 'body'>): ErrorBody {
  const text = response.body.toString('utf8');
  const json = parseJson(text);
  if (isObject(json)) {
    const list = json['schema_errors'] ?? json['validation_errors'];
    if (Array.isArray(list)) return { kind: 'findings', findings: list.slice(0, MAX_FINDINGS).map(toFinding) };
    if (typeof json['detail'] === 'string') return { kind: 'detail', detail: cut(json['detail'], MAX_CHARACTERS) };
  }
  return { kind: 'other', excerpt: excerptOf(text) };
}

function toFinding(value: unknown): ServerFinding {
  const { line, column, message, error_type }: Record<string, unknown> = isObject(value) ? value : { message: value };
  return {
    line: wholeNumber(line),
    column: wholeNumber(column),
    message: cut(typeof message === 'string' ? message : JSON.stringify(value), MAX_CHARACTERS),
    errorType: wholeNumber(error_type),
  };
}

/** The beginning of a foreign answer, without markup, to tell a person what kind of answer it was. */
function excerptOf(text: string): string {
  const visible = parseHtml(text.slice(0, 20_000)).text.replace(/\s+/g, ' ').trim();
  return cut(visible, EXCERPT_CHARACTERS);
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** What the service says in JSON is flat. */
const DEEPEST = 100;

/** Undefined where it is no JSON, or is nested without end, which takes many times its length to find out. */
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

function wholeNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}
