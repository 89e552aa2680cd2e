import type { EntryState } from '../../src/outbox/entry.ts';

/**
 * The way of a find to the service, without anything but what decides whether it is made once: what stands in the outbox, what is on its
 * way, what the service has, what its index shows. Time is left out: what a wait is for has happened, or it has not.
 */
export type Find = {
  readonly entry: Extract<EntryState, 'queued' | 'sending' | 'uncertain' | 'accepted'>;
  /** Which sender has claimed it and holds the answer's place; none where that one is gone. */
  readonly sender: Sender | null;
  /** Whether its request has left since the claim. */
  readonly left: boolean;
  readonly onItsWay: number;
  readonly records: number;
  readonly listed: number;
};

export const SENDERS = [0, 1] as const;
export type Sender = (typeof SENDERS)[number];

export type State = {
  readonly finds: readonly Find[];
  /** Who holds the outbox, and whether that one still runs. */
  readonly holder: Sender | null;
  readonly running: readonly [boolean, boolean];
  readonly crashesLeft: number;
  /** States of the entries in a copy of the outbox; null before it was made, and after it was put back. */
  readonly copy: readonly Find['entry'][] | null;
  readonly copiesLeft: number;
  /** Whether anybody has begun since the copy was made: before that both know the same. */
  readonly begunSinceCopy: boolean;
  /** The outbox is an older copy, and nobody has noticed. */
  readonly putBack: boolean;
};

/** What the protocol rests on. Without any one of them it is wrong. */
export const GUARDS = [
  'one sender at a time',
  'written down before it leaves',
  'what a sender left behind is in doubt',
  'no answer is a doubt',
  'a doubt waits until nothing is on its way',
  'a doubt waits until the index has come so far',
  'only the maker’s own harvest proves absence',
  'a copy that is put back is recognised',
] as const;
export type Guard = (typeof GUARDS)[number];

export type Action = {
  readonly name: string;
  readonly find: number | null;
  readonly sender: Sender | null;
  readonly next: State;
};

export function firstState(finds: number, crashesLeft: number, copiesLeft: number): State {
  const find: Find = { entry: 'queued', sender: null, left: false, onItsWay: 0, records: 0, listed: 0 };
  return {
    finds: Array.from({ length: finds }, () => find),
    holder: null,
    running: [false, false],
    crashesLeft,
    copy: null,
    copiesLeft,
    begunSinceCopy: false,
    putBack: false,
  };
}

/** All that can happen next. */
export function* actions(state: State, without: Guard | undefined): Generator<Action> {
  for (const sender of SENDERS) yield* ofSender(state, sender, without);
  for (const [at, find] of state.finds.entries()) {
    const become = (name: string, changes: Partial<Find>): Action => ({
      name,
      find: at,
      sender: null,
      next: withFind(state, at, changes),
    });
    if (find.onItsWay > 0) {
      const arrived = { onItsWay: find.onItsWay - 1, records: find.records + 1 };
      yield become('it arrives, and its answer is lost', arrived);
      if (find.entry === 'sending' && find.sender !== null && find.left)
        yield become('it arrives, and is answered', { ...arrived, entry: 'accepted', sender: null, left: false });
      yield become('it is lost', { onItsWay: find.onItsWay - 1 });
    }
    if (find.listed < find.records) yield become('the index shows it', { listed: find.records });
  }
  if (state.copiesLeft > 0 && !state.running.some(Boolean)) {
    const copy = state.finds.map(({ entry }) => entry);
    if (state.copy === null)
      yield { name: 'the outbox is copied', find: null, sender: null, next: { ...state, copy, begunSinceCopy: false } };
    else yield { name: 'the copy is put back', find: null, sender: null, next: restored(state, state.copy) };
  }
}

