/**
 * Resolves as the work does, or rejects with the signal's reason as soon as it is aborted, even if the work ignores signals.
 * @param unwanted receives the result of work that ends after the abort
 */
export async function rejectOnAbort<T>(
  signal: AbortSignal | undefined,
  begin: () => Promise<T>,
  unwanted: (result: T) => void = () => {},
): Promise<T> {
  if (signal === undefined) return begin();
  signal.throwIfAborted();
  const work = begin();
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      work.then(unwanted).catch(() => undefined);
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
