import { ShapeError } from '../base/shape.ts';

/** @throws ShapeError for an unknown or repeated parameter, which would be ignored silently */
export function assertKnownParameters(query: URLSearchParams, ...names: readonly string[]): void {
  for (const name of query.keys()) {
    if (!names.includes(name))
      throw new ShapeError(name, `is not known; known are ${names.join(', ')}`);
    if (query.getAll(name).length > 1) throw new ShapeError(name, 'may stand here once');
  }
}

/**
 * Parses a whole number of the query.
 * @throws ShapeError
 */
export function parseWholeNumber(
  query: URLSearchParams,
  name: string,
  bounds: { readonly default: number; readonly max: number },
): number {
  const text = query.get(name);
  if (text === null) return bounds.default;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= bounds.max))
    throw new ShapeError(name, `must be a whole number from 0 to ${bounds.max}`);
  return value;
}
