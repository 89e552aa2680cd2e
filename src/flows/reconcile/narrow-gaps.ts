import type { HarvestedFind } from '../../find/harvested-find.ts';
import { entriesOfRecord } from '../../outbox/entries.ts';
import { type Gap, replaceGaps } from '../../outbox/gaps.ts';
import type { ServerNow } from '../../outbox/server-time.ts';
import { inServerTime } from './doubt-window.ts';
import type { LookContext } from './gather-evidence.ts';
import { tooEarly } from './judge-absence.ts';
import { couldBeMade, projectOfFind } from './judge-doubt.ts';
import { couldBeStored } from './judge-photograph.ts';
import type { View, Window } from './verdict.ts';

type NarrowingContext = Pick<LookContext, 'outbox' | 'settleMs' | 'user'>;

/**
 * What a harvest says about the times of which this outbox knows nothing. A gap stays only for the projects in which
 * this account may have made records, or stored photographs, that no entry here is known to have made.
 */
export function narrowGaps(context: NarrowingContext, gaps: readonly Gap[], view: View & ServerNow): void {
  const { outbox } = context;
  // Where the harvest shows no record of this account, those that it does not show prove nothing.
  if (view.shown.size === 0) return;
  const narrowed = gaps.flatMap((gap) => {
    const window = windowOfGap(gap, context, view);
    if (tooEarly(window, view) !== undefined) return [gap];
    const left = new Set([...orphansOf(window, view), ...strangePhotographs(context, window, view)]);
    return [...left].filter((project) => gap.project === null || gap.project === project).map((project) => ({ ...gap, project }));
  });
  replaceGaps(outbox, narrowed);
}

function windowOfGap(gap: Gap, { settleMs, user }: NarrowingContext, now: ServerNow): Window {
  const { fromMs, untilMs } = inServerTime(gap, now);
  const endMs = untilMs + settleMs;
  return {
    fromMs,
    untilMs: endMs,
    answeredMs: endMs,
    settledMs: endMs,
    accounts: user === undefined ? undefined : new Set([user]),
  };
}

/** Projects of records of that time that no entry here made. */
function orphansOf(window: Window, view: View): string[] {
  const shown = [...view.finds.values()].filter((find) => couldBeMade(window, find));
  const hidden = [...view.withheld, ...view.deleted].filter(([, changedMs]) => changedMs >= window.fromMs);
  return [
    ...shown.filter(({ identCely }) => !view.isOwned(identCely)).map(({ elements }) => projectOfFind(elements)),
    ...hidden.filter(([identCely]) => !view.isOwned(identCely)).map(([identCely]) => identCely.replace(/-N\d+$/, '')),
  ];
}

/** Projects of records that were given a photograph in that time that no entry here sent. */
function strangePhotographs({ outbox }: NarrowingContext, window: Window, view: View): string[] {
  const hasStrange = (find: HarvestedFind): boolean => {
    const stored = find.files.filter((file) => couldBeStored(window, file));
    if (stored.length === 0) return false;
    const own = entriesOfRecord(outbox, find.identCely).filter((entry) => entry.kind === 'photo');
    const sent = own.filter(({ state }) => state === 'accepted').map(({ photograph }) => photograph);
    return stored.some(
      (file) =>
        !sent.some(
          ({ name, sha512 }) => sha512.toString('hex') === file.sha512Hex || file.history.some(({ note }) => note === name),
        ),
    );
  };
  return [...view.finds.values()].filter(hasStrange).map(({ elements }) => projectOfFind(elements));
}
