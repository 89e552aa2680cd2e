import { HttpError } from '../base/http-message.ts';
import {
  type ErrorType,
  makeDetailAnswer,
  makeValidationErrors,
  type Problem,
} from '../base/problem.ts';

/** Makes the refusal with one reason that ends the request. */
export function makeRefusal(status: number, text: string): HttpError {
  return new HttpError(makeDetailAnswer(status, text));
}

/**
 * Makes a finding about one field of the document; `message` starts with the field's name
 * (A-ERROR-6).
 */
export function makeProblem(
  line: number | null,
  field: string,
  text: string,
  errorType: ErrorType = 2,
): Problem {
  return { line, column: null, message: `${field}: ${text}`, error_type: errorType };
}

/** @throws HttpError with the findings, if any */
export function assertNoProblems(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new HttpError(makeValidationErrors(problems));
}
