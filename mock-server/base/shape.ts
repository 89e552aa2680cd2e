/** Error for an operator's input of a wrong shape; the message names the place and the reason. */
export class ShapeError extends Error {
  constructor(place: string, reason: string) {
    super(`${place === '' ? 'the value' : place}: ${reason}`);
    this.name = 'ShapeError';
  }

  /** Recreates the error of another thread. */
  static withMessage(message: string): ShapeError {
    const error = new ShapeError('', '');
    error.message = message;
    return error;
  }
}

/**
 * Parses JSON of an operator, with or without a byte order mark.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text.replace(/^\uFEFF/, ''));
}

/**
 * Reads a value of unknown shape.
 * @throws ShapeError
 */
export type Reader<T> = (value: unknown, place?: string) => T;

/** Makes a reader of texts with `min` characters at least; `min: 1` refuses an empty one. */
export function text(bounds: { readonly min?: number } = {}): Reader<string> {
  return (value, place = '') => {
    if (typeof value !== 'string') throw new ShapeError(place, 'must be a text');
    if (value.length < (bounds.min ?? 0)) throw new ShapeError(place, 'must not be empty');
    return value;
  };
}

/** Makes a reader of finite numbers within inclusive bounds. */
export function number(bounds: { readonly min?: number; readonly max?: number }): Reader<number> {
  return (value, place = '') => {
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw new ShapeError(place, 'must be a number');
    if (bounds.min !== undefined && value < bounds.min)
      throw new ShapeError(place, `must be at least ${bounds.min}`);
    if (bounds.max !== undefined && value > bounds.max)
      throw new ShapeError(place, `must be at most ${bounds.max}`);
    return value;
  };
}

/** The same for whole numbers. */
export function integer(bounds: { readonly min?: number; readonly max?: number }): Reader<number> {
  const read = number(bounds);
  return (value, place = '') => {
    const number = read(value, place);
    if (!Number.isInteger(number)) throw new ShapeError(place, 'must be a whole number');
    return number;
  };
}

/** Reads true or false, and no text that looks like one of them. */
export const flag: Reader<boolean> = (value, place = '') => {
  if (typeof value !== 'boolean') throw new ShapeError(place, 'must be true or false');
  return value;
};

/** Later years have more than four digits, which no datestamp can have. */
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** Reads a time, in milliseconds since 1970 or as a text of ISO 8601; returns milliseconds. */
export const instant: Reader<number> = (value, place = '') => {
  const ms = typeof value === 'number' ? value : Date.parse(text()(value, place));
  if (!Number.isFinite(ms))
    throw new ShapeError(place, 'must be milliseconds since 1970 or an ISO 8601 time');
  if (ms < 0 || ms > LAST_MS) throw new ShapeError(place, 'goes from 1970-01-01 to 9999-12-31');
  return ms;
};

/** Adds a rule to a reader: `refuse` returns the reason, or undefined. */
export function check<T>(read: Reader<T>, refuse: (value: T) => string | undefined): Reader<T> {
  return (value, place = '') => {
    const result = read(value, place);
    const reason = refuse(result);
    if (reason !== undefined) throw new ShapeError(place, reason);
    return result;
  };
}

/** Makes a reader of texts that are one of those allowed. */
export function readOneOf<T extends string>(allowed: readonly T[]): Reader<T> {
  return (value, place = '') => {
    const match = allowed.find((name) => name === value);
    if (match === undefined) throw new ShapeError(place, `must be one of ${allowed.join(', ')}`);
    return match;
  };
}

/** Makes a reader that takes null as well. */
export function nullable<T>(read: Reader<T>): Reader<T | null> {
  return (value, place = '') => (value === null ? null : read(value, place));
}

/** Makes a reader of lists; the place of an error has the index of its item. */
export function array<T>(read: Reader<T>): Reader<T[]> {
  return (value, place = '') => {
    if (!Array.isArray(value)) throw new ShapeError(place, 'must be a list');
    return value.map((item, index) => read(item, `${place}[${index}]`));
  };
}

type OptionalReader<T> = { readonly optional: Reader<T> };
type Fields = Record<string, Reader<unknown> | OptionalReader<unknown>>;
type ObjectOf<F extends Fields> = {
  [K in keyof F as F[K] extends OptionalReader<unknown> ? never : K]: F[K] extends Reader<infer T>
    ? T
    : never;
} & {
  [K in keyof F as F[K] extends OptionalReader<unknown> ? K : never]?: F[K] extends OptionalReader<
    infer T
  >
    ? T
    : never;
};

/** Marks a field of {@link object} that may be missing. */
export function optional<T>(read: Reader<T>): OptionalReader<T> {
  return { optional: read };
}

/** Fields of an object that must have a text. */
export function filledTexts<K extends string>(
  ...names: readonly K[]
): Readonly<Record<K, Reader<string>>> {
  return Object.fromEntries(names.map((name) => [name, text({ min: 1 })])) as Record<
    K,
    Reader<string>
  >;
}

/** Fields of an object that may have a text. */
export function optionalTexts<K extends string>(
  ...names: readonly K[]
): Readonly<Record<K, OptionalReader<string>>> {
  return Object.fromEntries(names.map((name) => [name, optional(text())])) as Record<
    K,
    OptionalReader<string>
  >;
}

/** Reads an object with these keys and no others. */
export function object<F extends Fields>(fields: F): Reader<ObjectOf<F>> {
  return (value, place = '') => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new ShapeError(place, 'must be an object');
    const unknown = Object.keys(value).find((key) => !Object.hasOwn(fields, key));
    if (unknown !== undefined) {
      throw new ShapeError(
        place,
        `has an unknown key "${unknown}"; known are ${Object.keys(fields).join(', ')}`,
      );
    }
    const result: Record<string, unknown> = {};
    for (const [key, field] of Object.entries(fields)) {
      const item: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
      const where = place === '' ? key : `${place}.${key}`;
      if (typeof field === 'function') result[key] = field(item, where);
      else if (item !== undefined) result[key] = field.optional(item, where);
    }
    return result as ObjectOf<F>;
  };
}
