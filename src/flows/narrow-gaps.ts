import type { HarvestedFind } from '../find/harvested-find.ts';
import { entriesOfRecord } from '../outbox/entries.ts';
import { type Gap, replaceGaps } from '../outbox/gaps.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { couldBeMade, couldBeStored, projectOfFind, type View, type Window } from './judge-doubt.ts';

type NarrowingContext = { readonly outbox: Outbox; readonly profile: string; readonly settleMs: number };

/**
 * What a harvest says about the times of which this outbox knows nothing. A gap stays only for the projects in which
 * this account may have made records, or stored photographs, that no entry here is known to have made.
 */
export function narrowGaps(context: NarrowingContext, gaps: readonly Gap[], view: View & { readonly offsetMs: number }): void {
  const { outbox, profile } = context;
  // Where the harvest shows no record of this account, those that it does not show prove nothing.
  if (view.sights.size === 0) return;
  const narrowed = gaps.flatMap((gap) => {
    const window = windowOfGap(gap, context.settleMs, view.offsetMs);
    if (view.nowMs <= window.settledMs) return [gap];
    const left = new Set([...strangersOf(window, view), ...strangePhotographs(context, window, view)]);
    return [...left].filter((project) => gap.project === null || gap.project === project).map((project) => ({ ...gap, project }));
  });
  replaceGaps(outbox, profile, narrowed);
}

function windowOfGap({ fromMs, untilMs }: Gap, settleMs: number, offsetMs: number): Window {
  const endMs = untilMs + offsetMs + settleMs;
  return { fromMs: fromMs + offsetMs, untilMs: endMs, settledMs: endMs };
}

/** Projects of records of that time that no entry here made. */
function strangersOf(window: Window, view: View): string[] {
  const shown = [...view.finds.values()].filter((find) => couldBeMade(window, find, view));
  const hidden = [...view.withheld].filter(([, changedMs]) => changedMs >= window.fromMs);
  return [
    ...shown.filter(({ identCely }) => !view.owned.has(identCely)).map(({ elements }) => projectOfFind(elements)),
    ...hidden.filter(([identCely]) => !view.owned.has(identCely)).map(([identCely]) => identCely.replace(/-N\d+$/, '')),
  ];
}

/** Projects of records that were given a photograph in that time that no entry here sent. */
function strangePhotographs({ outbox, profile }: NarrowingContext, window: Window, view: View): string[] {
  const hasStrange = (find: HarvestedFind): boolean => {
    const stored = find.files.filter((file) => couldBeStored(window, file, view));
    if (stored.length === 0) return false;
    const own = entriesOfRecord(outbox, find.identCely, profile).filter((entry) => entry.kind === 'photo');
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
