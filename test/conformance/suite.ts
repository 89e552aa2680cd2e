import { Broken, type Check, type CheckResult, type Kind, Outage, Skipped } from './check.ts';
import { ACCESS_CHECKS } from './checks/access.ts';
import { FIELD_CHECKS } from './checks/fields.ts';
import { IMPORT_CHECKS } from './checks/import.ts';
import { LIMIT_CHECKS } from './checks/limits.ts';
import { NUMBER_CHECKS } from './checks/number.ts';
import { PHOTOGRAPH_CHECKS } from './checks/photograph.ts';
import { RECORD_CHECKS } from './checks/records.ts';
import { REPOSITORY_CHECKS } from './checks/repository.ts';
import { VISIBILITY_CHECKS } from './checks/visibility.ts';
import { CLAUSES } from './clauses.ts';
import type { Scene } from './scene.ts';

export const CHECKS: readonly Check[] = [
  ...REPOSITORY_CHECKS,
  ...RECORD_CHECKS,
  ...VISIBILITY_CHECKS,
  ...ACCESS_CHECKS,
  ...IMPORT_CHECKS,
  ...FIELD_CHECKS,
  ...NUMBER_CHECKS,
  ...PHOTOGRAPH_CHECKS,
  ...LIMIT_CHECKS,
];

/** A break is believed when it was seen each time: what only passes by on the way is none. */
const TRIES = 3;
/** For unknown outcomes, and for a 500 to one request alone. */
const OPEN_TRIES = 4;
/** So many checks in a row without an answer, and the others of the interface are not tried. */
const OUT_OF_REACH = 3;

/**
 * Runs checks one after the other.
 * @param writes whether those that write are run, too
 * @throws NotTraining where a record that the run made turns up in the harvest
 */
export async function* runChecks(
  scene: Scene,
  writes: boolean,
  checks: readonly Check[] = CHECKS,
): AsyncGenerator<CheckResult> {
  const silent = { harvest: 0, write: 0 };
  for (const check of checks) {
    const side = check.kind === 'harvest' ? 'harvest' : 'write';
    const why = notRun(scene, check.kind, writes);
    if (why !== undefined) yield getResult(check, 'skipped', why, 0);
    else if (silent[side] >= OUT_OF_REACH)
      yield getResult(
        check,
        'outage',
        `not asked: ${OUT_OF_REACH} checks in a row had no answer`,
        0,
      );
    else {
      const result = await tryCheck(scene, check);
      silent[side] = result.result === 'outage' ? silent[side] + 1 : 0;
      yield result;
    }
  }
}

function notRun({ options }: Scene, kind: Kind, writes: boolean): string | undefined {
  if (kind === 'harvest') return options.oaiBase === undefined ? 'needs --oai-base' : undefined;
  return kind === 'write' && !writes
    ? 'makes finds: needs a training instance, with --write HOST --project IDENT and an account'
    : undefined;
}

async function tryCheck(scene: Scene, check: Check): Promise<CheckResult> {
  for (let tries = 1; ; tries += 1) {
    try {
      await check.run(scene);
      return getResult(check, 'pass', '', tries);
    } catch (thrown) {
      if (thrown instanceof Skipped) return getResult(check, 'skipped', thrown.message, tries);
      if (thrown instanceof Broken) {
        if (tries >= TRIES) return getResult(check, 'break', thrown.message, tries);
      } else if (thrown instanceof Outage) {
        if (!thrown.isOpen || tries >= OPEN_TRIES)
          return getResult(check, thrown.isOwn ? 'break' : 'outage', thrown.message, tries);
      } else throw thrown;
      await scene.forgetFailures();
    }
  }
}

function getResult(
  { id, clause, expected }: Check,
  result: CheckResult['result'],
  seen: string,
  tries: number,
): CheckResult {
  return { id, clause_id: clause, clause: CLAUSES[clause][0], expected, result, seen, tries };
}
