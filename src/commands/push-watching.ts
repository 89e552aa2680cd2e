import { ContractError, messageOf, OutboxLeasedError, type PasError, UnavailableError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { leftOutNow } from '../flows/left-out.ts';
import type { PushResult } from '../flows/push.ts';
import { type Round, type WatchEvent, watch } from '../flows/watch.ts';
import { reasonToStay } from '../flows/who-answers.ts';
import { nextDueAt } from '../outbox/claims.ts';
import { entriesInState } from '../outbox/entries.ts';
import { countQueued } from '../outbox/overview.ts';
import { printable } from '../ui/terminal.ts';
import { type Pusher, pushOnce } from './push-once.ts';

/** A harvest costs the service more than a probe. */
const LEAST_LOOK_MS = 60_000;

const NEVER = Number.POSITIVE_INFINITY;

/** All rounds in one; `atRest`: nothing was under way when it was stopped. */
type WatchedPush = PushResult & { readonly atRest: boolean };

export async function pushWatching(pusher: Pusher): Promise<WatchedPush> {
  const { context, interrupts } = pusher;
  const { clock, terminal } = context;
  const startedMs = clock.monotonicMs();
  const totals = { accepted: 0, refused: 0, requests: 0, throttled: 0, locked: 0 };
  let last: PushResult | undefined;
  let isFirst = true;
  let lookedAtMs = clock.now();
  terminal.note(t`Watching: what is queued is sent as soon as it can be. Press Ctrl-C to stop.`);
  const stopCause = await watch({
    clock,
    stop: interrupts.stop,
    push: async () => {
      const round = await oneRound(pusher, isFirst);
      isFirst = false;
      if (round === undefined || !('requests' in round)) return round;
      last = round;
      lookedAtMs = clock.now();
      for (const key of ['accepted', 'refused', 'requests', 'throttled', 'locked'] as const) totals[key] += round[key];
      return round;
    },
    isOpen: () => isOpen(pusher),
    dueAtMs: () => dueAtMs(pusher, lookedAtMs),
    report: sayOnce(pusher, () => totals.requests > 0),
  });
  const elapsedMs = clock.monotonicMs() - startedMs;
  const atRest = stopCause.kind === 'interrupted' && last?.stopCause?.kind !== 'interrupted';
  return { ...totals, elapsedMs, oddlyAnswered: last?.oddlyAnswered ?? [], leftOut: last?.leftOut ?? [], stopCause, atRest };
}

/** What is in doubt is looked up again when the service must be done with it. */
function dueAtMs({ context, outbox, kinds, recordKeys, anyAccount, walls }: Pusher, lookedAtMs: number): number | undefined {
  const { clock } = context;
  const { settleMs, oaiBase } = context.profile();
  const leftOut = leftOutNow(walls, clock);
  const sendAtMs = nextDueAt(outbox, { kinds, anyAccount, recordKeys, busyRecords: [], busyProjects: [], leftOut });
  const inDoubt = oaiBase !== undefined && entriesInState(outbox, 'uncertain').length > 0;
  const lookAtMs = inDoubt ? lookedAtMs + Math.max(settleMs, LEAST_LOOK_MS) : undefined;
  const soonestMs = Math.min(
    sendAtMs ?? NEVER,
    lookAtMs ?? NEVER,
    ...leftOut.map(({ untilMs }) => clock.now() + untilMs - clock.monotonicMs()),
  );
  return soonestMs === NEVER ? undefined : soonestMs;
}

/** An outbox that another pas holds from the beginning is refused or taken over; later that pas came after this one, and is waited for. */
async function oneRound(pusher: Pusher, isFirst: boolean): Promise<Round | PushResult | undefined> {
  try {
    return await pushOnce({ ...pusher, takeOver: pusher.takeOver && isFirst });
  } catch (thrown) {
    if (thrown instanceof OutboxLeasedError && !isFirst) return undefined;
    // Nobody could be asked for a token. An address that is wrong from the beginning is said.
    const isGone = isFirst ? thrown instanceof UnavailableError : isAway(thrown);
    if (isGone) return { accepted: 0, stopCause: { kind: 'unreachable', reason: messageOf(thrown) } };
    throw thrown;
  }
}

/** Whether the service itself is there, and not what stands in its place on the way. */
async function isOpen({ context, pace, service, interrupts }: Pusher): Promise<boolean> {
  const { stop } = interrupts;
  try {
    const token = await service.session.token(stop);
    return (await reasonToStay({ ...service, clock: context.clock, pace, stop }, token)) === undefined;
  } catch (thrown) {
    if (isAway(thrown) || stop.aborted) return false;
    throw thrown;
  }
}

/** The service does not answer, or something else does. */
function isAway(thrown: unknown): thrown is PasError {
  return thrown instanceof UnavailableError || thrown instanceof ContractError;
}

/** Programs are told of each wait, people only of a new one. */
function sayOnce(pusher: Pusher, hasAsked: () => boolean): (event: WatchEvent) => void {
  const { terminal, clock } = pusher.context;
  let said = '';
  return (event) => {
    const { untilMs, reason, ...rest } = event;
    terminal.value({ ...rest, reason, until: untilMs === null ? null : new Date(untilMs).toISOString() });
    const isResting = event.for === 'entries';
    const text = isResting ? restingText(pusher, hasAsked()) : waitingText(event.for, event, clock.now());
    const topic = isResting ? text : event.for;
    if (topic === said) terminal.detail(text);
    else terminal.note(text);
    said = topic;
  };
}

/** Without a request nobody knows whether the service is there, and nothing was sent. */
function restingText({ outbox, kinds, ...which }: Pusher, hasAsked: boolean): string {
  if (hasAsked) return t`All that can be sent is sent. Waiting for more.`;
  const counts = countQueued(outbox, which);
  const isEmpty = kinds.every((kind) => counts[kind] === 0);
  return isEmpty
    ? t`Nothing is queued. Waiting for what is queued later.`
    : t`Nothing that is queued can be sent yet; \`pas status\` says what it waits for. Waiting for more.`;
}

function waitingText(what: 'service' | 'time', { reason, untilMs }: WatchEvent, nowMs: number): string {
  const seconds = untilMs === null ? 0 : Math.max(1, Math.round((untilMs - nowMs) / 1000));
  const why = printable(reason ?? '');
  switch (what) {
    case 'service':
      return t`Waiting for the service (${why}); asked again in ${seconds} s.`;
    case 'time':
      return t`Waiting ${seconds} s for what may not be sent sooner.`;
  }
}
