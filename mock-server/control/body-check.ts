import type { JSONPathQuery, JSONValue } from 'json-p3';
import type { XmlElement } from 'libxml2-wasm';
import { getErrorMessage } from '../base/error-message.ts';
import { getBodyBytes, type Message, STRUCK_OUT } from '../base/exchange.ts';
import { ControlRefusal } from '../base/http-message.ts';
import { check, object, optional, type Reader, ShapeError, text } from '../base/shape.ts';
import { withXml } from '../state/schema.ts';

/** Condition on a text; without either it must exist. */
export type TextCondition = { readonly equals?: string; readonly matches?: string };

/** Condition on a body: the first match of a path, compared as text. */
export type BodyCheck = TextCondition & { readonly xpath?: string; readonly json?: string };

/** Reads a regular expression that is valid with the flag `u`. */
export const readExpression: Reader<string> = check(text({ min: 1 }), (source) => {
  try {
    new RegExp(source, 'u');
    return undefined;
  } catch (thrown) {
    return `is no regular expression (${getErrorMessage(thrown)})`;
  }
});

/** Fields of a {@link TextCondition}, for objects that have more. */
export const CONDITION_FIELDS = { equals: optional(text()), matches: optional(readExpression) };

/** Reads a condition with exactly one of the two kinds of path. */
export const readBodyCheck: Reader<BodyCheck> = check(
  object({
    xpath: optional(text({ min: 1 })),
    json: optional(text({ min: 1 })),
    ...CONDITION_FIELDS,
  }),
  ({ xpath, json }) =>
    (xpath === undefined) === (json === undefined) ? 'needs either xpath or json' : undefined,
);

/** Tells if a text fulfils its condition; one that does not exist never does. */
export function matchesText(text: string | undefined, { equals, matches }: TextCondition): boolean {
  return (
    text !== undefined &&
    (equals === undefined || text === equals) &&
    (matches === undefined || new RegExp(matches, 'u').test(text))
  );
}

/**
 * Asserts that an expression is valid: an invalid one would match nothing, as `count: 0` requires.
 * @throws ShapeError
 */
export async function assertReadable({ xpath, json }: BodyCheck): Promise<void> {
  if (json !== undefined) await compileJsonPath(json);
  if (xpath === undefined) return;
  const prefixes = [...xpath.matchAll(/(?<![\w.-])([\w.-]+):(?=[\w*])/g)].map(
    ([, prefix = '']) => [prefix, 'urn:any'] as const,
  );
  await withXml(Buffer.from('<x/>'), ({ root }) =>
    evaluate(root, xpath, Object.fromEntries(prefixes)),
  );
}

/**
 * Tells if a body fulfils its condition.
 * @param of what is named in a refusal, such as `the request of entry 7`
 * @throws ControlRefusal where the kept part does not suffice, ShapeError where an expression does
 * not fit its document
 */
export async function matchesBody(message: Message, of: string, one: BodyCheck): Promise<boolean> {
  const body = getBodyBytes(message);
  if (body === undefined) throw new ControlRefusal(422, `the body of ${of} is not kept`);
  if (body.cut) throw new ControlRefusal(422, `of the body of ${of} only the beginning is kept`);
  const path = one.xpath ?? one.json ?? '';
  const actual =
    one.xpath === undefined
      ? await evaluateJson(body.bytes, path)
      : await evaluateXml(extractDocument(message, body.bytes), path);
  if (actual === STRUCK_OUT)
    throw new ControlRefusal(422, `${path} of ${of} is a secret, and is not kept`);
  return matchesText(actual, one);
}

async function evaluateJson(body: Buffer, path: string): Promise<string | undefined> {
  const compiled = await compileJsonPath(path);
  let value: JSONValue;
  try {
    value = JSON.parse(body.toString('utf8')) as JSONValue;
  } catch {
    return undefined;
  }
  const [first] = compiled.query(value).values();
  return first === undefined || typeof first === 'string' ? first : JSON.stringify(first);
}

async function compileJsonPath(path: string): Promise<JSONPathQuery> {
  const { jsonpath } = await import('json-p3');
  try {
    return jsonpath.compile(path);
  } catch (thrown) {
    throw new ShapeError('json', `is no JSONPath (${getErrorMessage(thrown)})`);
  }
}

/** Evaluates an XPath with the prefixes that the document's root declares. */
async function evaluateXml(document: Buffer, path: string): Promise<string | undefined> {
  return withXml(document, ({ root }) => evaluate(root, path, root.namespaces));
}

/**
 * Returns the results as text; a result that is no node counts as found where XPath converts it to
 * true.
 * @throws ShapeError
 */
function evaluate(
  root: XmlElement,
  path: string,
  namespaces: Readonly<Record<string, string>>,
): string | undefined {
  try {
    const result = root.eval(path, { ...namespaces });
    if (Array.isArray(result)) return result[0]?.content;
    return result ? String(result) : undefined;
  } catch (thrown) {
    throw new ShapeError('xpath', `cannot be looked for (${getErrorMessage(thrown)})`);
  }
}

/** Returns the first XML part of a form, in any encoding; the whole body otherwise. */
function extractDocument({ headers }: Message, body: Buffer): Buffer {
  const boundary = /^multipart\/form-data\b.*?boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(
    headers['content-type'] ?? '',
  );
  if (boundary === null) return body;
  const mark = Buffer.from(`--${boundary[1] ?? boundary[2] ?? ''}`);
  const marks: number[] = [];
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length))
    marks.push(at);
  const parts = marks.slice(0, -1).map((start, index) => {
    const part = body.subarray(start, marks[index + 1]);
    return part.subarray(part.indexOf('\r\n\r\n') + 4, -2);
  });
  return (
    parts.find((part) =>
      /^[\ufeff\u00ef\u00bb\u00bf\u00fe\u00ff\0\s]*</.test(part.subarray(0, 16).toString('latin1')),
    ) ?? body
  );
}
