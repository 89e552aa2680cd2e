import { t } from '../base/language.ts';
import type { Progress, Terminal } from '../ui/terminal.ts';

type SetProgress = {
  readonly setSpec: string;
  readonly done: number;
  readonly total: number | undefined;
  readonly perSecond: number;
};

/** One bar per set, with the rate and the time left. */
export function progressPerSet(terminal: Terminal): { update(progress: SetProgress): void; end(): void } {
  let current: { readonly setSpec: string; readonly bar: Progress } | undefined;
  return {
    update: ({ setSpec, done, total, perSecond }) => {
      if (current?.setSpec !== setSpec) {
        current?.bar.end();
        current = { setSpec, bar: terminal.progress(setSpec) };
      }
      const rate = `${Math.round(perSecond)}/s`;
      const left = total === undefined || perSecond <= 0 ? undefined : duration((total - done) / perSecond);
      current.bar.update(done, total, left === undefined ? rate : t`${rate}, ${left} left`);
    },
    end: () => current?.bar.end(),
  };
}

/** What is said of a record that `--skip-broken` leaves out. */
export function leftOutText(identifier: string | null | undefined, reason: string): string {
  const record = identifier ?? t`a record`;
  return t`Left out: ${record}, since ${reason}.`;
}

/** "42 s", "17 min", "3 h 20 min" */
function duration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 120) return `${whole} s`;
  const minutes = Math.ceil(whole / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