function* ofSender(state: State, sender: Sender, without: Guard | undefined): Generator<Action> {
  const act = (name: string, find: number | null, next: State): Action => ({ name, find, sender, next });
  const isHeld = state.holder !== null && state.running[state.holder];
  if (!state.running[sender]) {
    if (!isHeld || without === 'one sender at a time') yield act('begins', null, begun(state, sender, without));
    return;
  }
  const own = state.finds.filter((find) => find.sender === sender);
  if (own.length === 0) yield act('ends', null, { ...state, holder: null, running: running(state, sender, false) });
  if (state.crashesLeft > 0)
    yield act('is killed', null, {
      ...state,
      running: running(state, sender, false),
      crashesLeft: state.crashesLeft - 1,
      finds: state.finds.map((find) => (find.sender === sender ? { ...find, sender: null } : find)),
    });
  for (const [at, find] of state.finds.entries()) {
    const become = (name: string, changes: Partial<Find>): Action => act(name, at, withFind(state, at, changes));
    const isWrittenFirst = without !== 'written down before it leaves';
    if (find.entry === 'queued' && find.sender === null)
      yield isWrittenFirst
        ? become('claims it', { entry: 'sending', sender })
        : become('lets it leave, and writes nothing down', { sender, left: true, onItsWay: find.onItsWay + 1 });
    if (find.sender !== sender) {
      if (find.entry === 'uncertain') yield* ofLook(find, without, become);
      continue;
    }
    if (find.entry === 'sending' && !find.left) yield become('lets it leave', { left: true, onItsWay: find.onItsWay + 1 });
    if (!isWrittenFirst && find.entry === 'queued') yield become('writes it down', { entry: 'sending' });
    if (find.entry === 'sending' && find.left)
      yield become('gets no answer', {
        entry: without === 'no answer is a doubt' ? 'queued' : 'uncertain',
        sender: null,
        left: false,
      });
    // Whoever runs beside it has made a doubt of what it was about to send.
    if (find.entry === 'uncertain' && !find.left)
      yield become('lets it leave all the same', { left: true, onItsWay: find.onItsWay + 1 });
  }
}

function* ofLook(
  find: Find,
  without: Guard | undefined,
  become: (name: string, changes: Partial<Find>) => Action,
): Generator<Action> {
  if (find.listed > 0) yield become('looks, and finds it', { entry: 'accepted', sender: null, left: false });
  const isSettled = find.onItsWay === 0 || without === 'a doubt waits until nothing is on its way';
  const isIndexed = find.listed === find.records || without === 'a doubt waits until the index has come so far';
  if (find.listed === 0 && isSettled && isIndexed)
    yield become('looks, and it is not there', { entry: 'queued', sender: null, left: false });
  if (isSettled && without === 'only the maker’s own harvest proves absence')
    yield become('looks as somebody who is not shown it', { entry: 'queued', sender: null, left: false });
}

/** Takes the outbox, and takes up what the last one left. */
function begun(state: State, sender: Sender, without: Guard | undefined): State {
  const left = without === 'what a sender left behind is in doubt' ? 'queued' : 'uncertain';
  const isNoticed = state.putBack && without !== 'a copy that is put back is recognised';
  return {
    ...state,
    holder: sender,
    running: running(state, sender, true),
    begunSinceCopy: true,
    putBack: false,
    finds: state.finds.map((find): Find => {
      if (find.entry === 'sending') return { ...find, entry: left, left: false };
      return isNoticed && find.entry === 'queued' ? { ...find, entry: 'uncertain' } : find;
    }),
  };
}

function restored(state: State, copy: readonly Find['entry'][]): State {
  return {
    ...state,
    copy: null,
    copiesLeft: state.copiesLeft - 1,
    holder: null,
    putBack: state.begunSinceCopy,
    finds: state.finds.map((find, at) => ({ ...find, entry: copy[at] ?? find.entry, sender: null, left: false })),
  };
}

function running(state: State, sender: Sender, runs: boolean): State['running'] {
  return sender === 0 ? [runs, state.running[1]] : [state.running[0], runs];
}

function withFind(state: State, at: number, changes: Partial<Find>): State {
  return { ...state, finds: state.finds.map((find, index) => (index === at ? { ...find, ...changes } : find)) };
}

/** What must never be so. */
export function wrongIn({ finds }: State): string | undefined {
  if (finds.some(({ records }) => records > 1)) return 'a find was made twice';
  if (finds.some(({ entry, records }) => entry === 'accepted' && records === 0))
    return 'a find is called accepted and was not made';
  return undefined;
}

export function isAtRest({ finds }: State): boolean {
  return finds.every(({ entry }) => entry === 'accepted');
}
