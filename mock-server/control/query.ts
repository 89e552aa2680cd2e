import { ShapeError } from '../shape.ts';

/**
 * A whole number of the query.
 * @throws ShapeError
 */
export function wholeNumber(
  query: URLSearchParams,
  name: string,
  bounds: { readonly default: number; readonly max: number },
): number {
  const text = query.get(name);
  if (text === null) return bounds.default;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= bounds.max)) throw new ShapeError(name, `must be a whole number from 0 to ${bounds.max}`);
  return value;
}
