import type { MockClock } from './clock.ts';
import { type Hooks, NO_HOOKS, type SentAnswer, SimulatedDisconnect } from './fault-hooks.ts';
import type { FaultEndpoint, FaultRule } from './fault-rules.ts';
import { type Answer, HttpError } from './http-message.ts';
import type { Say } from './messages.ts';
import { detail, htmlPage } from './problem.ts';
import { seededRandom } from './random.ts';

type LiveRule = { readonly id: number; rule: FaultRule; readonly random: () => number; seen: number; struck: number };

/** The faults that are set, and how often each has met a request and struck. */
export class Faults {
  #rules: LiveRule[] = [];
  #nextId = 1;

  /** Replaces all rules. */
  set(rules: readonly FaultRule[]): void {
    this.#rules = [];
    for (const rule of rules) this.add(rule);
  }

  add(rule: FaultRule): void {
    this.#rules.push({ id: this.#nextId++, rule, random: seededRandom(rule.when?.seed ?? 1), seen: 0, struck: 0 });
  }

  /** @returns false where there is no such rule; so does {@link remove} */
  switch(id: number, active: boolean): boolean {
    const live = this.#rules.find((candidate) => candidate.id === id);
    if (live !== undefined) live.rule = { ...live.rule, active };
    return live !== undefined;
  }

  remove(id: number): boolean {
    const before = this.#rules.length;
    this.#rules = this.#rules.filter((live) => live.id !== id);
    return this.#rules.length < before;
  }

  /** As they were set. */
  rules(): readonly FaultRule[] {
    return this.#rules.map(({ rule }) => rule);
  }

  /** The rules with their counters, as `GET /faults` shows them. */
  list(): ReadonlyArray<FaultRule & { readonly id: number; readonly seen: number; readonly struck: number }> {
    return this.#rules.map(({ id, rule, seen, struck }) => ({ id, ...rule, seen, struck }));
  }

  /**
   * Called once for each request that has passed the gates. Every rule of the endpoint counts it; the first whose
   * condition holds strikes.
   * @param ident the record in the path, or what a harvesting request asks for
   */
  take(endpoint: FaultEndpoint, ident?: string): FaultRule | undefined {
    let striking: LiveRule | undefined;
    for (const live of this.#rules) {
      if (live.rule.endpoint !== endpoint || live.rule.active === false) continue;
      if (live.rule.when?.ident !== undefined && live.rule.when.ident !== ident) continue;
      live.seen += 1;
      if (striking === undefined && holds(live)) striking = live;
    }
    if (striking !== undefined) striking.struck += 1;
    return striking?.rule;
  }
}

function holds({ rule, random, seen, struck }: LiveRule): boolean {
  const { nth, every, probability } = rule.when ?? {};
  if (rule.times !== undefined && struck >= rule.times) return false;
  if (nth !== undefined && seen !== nth) return false;
  if (every !== undefined && seen % every !== 0) return false;
  return probability === undefined || random() < probability;
}

/**
 * Runs an operation under a fault. What strikes before or after saving does so at the operation's own hooks; an operation
 * that saves nothing may ignore them, and is then struck around itself.
 */
export async function runUnderFault(
  fault: FaultRule | undefined,
  { clock, say }: { readonly clock: Pick<MockClock, 'sleep'>; readonly say: Say },
  operation: (hooks: Hooks) => Promise<Answer> | Answer,
): Promise<SentAnswer> {
  if (fault === undefined) return operation(NO_HOOKS);
  const early = answerInstead(fault, say);
  if (early !== undefined) return early;
  if (fault.fault === 'slow' && fault.at !== 'save') await clock.sleep(fault.ms ?? 2000);
  let struck = false;
  const hooks: Hooks = {
    beforeSave: async () => {
      if (fault.fault === 'slow' && fault.at === 'save') await clock.sleep(fault.ms ?? 2000);
      strike(fault, '-before-save', say);
    },
    afterSave: () => {
      struck = true;
      strike(fault, '-after-save', say);
    },
  };
  const answer = await operation(hooks);
  // A refused request never reached its save; the fault then strikes nothing, as in life.
  if (!struck && answer.status < 400) {
    await hooks.beforeSave();
    hooks.afterSave();
  }
  if (fault.fault === 'truncate') return { ...answer, truncated: true };
  return fault.fault === 'malformed' ? nonsense(answer) : answer;
}

function strike(fault: FaultRule, point: '-before-save' | '-after-save', say: Say): void {
  if (fault.fault === `hang${point}`) throw new SimulatedDisconnect('hang');
  if (fault.fault === `reset${point}`) throw new SimulatedDisconnect('reset');
  if (fault.fault === `status${point}`) throw new HttpError(detail(fault.status ?? 409, say('fault-other')));
  if (fault.fault !== `500${point}`) return;
  throw new HttpError(answersJson(fault) ? detail(500, say('fault-failed')) : htmlPage(500, 'Internal Server Error'));
}

function answersJson({ endpoint }: FaultRule): boolean {
  return endpoint === 'import' || endpoint === 'number' || endpoint === 'photo';
}

/** Faults that stand in for what a proxy or a gate would have said. */
function answerInstead(fault: FaultRule, say: Say): Answer | undefined {
  const retryAfter: Record<string, string> = fault.retry_after === undefined ? {} : { 'retry-after': String(fault.retry_after) };
  const isJson = answersJson(fault);
  switch (fault.fault) {
    case '502':
      return htmlPage(502, 'Bad Gateway');
    case '504':
      return htmlPage(504, 'Gateway Time-out');
    case '503':
    case 'oai-503':
      return isJson ? detail(503, say('fault-closed'), retryAfter) : htmlPage(503, 'Service Temporarily Unavailable', retryAfter);
    case 'throttle':
      return isJson ? detail(429, say('fault-throttled'), retryAfter) : htmlPage(429, 'Too Many Requests', retryAfter);
    default:
      return undefined;
  }
}

/** The status is right, the body is not what it says it is. */
function nonsense(answer: Answer): Answer {
  return { ...answer, body: '<html><body>Something else answered.<br></html' };
}
