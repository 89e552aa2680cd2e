import type { Answer } from './http-message.ts';

/** A-ERROR-2: 1 missing record, 2 invalid data, 3 no permission. */
export type ErrorType = 1 | 2 | 3;

/** One entry of `schema_errors` or `validation_errors`. */
export type Problem = {
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
  readonly error_type: ErrorType;
};

/** Makes an answer with a value as JSON; given headers may replace its content type. */
export function makeJsonAnswer(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value),
  };
}

/** Makes a refusal with one reason. */
export function makeDetailAnswer(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return makeJsonAnswer(status, { detail: text }, headers);
}

/** Makes the 422 answer to a document that the schema refuses. */
export function makeSchemaErrors(problems: readonly Problem[]): Answer {
  return makeJsonAnswer(422, { schema_errors: problems });
}

/**
 * Makes a refusal with findings; permission, else missing record, else invalid data give its status
 * (A-ERROR-7).
 */
export function makeValidationErrors(problems: readonly Problem[]): Answer {
  const types = new Set(problems.map((problem) => problem.error_type));
  const withoutRight = types.has(1) ? 404 : 422;
  return makeJsonAnswer(types.has(3) ? 403 : withoutRight, { validation_errors: problems });
}

/** Makes an HTML page, as proxies and unhandled failures send it (A-WIRE-3). */
export function makeHtmlPage(
  status: number,
  title: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
    body: `<!DOCTYPE html>\n<html><head><title>${status} ${title}</title></head>\n<body><h1>${status} ${title}</h1></body></html>\n`,
  };
}

/** Makes an answer with a document that is XML already, without a charset, as in the contract. */
export function makeXmlAnswer(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers: { 'content-type': 'application/xml', ...headers }, body };
}
