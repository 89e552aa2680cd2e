import type { Scenario, Step } from './scenario.ts';

/**
 * The least of a scenario that still goes wrong: steps are taken out, then what befalls their
 * requests, as long as it goes on going wrong.
 * @param goesWrong plays it
 */
export async function shrink(
  scenario: Scenario,
  goesWrong: (scenario: Scenario) => Promise<boolean>,
): Promise<Scenario> {
  let least = scenario;
  for (let size = Math.ceil(least.steps.length / 2); size >= 1; ) {
    const smaller = await firstThat(without(least, size), goesWrong);
    if (smaller === undefined) size = Math.floor(size / 2);
    else least = smaller;
  }
  for (;;) {
    const calmer = await firstThat(calmed(least), goesWrong);
    if (calmer === undefined) return least;
    least = calmer;
  }
}

async function firstThat(
  scenarios: Iterable<Scenario>,
  goesWrong: (scenario: Scenario) => Promise<boolean>,
): Promise<Scenario | undefined> {
  for (const scenario of scenarios) if (await goesWrong(scenario)) return scenario;
  return undefined;
}

function* without({ seed, steps }: Scenario, size: number): Generator<Scenario> {
  for (let from = steps.length - size; from >= 0; from -= size)
    yield { seed, steps: steps.toSpliced(from, size) };
}

function* calmed({ seed, steps }: Scenario): Generator<Scenario> {
  for (const [at, step] of steps.entries())
    for (const calmer of calmerSteps(step)) yield { seed, steps: steps.with(at, calmer) };
}

function* calmerSteps(step: Step): Generator<Step> {
  if ('fates' in step)
    for (let nth = 0; nth < step.fates.length; nth += 1)
      yield { ...step, fates: step.fates.toSpliced(nth, 1) };
  if ('writes' in step && step.writes !== undefined)
    for (let nth = 0; nth < step.writes.length; nth += 1)
      yield { ...step, writes: step.writes.toSpliced(nth, 1) };
  if ('disk' in step && step.disk !== undefined) {
    const { disk: _disk, ...unharmed } = step;
    yield unharmed;
  }
  if ('killedAfter' in step && step.killedAfter !== undefined) {
    const { killedAfter: _killedAfter, ...unharmed } = step;
    yield unharmed;
  }
  if (step.kind === 'watch')
    for (let nth = 0; nth < step.meanwhile.length; nth += 1)
      yield { ...step, meanwhile: step.meanwhile.toSpliced(nth, 1) };
  if (step.kind === 'import')
    for (let nth = 0; nth < step.finds.length; nth += 1)
      yield { ...step, finds: step.finds.toSpliced(nth, 1) };
}
