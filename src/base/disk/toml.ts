import { parse, stringify, TomlDate, TomlError, type TomlTable } from 'smol-toml';
import { isJsonObject } from '../json.ts';

export { parse as parseToml, stringify as tomlText, type TomlTable };

/** Table of a TOML text, or its fault and line. */
type TomlReading =
  | { readonly kind: 'table'; readonly table: TomlTable }
  | { readonly kind: 'fault'; readonly message: string; readonly line: number };

/** Parses TOML; a syntax error gives a fault with its line instead of an exception. */
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

/** Tells if a value of TOML is a table, and neither a list nor a day. */
export function isTomlTable(value: unknown): value is TomlTable {
  return isJsonObject(value) && !(value instanceof Date);
}

/**
 * Returns a text, number, day or truth value as text, a day in ISO 8601; undefined for lists and
 * tables.
 */
export function formatTomlValue(value: unknown): string | undefined {
  if (value instanceof TomlDate) return value.toISOString();
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
    ? String(value)
    : undefined;
}

/** Quotes a basic string of TOML: the escapes of JSON, and DEL, which JSON leaves as it is. */
export function quoteTomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}
