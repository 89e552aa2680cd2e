/** How far a clock is ahead of the right time; behind where negative. */
export type ClockError = {
  readonly aheadMs: number;
  /** The clock is set while the process runs. */
  readonly setTo?: { readonly afterMs: number; readonly aheadMs: number };
};

/** The environment in which a process of Node takes the time from a clock that is wrong. Timers and what they measure stay right. */
export function wrongClock({ aheadMs, setTo = { afterMs: 0, aheadMs } }: ClockError): { readonly NODE_OPTIONS: string } {
  const shift = `
    const Right = Date;
    const begunMs = performance.now();
    const now = () => Right.now() + (performance.now() - begunMs < ${setTo.afterMs} ? ${aheadMs} : ${setTo.aheadMs});
    globalThis.Date = new Proxy(Right, {
      construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made),
      apply: () => new Right(now()).toString(),
      get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
    });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}` };
}
