/** A fault that was put into a copy of the sources: the simulation must find it. Each replaces a text that stands there once. */
export type Planted = { readonly name: string; readonly file: string; readonly from: string; readonly to: string };

export const PLANTED: readonly Planted[] = [
  {
    name: 'a find that was being sent when pas was killed is sent again',
    file: 'src/outbox/claims.ts',
    from: `if (entry.kind === 'number') move(outbox, entry, 'queued', { reason, notBeforeAt: againAt(outbox, entry.id) });`,
    to: `if (entry.kind !== 'photo') move(outbox, entry, 'queued', { reason, notBeforeAt: againAt(outbox, entry.id) });`,
  },
  {
    name: 'a photograph that was being sent when pas was killed is sent again',
    file: 'src/outbox/claims.ts',
    from: `if (entry.kind === 'number') move(outbox, entry, 'queued', { reason, notBeforeAt: againAt(outbox, entry.id) });`,
    to: `if (entry.kind !== 'import') move(outbox, entry, 'queued', { reason, notBeforeAt: againAt(outbox, entry.id) });`,
  },
  {
    name: 'a request that was cut is taken for one that never arrived',
    file: 'src/pas-api/outcome.ts',
    from: `if (!error.mayHaveArrived) {`,
    to: `if (error.reason !== 'timeout') {`,
  },
  {
    name: 'a timeout is taken for a request that never arrived',
    file: 'src/pas-api/outcome.ts',
    from: `if (!error.mayHaveArrived) {`,
    to: `if (!error.mayHaveArrived || error.reason === 'timeout') {`,
  },
  {
    name: 'an answer outside the contract is a refusal',
    file: 'src/pas-api/outcome.ts',
    from: `?? 'outside-contract';`,
    to: `?? 'refused';`,
  },
  {
    name: 'what is still under way is called absent',
    file: 'src/flows/reconcile/judge-absence.ts',
    from: `if (nowMs <= settledMs) {`,
    to: `if (nowMs <= settledMs - 1e9) {`,
  },
  {
    name: 'the index is believed at once',
    file: 'src/flows/reconcile/judge-absence.ts',
    from: `const waitMs = settledMs + index.allowanceMs - nowMs;`,
    to: `const waitMs = settledMs - nowMs;`,
  },
  {
    name: 'another account’s harvest proves absence',
    file: 'src/flows/reconcile/judge-absence.ts',
    from: `if (!wouldBeShown(window, view.shown.get(kind), view.harvester)) {`,
    to: `if (view.harvester === '') {`,
  },
  {
    name: 'anybody’s equal record is the find',
    file: 'src/flows/reconcile/verdict.ts',
    from: `accounts.has(`,
    to: `new Set([...accounts, 'U-000020']).has(`,
  },
  {
    name: 'an outbox that was put back is taken for the newest',
    file: 'src/flows/push/recognise-outbox.ts',
    from: `if ((recalled?.attempts ?? 0) > known.attempts) return 'earlier';`,
    to: ``,
  },
  {
    name: 'what an older copy has queued is not in doubt',
    file: 'src/flows/push/recognise-outbox.ts',
    from: `const entries = doubtUnsent(outbox, doubt, from === 'divided' ? recalled?.sharedUntil : undefined);`,
    to: `const entries = from === 'earlier' ? [] : doubtUnsent(outbox, doubt, from === 'divided' ? recalled?.sharedUntil : undefined);`,
  },
  {
    name: 'an outbox from another machine is taken for one of this',
    file: 'src/flows/push/recognise-outbox.ts',
    from: `return isElsewhere && !(await wasMoved()) ? 'elsewhere' : undefined;`,
    to: `return isElsewhere && machine === '' ? 'elsewhere' : undefined;`,
  },
  {
    name: 'what was added after a gap is sent without a look',
    file: 'src/flows/push/recognise-outbox.ts',
    from: `if (from !== 'divided')\n        for`,
    to: `if (from === 'elsewhere')\n        for`,
  },
  {
    name: 'a number is not held behind an earlier one',
    file: 'src/flows/push/hold-number.ts',
    from: `return (await isBehindAnother(run, entry)) || (await isSettledByLook(run, entry));`,
    to: `return isSettledByLook(run, entry);`,
  },
  {
    name: 'numbers are sent in any order',
    file: 'src/outbox/claims.ts',
    from: `  and (kind <> 'number' or not \${IS_OUTDATED})`,
    to: ``,
  },
  {
    name: 'photographs and numbers go to whatever record came first',
    file: 'src/outbox/claims.ts',
    from: `.sql(\`update entries set ident_cely = ? where find_id = ? and service_id = ? and kind <> 'import' and ident_cely is null\`)`,
    to: `.sql(\`update entries set ident_cely = ? where (find_id = ? or 1) and service_id = ? and kind <> 'import' and ident_cely is null\`)`,
  },
  {
    name: 'anybody’s entries are sent in anybody’s name',
    file: 'src/outbox/claims.ts',
    from: `(:anyAccount or entries.username in ('', :username))`,
    to: `(:anyAccount or entries.username in ('', :username) or 1)`,
  },
  {
    name: 'the guard of the pace is turned round',
    file: 'src/http/pace-state.ts',
    from: `intervalMs + GUARD_MS + state.jitterMs`,
    to: `intervalMs - GUARD_MS + state.jitterMs`,
  },
  {
    name: 'the slot counts from when it was taken',
    file: 'src/http/pacer.ts',
    from: `Math.max(state.lastDepartureMs, nowMs - agoMs)`,
    to: `state.lastDepartureMs`,
  },
  {
    name: 'what is being sent is not written down before it leaves',
    file: 'src/outbox/claims.ts',
    from: `move(outbox, entry, 'sending', { reason: null, issues: null });`,
    to: ``,
  },
  {
    name: 'a process that runs does not keep its place',
    file: 'src/outbox/lease.ts',
    from: `(life === 'alive' || (life === 'unknown' && !mayTakeOver))`,
    to: `life === 'unknown' && !mayTakeOver`,
  },
  {
    name: 'a refusal beside another import is final',
    file: 'src/flows/push/settle-outcome.ts',
    from: `if (entry.kind !== 'import' || entry.project === null || !flight.overlapped || entry.collided)`,
    to: `if (entry.kind === 'import')`,
  },
  {
    name: 'a token that ran out makes a refusal',
    file: 'src/flows/push/push-due.ts',
    from: `return { state: 'queued', reason: msg\`the token had run out\`, notBeforeAt: run.context.clock.now() };`,
    to: `return { state: 'refused', reason: msg\`the token had run out\`, issues: [] };`,
  },
  {
    name: 'a closed service makes a refusal',
    file: 'src/flows/push/settle-outcome.ts',
    from: `return { state: 'queued', reason: msg\`the service is closed\`, notBeforeAt: 0 };`,
    to: `return { state: 'refused', reason: msg\`the service is closed\`, issues: [] };`,
  },
  {
    name: 'a find that is found does not free what waits for it',
    file: 'src/outbox/claims.ts',
    from: `if (entry.kind === 'import') freeFollowers(outbox, entry, settlement.identCely);`,
    to: ``,
  },
];

/** For the tests' own loader. @throws Error where the text is not there once: the sources have moved on */
export function plant(planted: Planted, text: string): string {
  if (text.split(planted.from).length !== 2) throw new Error(`"${planted.name}" finds its place no more in ${planted.file}`);
  return text.replace(planted.from, () => planted.to);
}
