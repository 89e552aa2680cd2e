/** The value as programs are given it, with its messages in words. */
export function inWords<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
