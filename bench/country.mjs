import { setImmediate as turn } from 'node:timers/promises';
import { UNSEEN } from '../dist/src/service/http/pace-store.js';
import { makePace } from '../dist/src/service/http/pacer.js';

export const title = 'the season of a whole country at one service, in simulated time';

const ACCOUNTS = 200;
/** Accounts behind one address, which share a store. */
const OFFICE = 4;
const FINDS = 300_000;
const PHOTOGRAPHS = 900_000;
const INTERVAL_MS = 100;
const RETRY_AFTER_MS = 1000;
const ANSWER_MS = 500;
const DELAY_MS = 30;
/**
 * Delay of a link that wanders: at most so far, and by so much from one request to the next in root
 * mean square.
 */
const SPREAD_MS = 30;
const STEP_MS = 2;

const EACH = (FINDS + PHOTOGRAPHS) / ACCOUNTS;
const LINKS = [
  { link: 'steady', stepMs: 0, part: 1, maxTimes: 1.05, maxThrottled: 0 },
  // The rate does not depend on how long it runs.
  { link: 'wandering', stepMs: STEP_MS, part: 0.1, maxTimes: 1.15, maxThrottled: 0.005 },
];

export async function run(bench) {
  for (const { link, stepMs, part, maxTimes, maxThrottled } of LINKS) {
    const each = EACH * part;
    const requests = ACCOUNTS * each;
    const limitMs = (OFFICE * each - 1) * INTERVAL_MS;
    const { slowestMs, throttled } = await simulate(each, stepMs);
    const minutes = (ms) => `${(ms / 60_000).toFixed(1)} min`;
    bench.verdict(
      `${requests} requests of ${ACCOUNTS} accounts at ${ACCOUNTS / OFFICE} addresses with ${link} links, simulated`,
      {
        figure: minutes(slowestMs),
        against: `the permitted ${minutes(limitMs)}`,
        ratio: slowestMs / limitMs,
        target: maxTimes,
        better: 'less',
      },
    );
    bench.verdict(`the same: throttled`, {
      figure: `${throttled}`,
      against: `${requests} requests`,
      ratio: throttled / requests,
      target: maxThrottled,
      better: 'less',
    });
  }
}

/** The longest time from the first to the last request that an address got through. */
async function simulate(each, stepMs) {
  const world = makeWorld();
  const offices = Array.from({ length: ACCOUNTS / OFFICE }, (_, number) =>
    openOffice(world, number, each, stepMs),
  );
  const done = Promise.all(offices.map(({ work }) => work));
  await world.pass(done);
  return {
    slowestMs: Math.max(...offices.map(({ passed }) => passed.lastMs - passed.firstMs)),
    throttled: offices.reduce((sum, { passed }) => sum + passed.throttled, 0),
  };
}

/** The accounts of one address, which reach the service by one link. */
function openOffice(world, number, each, stepMs) {
  const random = randomFrom(number + 1);
  const states = new Map();
  let offsetMs = 0;
  let arrivedMs = 0;
  const delayMs = () => {
    offsetMs = Math.max(
      -SPREAD_MS,
      Math.min(SPREAD_MS, offsetMs + stepMs * Math.sqrt(3) * (2 * random() - 1)),
    );
    return DELAY_MS + offsetMs;
  };
  const service = { address: Number.NEGATIVE_INFINITY, accounts: new Map() };
  const passed = { firstMs: Number.POSITIVE_INFINITY, lastMs: 0, throttled: 0 };
  /**
   * A-RATE-8 and A-RATE-9: an interval runs from the last request that passed the check of its
   * scope.
   */
  const isLetThrough = (account, atMs) => {
    if (atMs - (service.accounts.get(account) ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS)
      return false;
    service.accounts.set(account, atMs);
    if (atMs - service.address < INTERVAL_MS) return false;
    service.address = atMs;
    return true;
  };
  const push = async (account) => {
    const clock = world.openClock();
    const scopes = [`address:${number}`, `account:${number}.${account}`];
    const update = async (names, change) => {
      await clock.catchUp();
      const { result, next } = change(
        names.map((name) => states.get(name) ?? UNSEEN),
        clock.monotonicMs(),
      );
      next?.forEach((state, index) => void states.set(names[index], state));
      return result;
    };
    const pace = makePace({ store: { update }, clock, scopes, intervalMs: INTERVAL_MS });
    await clock.sleep(random() * INTERVAL_MS * OFFICE);
    for (let sent = 0; sent < each; ) {
      await pace.waitUntilNear();
      (await pace.acquire()).depart();
      const leftMs = clock.monotonicMs();
      // Bytes of one link do not overtake each other.
      const atMs = Math.max(leftMs + delayMs(), arrivedMs);
      arrivedMs = atMs;
      if (isLetThrough(account, atMs)) {
        passed.firstMs = Math.min(passed.firstMs, atMs);
        passed.lastMs = Math.max(passed.lastMs, atMs);
        sent += 1;
      } else {
        passed.throttled += 1;
        void clock
          .sleep(atMs + DELAY_MS - leftMs)
          .then(() => pace.pauseAfterThrottle(leftMs, RETRY_AFTER_MS));
      }
      await clock.catchUp();
    }
    await clock.sleep(ANSWER_MS);
  };
  return {
    passed,
    work: Promise.all(Array.from({ length: OFFICE }, (_, account) => push(account))),
  };
}

/** Time that jumps to the next event when no task is left to run. */
function makeWorld() {
  /** @type {{ atMs: number, run: () => void }[]} a heap, the earliest first */
  const events = [];
  let nowMs = 1_000_000;
  const sleep = (ms) =>
    new Promise((resolve) =>
      add(events, { atMs: nowMs + Math.max(ms, 0), run: () => resolve(undefined) }),
    );
  return {
    /** The clock of one process: while it holds its processor, it is ahead of the others. */
    openClock() {
      let aheadMs = 0;
      const clock = {
        monotonicMs: () => nowMs + aheadMs,
        now: () => nowMs + aheadMs,
        sleep: (ms) => sleep(ms + aheadMs),
        hold: (ms) => {
          aheadMs += Math.max(ms, 0);
        },
        async catchUp() {
          if (aheadMs === 0) return;
          await sleep(aheadMs);
          aheadMs = 0;
        },
      };
      return clock;
    },
    async pass(work) {
      let isDone = false;
      void work.finally(() => {
        isDone = true;
      });
      for (;;) {
        await turn();
        if (isDone) return work;
        const event = takeFirst(events);
        if (event === undefined) throw new Error('nothing is planned, and the work does not end');
        nowMs = event.atMs;
        event.run();
      }
    },
  };
}

function add(events, event) {
  let at = events.push(event) - 1;
  for (
    let above = (at - 1) >> 1;
    at > 0 && events[above].atMs > event.atMs;
    above = (at - 1) >> 1
  ) {
    events[at] = events[above];
    at = above;
  }
  events[at] = event;
}

function takeFirst(events) {
  const [first] = events;
  const last = events.pop();
  if (events.length === 0) return first;
  let at = 0;
  for (let below = 1; below < events.length; below = 2 * at + 1) {
    if (below + 1 < events.length && events[below + 1].atMs < events[below].atMs) below += 1;
    if (events[below].atMs >= last.atMs) break;
    events[at] = events[below];
    at = below;
  }
  events[at] = last;
  return first;
}

/** The same numbers from 0 to 1 in each run. */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
