import { type Action, actions, type Guard, isAtRest, type State, wrongIn } from './protocol.ts';

export type Explored = {
  readonly states: number;
  /** Moves of an entry that occur. */
  readonly moves: ReadonlySet<string>;
  /** The shortest way to what must never be so; undefined where there is none. */
  readonly wrong: { readonly what: string; readonly way: readonly string[] } | undefined;
  /** States from which nothing leads to a find at the service any more. */
  readonly stuck: number;
};

/** Every state that can be reached, the near ones first. Finds are alike, so their order does not count. */
export function explore(first: State, without?: Guard): Explored {
  const seen = new Map<string, { readonly from: string | null; readonly by: string }>();
  const before = new Map<string, string[]>();
  const resting: string[] = [];
  const moves = new Set<string>();
  const queue: [string, State][] = [[keyOf(first), first]];
  seen.set(keyOf(first), { from: null, by: '' });
  for (let at = 0; at < queue.length; at += 1) {
    const [key, state] = queue[at] as [string, State];
    const what = wrongIn(state);
    if (what !== undefined) return { states: seen.size, moves, wrong: { what, way: wayTo(key, seen) }, stuck: 0 };
    if (isAtRest(state)) resting.push(key);
    for (const action of actions(state, without)) {
      noteMoves(state, action.next, action, moves);
      const next = keyOf(action.next);
      before.set(next, [...(before.get(next) ?? []), key]);
      if (seen.has(next)) continue;
      seen.set(next, { from: key, by: saidOf(action) });
      queue.push([next, action.next]);
    }
  }
  return { states: seen.size, moves, wrong: undefined, stuck: seen.size - leadingTo(resting, before) };
}

/** What a person or a copy does to an entry is no move of the protocol. */
function noteMoves(state: State, next: State, { name }: Action, moves: Set<string>): void {
  if (name === 'the copy is put back') return;
  for (const [at, { entry }] of state.finds.entries()) {
    const to = next.finds[at]?.entry;
    if (to !== undefined && to !== entry) moves.add(`${entry} -> ${to}`);
  }
}

function leadingTo(goals: readonly string[], before: ReadonlyMap<string, readonly string[]>): number {
  const reached = new Set(goals);
  const open = [...goals];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (const earlier of before.get(key) ?? []) {
      if (reached.has(earlier)) continue;
      reached.add(earlier);
      open.push(earlier);
    }
  }
  return reached.size;
}

function wayTo(key: string, seen: ReadonlyMap<string, { readonly from: string | null; readonly by: string }>): string[] {
  const way: string[] = [];
  for (let at: string | null = key; at !== null; ) {
    const step: { readonly from: string | null; readonly by: string } | undefined = seen.get(at);
    if (step === undefined || step.from === null) break;
    way.unshift(step.by);
    at = step.from;
  }
  return way;
}

function saidOf({ name, find, sender }: Action): string {
  return [sender === null ? '' : `sender ${sender + 1}`, name, find === null ? '' : `(find ${find + 1})`]
    .filter((part) => part !== '')
    .join(' ');
}

function keyOf({ finds, holder, running, crashesLeft, copy, copiesLeft, begunSinceCopy, putBack }: State): string {
  const each = finds.map(
    ({ entry, sender, left, onItsWay, records, listed }, at) =>
      `${entry.slice(0, 2)}${sender ?? '-'}${left ? 1 : 0}${onItsWay}${records}${listed}${copy?.[at]?.slice(0, 2) ?? ''}`,
  );
  return `${each.sort().join(' ')}|${holder ?? '-'}${running.map(Number).join('')}${crashesLeft}${copiesLeft}${copy === null ? 0 : 1}${begunSinceCopy ? 1 : 0}${putBack ? 1 : 0}`;
}
