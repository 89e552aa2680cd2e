import { parse, stringify, TomlDate, TomlError, type TomlTable } from 'smol-toml';

export { parse as parseToml, stringify as tomlText, type TomlTable };

/** The table of a TOML text, or what is wrong with it and in which line. */
type TomlReading =
  | { readonly kind: 'table'; readonly table: TomlTable }
  | { readonly kind: 'fault'; readonly message: string; readonly line: number };

export function readToml(text: string): TomlReading {
  try {
    return { kind: 'table', table: parse(text) };
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    // The lines around the fault stand below the first line of the message.
    const [message = ''] = thrown.message.split('\n');
    return { kind: 'fault', message: message.replace(/^Invalid TOML document: /, ''), line: thrown.line };
  }
}

/** A text, number, day or truth value as it is written; undefined for lists and tables. */
export function tomlScalar(value: unknown): string | undefined {
  if (value instanceof TomlDate) return value.toISOString();
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : undefined;
}

/** A text between quotation marks. */
export function tomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}
