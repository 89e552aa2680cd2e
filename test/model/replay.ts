import type { Random } from '../chaos/random.ts';
import { type CopiedAs, FINDS, type Prepared } from './prepared-outbox.ts';
import { type Action, actions, firstState, isAtRest, type State } from './protocol.ts';
import { RealOutbox } from './real-outbox.ts';

const INDEX_ALLOWANCES_MS = [0, 600_000] as const;
/** An eighth each of the slow ones. */
const COPIED_AS = ['backup', 'files', ...Array<CopiedAs>(6).fill('content')] as const;
const MOST_STEPS = 60;

/** What a trace did, or how the outbox went another way than the model. */
export type Replayed = { readonly steps: readonly string[]; readonly looks: number; readonly differs: string | undefined };

/** Takes a random way through the model, and the real outbox with it. */
export async function replay(prepared: Prepared, random: Random): Promise<Replayed> {
  const ways = { indexAllowanceMs: random.pick(INDEX_ALLOWANCES_MS), copiedAs: random.pick(COPIED_AS) };
  const outbox = new RealOutbox(prepared, ways);
  const steps: string[] = [];
  let state = firstState(FINDS.length, 2, 1);
  let looks = 0;
  try {
    for (;;) {
      const differs = outbox.differsFrom(state);
      looks += state.finds.filter(({ entry }) => entry === 'uncertain').length;
      const possible = [...actions(state, undefined)];
      if (differs !== undefined || isOver(state) || steps.length === MOST_STEPS) return { steps, looks, differs };
      const action = random.pick(possible.flatMap((one) => Array<Action>(isRestless(one) ? 1 : 5).fill(one)));
      steps.push(`${action.sender ?? ''} ${action.name} ${action.find ?? ''}`.trim());
      // The outbox may be more careful than the model, and then the way goes on without that step.
      if (await outbox.take(state, action)) state = action.next;
      outbox.lookAtOnce(state);
    }
  } catch (thrown) {
    return { steps, looks, differs: `it fails: ${thrown instanceof Error ? thrown.stack : String(thrown)}` };
  }
}

function isOver(state: State): boolean {
  return isAtRest(state) && (state.copiesLeft === 0 || state.copy === null);
}

/** What can happen again and again without anything coming of it. */
function isRestless({ name }: Action): boolean {
  return name === 'begins' || name === 'ends';
}
