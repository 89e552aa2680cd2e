import { makeSeededRandom } from '../base/random.ts';
import type { FaultEndpoint, FaultName, FaultRule } from './parse-fault-rules.ts';

type LiveRule = {
  readonly id: number;
  rule: FaultRule;
  readonly random: () => number;
  seen: number;
  struck: number;
};

/** Active fault rules, with their numbers of matched and of triggering requests. */
export class Faults {
  #rules: LiveRule[] = [];
  #nextId = 1;

  set(rules: readonly FaultRule[]): void {
    this.#rules = [];
    for (const rule of rules) this.add(rule);
  }

  add(rule: FaultRule): void {
    this.#rules.push({
      id: this.#nextId++,
      rule,
      random: makeSeededRandom(rule.when?.seed ?? 1),
      seen: 0,
      struck: 0,
    });
  }

  /** @returns false for an unknown rule, as {@link remove} */
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

  /** Returns the rules with their counters, as `GET /faults` shows them. */
  list(): ReadonlyArray<
    FaultRule & { readonly id: number; readonly seen: number; readonly struck: number }
  > {
    return this.#rules.map(({ id, rule, seen, struck }) => ({ id, ...rule, seen, struck }));
  }

  /**
   * Chooses the fault of a request that has passed the preconditions. Every rule of the endpoint
   * counts the request; the first whose condition holds is triggered.
   * @param ident record in the path, or record or set of a harvesting request
   * @param without fault that cannot befall this request, and does not count it
   */
  chooseFault(endpoint: FaultEndpoint, ident?: string, without?: FaultName): FaultRule | undefined {
    let triggered: LiveRule | undefined;
    for (const live of this.#rules) {
      if (live.rule.endpoint !== endpoint || live.rule.active === false) continue;
      if (live.rule.fault === without) continue;
      if (live.rule.when?.ident !== undefined && live.rule.when.ident !== ident) continue;
      live.seen += 1;
      if (triggered === undefined && evaluate(live)) triggered = live;
    }
    if (triggered !== undefined) triggered.struck += 1;
    return triggered?.rule;
  }
}

function evaluate({ rule, random, seen, struck }: LiveRule): boolean {
  const { nth, every, probability } = rule.when ?? {};
  if (rule.times !== undefined && struck >= rule.times) return false;
  if (nth !== undefined && seen !== nth) return false;
  if (every !== undefined && seen % every !== 0) return false;
  return probability === undefined || random() < probability;
}
