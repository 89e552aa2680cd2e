import { parse, stringify, TomlDate, TomlError, type TomlTable } from 'smol-toml';

/** Formats a table as TOML. */
export { stringify as formatToml };

/** Limit of nesting; the service's own JSON is flat. */
const DEEPEST = 100;

/**
 * Parses a JSON object; undefined for any other text, and for JSON nested deeper than 100 levels,
 * which JSON.parse reads slowly. Brackets inside strings also count as nesting.
 */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  let depth = 0;
  for (let at = 0; at < text.length && depth <= DEEPEST; at++) {
    const letter = text[at];
    if (letter === '[' || letter === '{') depth += 1;
    else if (letter === ']' || letter === '}') depth -= 1;
  }
  if (depth > DEEPEST) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Tells if a value of JSON or TOML is an object or table, and neither a list, null nor a day. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
}

/** Table of a TOML text, or its fault and line. */
type TomlReading =
  | { readonly kind: 'table'; readonly table: TomlTable }
  | { readonly kind: 'fault'; readonly message: string; readonly line: number };

/** Parses TOML; a syntax error is returned as a fault with its line, from 1, and not thrown. */
export function tryParseToml(text: string): TomlReading {
  try {
    return { kind: 'table', table: parse(text) };
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    // The first line is the message; an excerpt of the file follows.
    const [message = ''] = thrown.message.split('\n');
    return {
      kind: 'fault',
      message: message.replace(/^Invalid TOML document: /, ''),
      line: thrown.line,
    };
  }
}

/**
 * Formats a text, number, truth value, or day or time (ISO 8601) of TOML; undefined for a list or a
 * table.
 */
export function formatTomlValue(value: unknown): string | undefined {
  if (value instanceof TomlDate) return value.toISOString();
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
    ? String(value)
    : undefined;
}

/**
 * Formats a text as a basic string of TOML, in double quotes: with the escapes of JSON, and DEL as
 * `\u007f`, which JSON leaves as it is.
 */
export function quoteTomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}
