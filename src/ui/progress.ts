import { t } from '../base/language.ts';
import { cutTo } from '../text/width.ts';

export type Progress = {
  /**
   * @param total undefined while it is unknown
   * @param perSecond current rate; without it, the mean since the beginning
   */
  update(done: number, total: number | undefined, perSecond?: number): void;
  end(): void;
};

export const NO_PROGRESS: Progress = { update: () => {}, end: () => {} };

const WIDEST_BAR = 24;
const REDRAW_MS = 80;
/** Shorter work needs no bar, and gives no reliable rate. */
const FIRST_AFTER_MS = 500;

/** Returns the columns of a terminal; a serial line, or a terminal of a program, may report 0 for unknown. */
export function widthOf({ columns }: Pick<NodeJS.WriteStream, 'columns'>): number | undefined {
  return columns === 0 ? undefined : columns;
}

/** A bar that is hidden while other output is written, and redrawn below it. */
export type Bar = Progress & { hide(): void };

/** Makes a bar in the terminal's last line, with the rate and the remaining time. */
export function makeBar(stream: Pick<NodeJS.WriteStream, 'write' | 'columns'>, label: string, now: () => number): Bar {
  const startedAt = now();
  let drawnAt: number | undefined;
  const draw = (text: string) => stream.write(`\r\u001b[2K${cutTo(text, (widthOf(stream) ?? 80) - 1)}`);
  const clear = (): void => {
    if (drawnAt !== undefined) draw('');
    drawnAt = undefined;
  };
  return {
    update(done, total, perSecond) {
      const at = now();
      if (at - startedAt < FIRST_AFTER_MS || (drawnAt !== undefined && at - drawnAt < REDRAW_MS && done !== total)) return;
      drawnAt = at;
      const rate = perSecond ?? (done * 1000) / (at - startedAt);
      draw(
        [label, barOf(done, total, Math.min(WIDEST_BAR, Math.floor((widthOf(stream) ?? 80) / 5))), noteOf(done, total, rate)]
          .filter((part) => part !== '')
          .join(' '),
      );
    },
    hide: clear,
    end: clear,
  };
}

function barOf(done: number, total: number | undefined, cells: number): string {
  if (total === undefined) return String(done);
  const filled = total === 0 ? 0 : Math.round((Math.min(done, total) / total) * cells);
  return `${'█'.repeat(filled)}${'░'.repeat(cells - filled)} ${done}/${total}`;
}

function noteOf(done: number, total: number | undefined, perSecond: number): string {
  if (perSecond <= 0) return '';
  const rate = `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)}/s`;
  if (total === undefined || done >= total) return rate;
  const left = duration((total - done) / perSecond);
  return t`${rate}, ${left} left`;
}

/** Formats a duration: "42 s", "17 min", "3 h 20 min" */
function duration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 120) return `${whole} s`;
  const minutes = Math.ceil(whole / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
