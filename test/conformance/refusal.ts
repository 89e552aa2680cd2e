import { must } from './check.ts';
import type { Answer } from './line.ts';
import type { Scene } from './scene.ts';
import { getJson } from './writes.ts';

/**
 * The answer refuses with one of these statuses. How refusals are told is one clause for all of
 * them: they are kept for its check.
 * @throws Broken
 */
export function mustRefuse(scene: Scene, answer: Answer, ...statuses: readonly number[]): void {
  must(statuses.includes(answer.status), `${answer.status}: ${answer.text}`);
  scene.refusals.push(answer);
}

/** JSON with a `detail`, or with a list of errors (A-ERROR-1). @throws Broken */
export function mustBeTold(answer: Answer): void {
  const shownAnswer = `${answer.status} ${answer.type} ${answer.text}`;
  const body = getJson(answer);
  must(body !== undefined, `no JSON: ${shownAnswer}`);
  const list = body['schema_errors'] ?? body['validation_errors'];
  if (list === undefined) {
    must(typeof body['detail'] === 'string', `neither detail nor errors: ${shownAnswer}`);
    return;
  }
  must(Array.isArray(list) && list.length > 0, `no list of errors: ${shownAnswer}`);
  for (const entry of list as readonly Readonly<Record<string, unknown>>[]) {
    for (const name of ['line', 'column'])
      must(entry[name] === null || Number.isInteger(entry[name]), `${name}: ${shownAnswer}`);
    must(typeof entry['message'] === 'string', `message: ${shownAnswer}`);
    must(
      [1, 2, 3].some((type) => type === entry['error_type']),
      `error_type: ${shownAnswer}`,
    );
  }
}
