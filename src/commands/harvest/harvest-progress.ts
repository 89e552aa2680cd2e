import { t } from '../../base/language.ts';
import type { Progress, Terminal } from '../../ui/terminal.ts';

type SetProgress = {
  readonly setSpec: string;
  readonly done: number;
  readonly total: number | undefined;
  readonly perSecond: number;
};

/** Shows one bar per set, with the rate and the remaining time. */
export function progressPerSet(terminal: Terminal): { update(progress: SetProgress): void; end(): void } {
  let current: { readonly setSpec: string; readonly bar: Progress } | undefined;
  return {
    update: ({ setSpec, done, total, perSecond }) => {
      if (current?.setSpec !== setSpec) {
        current?.bar.end();
        current = { setSpec, bar: terminal.progress(setSpec) };
      }
      current.bar.update(done, total, perSecond);
    },
    end: () => current?.bar.end(),
  };
}

/** Describes a record that `--skip-broken` leaves out. */
export function leftOutText(identifier: string | null | undefined, reason: string): string {
  const record = identifier ?? t`a record`;
  return t`Skipped ${record}: ${reason}.`;
}
