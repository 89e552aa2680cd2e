/**
 * A fault that was put into a copy of the sources: the simulation must find it. Each replaces a
 * text that stands there once. `seed` is of a scenario in which it was found; scenarios are others
 * once `scenario.ts` is changed.
 */
export type Planted = {
  readonly name: string;
  readonly seed?: number;
  /** The scenarios that concern it most: it is looked for in these first. */
  readonly themes?: readonly string[];
  /** Only without lookups: otherwise a lookup finds what was sent, and a person is asked. */
  readonly anonymous?: true;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** Other differences in the file. */
  readonly also?: { readonly from: string; readonly to: string };
};

export const PLANTED: readonly Planted[] = [
  {
    name: 'a find that was being sent when pas was killed is sent again',
    seed: 817,
    themes: ['many finds and photographs, and a push that is killed among them'],
    anonymous: true,
    file: 'src/outbox/attempts.ts',
    from: `{ state: 'uncertain', reason },`,
    to: `entry.kind === 'import' ? { state: 'queued', reason, notBeforeAt: 0 } : { state: 'uncertain', reason },`,
  },
  {
    name: 'a photograph that was being sent when pas was killed is sent again',
    themes: ['many finds and photographs, and a push that is killed among them'],
    anonymous: true,
    file: 'src/outbox/attempts.ts',
    from: `{ state: 'uncertain', reason },`,
    to: `entry.kind === 'photo' ? { state: 'queued', reason, notBeforeAt: 0 } : { state: 'uncertain', reason },`,
  },
  {
    name: 'a number that was being sent when pas was killed is sent again',
    seed: 446,
    themes: ['a push dies at a number, and a curator sets another'],
    anonymous: true,
    file: 'src/outbox/attempts.ts',
    from: `{ state: 'uncertain', reason },`,
    to: `entry.kind === 'number' ? { state: 'queued', reason, notBeforeAt: 0 } : { state: 'uncertain', reason },`,
  },
  {
    name: 'a request that was cut is taken for one that never arrived',
    seed: 10,
    file: 'src/service/outcome.ts',
    from: 'if (!error.mayHaveArrived) {',
    to: `if (error.reason !== 'timeout') {`,
  },
  {
    name: 'a timeout is taken for a request that never arrived',
    seed: 17,
    file: 'src/service/outcome.ts',
    from: 'if (!error.mayHaveArrived) {',
    to: `if (!error.mayHaveArrived || error.reason === 'timeout') {`,
  },
  {
    name: 'an answer outside the contract is a refusal',
    seed: 43,
    file: 'src/service/outcome.ts',
    from: `?? 'uncertain';`,
    to: `?? 'refused';`,
  },
  {
    name: 'too many requests are a refusal',
    seed: 19,
    file: 'src/service/outcome.ts',
    from: `429: 'throttled',`,
    to: `429: 'refused',`,
  },
  {
    name: 'a sign-in that ran out is a refusal',
    seed: 302,
    themes: ['a token runs out'],
    file: 'src/service/outcome.ts',
    from: `401: 'unauthorised',`,
    to: `401: 'refused',`,
  },
  {
    name: 'what is still under way is called absent',
    seed: 793,
    themes: ['the index is late, and somebody looks early'],
    file: 'src/push/judge-import.ts',
    from: 'const { fromMs, settledMs } = bounds;',
    to: 'const { fromMs, fromMs: settledMs } = bounds;',
  },
  {
    name: 'the index is believed at once',
    seed: 793,
    themes: ['the index is late, and somebody looks early'],
    file: 'src/push/judge-import.ts',
    from: 'const waitMs = settledMs + index.allowanceMs - nowMs;',
    to: 'const waitMs = settledMs - nowMs;',
  },
  {
    name: 'a harvest that shows nothing of the account proves absence',
    themes: ['somebody who is shown nothing like it looks for what is in doubt'],
    file: 'src/push/judge-import.ts',
    from: 'if (!isExpectedToShow(window, view.shown.get(kind), view.harvester)) {',
    to: `if (view.harvester === '') {`,
  },
  {
    name: 'anybody’s equal record is the find',
    seed: 532,
    themes: ['a colleague enters what is in doubt'],
    file: 'src/push/judge-import.ts',
    from: 'if (!accounts.has(event.user)) return false;',
    to: `if (!new Set([...accounts, 'U-000409']).has(event.user)) return false;`,
  },
  {
    name: 'the time of a record does not matter',
    themes: ['two places have finds of one account', 'two finds that are equal are in doubt'],
    file: 'src/push/judge-import.ts',
    from: 'bounds === undefined || (atMs >=',
    to: 'bounds !== undefined || (atMs >=',
  },
  {
    name: 'any record of the account is the find',
    themes: ['two places have finds of one account'],
    file: 'src/push/judge-import.ts',
    from: 'return listDifferingElements(judged.elements, find).length === 0;',
    to: 'return listDifferingElements(judged.elements, find).length < 99;',
  },
  {
    name: 'a record that was corrected since is not taken for the find',
    themes: ['what is in doubt is deleted or corrected at the service'],
    file: 'src/push/judge-import.ts',
    from: 'if (near.length > 0) {',
    to: 'if (near.length > 99) {',
  },
  {
    name: 'a record that was deleted since proves nothing',
    themes: ['what is in doubt is deleted or corrected at the service'],
    file: 'src/push/judge-import.ts',
    from: 'if (gone.length > 0) {',
    to: 'if (gone.length < 0) {',
  },
  {
    name: 'a photograph is called absent at once',
    themes: ['photographs of which nobody knows whether they arrived'],
    file: 'src/push/judge-change.ts',
    from: 'makeTooEarlyVerdict(judged.window, view, shownMs) ??',
    to: '',
  },
  {
    name: 'a photograph that is there is not recognised',
    themes: ['photographs of which nobody knows whether they arrived'],
    file: 'src/push/judge-change.ts',
    from: 'if (equal !== undefined) {',
    to: 'if (equal !== undefined && files.length > 99) {',
    also: {
      from: 'const mine = free.filter((file) => isStoredAs(judged, file));',
      to: 'const mine = free.filter(() => false);',
    },
  },
  {
    name: 'a number that cannot be looked at is not there',
    themes: ['a push dies at a number, and a curator sets another'],
    anonymous: true,
    file: 'src/push/judge-change.ts',
    from: 'return makeNotShownVerdict(identCely);',
    to: `return makeAbsentVerdict('record-not-shown', identCely);`,
  },
  {
    name: 'a number that is shown is settled, though it may come once more',
    themes: ['numbers change to and fro'],
    file: 'src/push/judge-change.ts',
    from: 'if (view.nowMs <= settledMs)',
    to: 'if (view.nowMs < 0)',
  },
  {
    name: 'an attempt is over with its answer',
    themes: ['photographs of which nobody knows whether they arrived'],
    file: 'src/outbox/attempt-bounds.ts',
    from: 'const settledMs = asServerMs(endedMs + settleMs);',
    to: 'const settledMs = asServerMs(endedMs);',
  },
  {
    name: 'the clock of this machine says when an attempt was made',
    themes: ['no clock is right', 'a clock is put right'],
    file: 'src/outbox/attempt-bounds.ts',
    from: 'const now = serverClock.now();\n  const latest = serverClock.latest();',
    to: 'const now = clock.now() as never;\n  const latest = now;',
    also: {
      from: '{ answerTimeoutMs, serverClock }: DepartureTimes,',
      to: '{ answerTimeoutMs, clock }: DepartureTimes,',
    },
  },
  {
    name: 'a clock that ran ahead holds finds for ever',
    themes: ['a clock is put right'],
    file: 'src/outbox/entry-queries.ts',
    from: 'and (not_before_at > :now + :maxBackoffMs or (updated_at > :now and not_before_at > 0))',
    to: 'and not_before_at > :now + :maxBackoffMs + 1e12',
  },
  {
    name: 'numbers are sent in any order',
    themes: ['two people give a find a number'],
    file: 'src/outbox/entry-queries.ts',
    from: `
  and (entries.kind <> 'number' or not \${AWAITS_OTHER_NUMBER})`,
    to: '',
  },
  {
    name: 'a number that was sent once is never sent again',
    themes: ['numbers change to and fro'],
    file: 'src/outbox/number-chain.ts',
    from: 'const { intent } = last ?? {};',
    to: `for (const { intent } of attempted) if (intent?.kind === 'number' && intent.value === value) return intent;
  const { intent } = last ?? {};`,
  },
  {
    name: 'a number that a curator changed is overwritten',
    themes: ['a curator is at the same record'],
    file: 'src/push/judge-change.ts',
    from: 'return isExpected ? [] : [shown];',
    to: 'return [];',
  },
  {
    name: 'a number is compared with the last one from here, not with the one that is shown',
    themes: ['a number is set back'],
    file: 'src/outbox/changes/enqueue-change.ts',
    from: '(accepted === undefined || isPulledSince(outbox, pulled, accepted))',
    to: 'accepted === undefined',
  },
  {
    name: 'a find that is found does not free what waits for it',
    themes: ['what waits for a find that is in doubt'],
    file: 'src/outbox/cache.ts',
    from: 'const identCely = record ?? find?.identCely ?? null;',
    to: 'const identCely = record ?? null;',
  },
  {
    name: 'a number without a record is sent',
    file: 'src/outbox/entry-queries.ts',
    from: `const CLAIMABLE = \`state = 'queued' and held is null and (entries.kind = 'import' or ident_cely is not null)`,
    to: `const CLAIMABLE = \`state = 'queued' and held is null`,
  },
  {
    name: 'what is held is sent',
    themes: ['a second laptop has the same table', 'a machine is rolled back'],
    file: 'src/outbox/entry-queries.ts',
    from: `const CLAIMABLE = \`state = 'queued' and held is null and`,
    to: `const CLAIMABLE = \`state = 'queued' and`,
    also: {
      from: `return selectEntries(outbox, 'entries.id = :id', { id }).at(0);`,
      to: `return selectEntries(outbox, 'entries.id = :id', { id }).map((entry) => ({ ...entry, held: null })).at(0);`,
    },
  },
  {
    name: 'what is being sent is not written down before it leaves',
    anonymous: true,
    file: 'src/outbox/attempts.ts',
    from: `      appendToLedgerFirst(outbox, made);
`,
    to: '',
  },
  {
    name: 'answers are not written down',
    anonymous: true,
    file: 'src/outbox/attempts.ts',
    from: `  appendToLedgerFirst(outbox, { kind: 'answered', subject, slot, body });
`,
    to: `  if (body.outcome === 'orphaned')
    appendToLedgerFirst(outbox, { kind: 'answered', subject, slot, body });
`,
  },
  {
    name: 'what a killed push was sending is not taken up',
    anonymous: true,
    file: 'src/outbox/attempts.ts',
    from: `listEntriesInState(outbox, 'sending').flatMap((entry) => {`,
    to: `listEntriesInState(outbox, 'sending').filter(({ id }) => id < 0).flatMap((entry) => {`,
  },
  {
    name: 'an attempt comes to the ledger with the next command at the earliest',
    themes: ['an outbox is put back', 'a home is lost'],
    anonymous: true,
    file: 'src/outbox/attempts.ts',
    from: `  own?.ledger.append(own.scope, [makeFactRow(fact)]);
`,
    to: '',
  },
  {
    name: 'nothing is written into the ledger',
    themes: ['an outbox is put back', 'a home is lost'],
    anonymous: true,
    file: 'src/outbox/ledger.ts',
    from: 'if (rows.length === 0) return;',
    to: 'if (rows.length >= 0) return;',
  },
  {
    name: 'an older copy is taken for the newest',
    themes: ['an outbox is put back', 'a backup is restored'],
    anonymous: true,
    file: 'src/outbox/unite.ts',
    from: 'if (page.length === 0) return NOTHING_UNITED;',
    to: 'if (page.length >= 0) return NOTHING_UNITED;',
  },
  {
    name: 'attempts of unknown end are not united',
    themes: ['a home is lost', 'an outbox is put back'],
    anonymous: true,
    file: 'src/outbox/unite.ts',
    from: 'const unknown = facts.filter(({ subject, id }) => isKnown.get(subject, id) === undefined);',
    to: `const isAnswered = (id: string) => facts.some((fact) => fact.kind === 'answered' && fact.body.attempt === id);
  const unknown = facts.filter(({ subject, id, kind }) => isKnown.get(subject, id) === undefined && (kind !== 'attempted' || isAnswered(id)));`,
  },
  {
    name: 'an outbox of another machine is pushed',
    themes: ['a home goes to another machine'],
    file: 'src/push/push-all.ts',
    from: `if (place === 'foreign' && (await push.confirmTakeOver?.()) !== true)`,
    to: `if (place === 'foreign' && push.limit === -1)`,
  },
  {
    name: 'two processes push one outbox',
    themes: ['two windows of one outbox'],
    file: 'src/outbox/push-lock.ts',
    from: 'if (lock !== undefined) return lock;',
    to: 'return lock ?? { release() {} };',
  },
  {
    name: 'to give a find up says that it is not there',
    themes: ['a photograph is given up, and wanted again'],
    file: 'src/outbox/fold.ts',
    from: `if (isDecided('abandon')) return { kind: 'given-up' };`,
    to: `if (isDecided('abandon')) return { kind: 'back' };`,
  },
  {
    name: 'to take a decision back says that nothing was sent',
    themes: ['people undo what they did'],
    file: 'src/outbox/changes/undo-command.ts',
    from: `answer: 'undo',`,
    to: `answer: body.answer === 'abandon' ? 'resend' : 'undo',`,
  },
  {
    name: 'an undo takes back what was sent since, and says so',
    themes: ['people undo what they did'],
    file: 'src/outbox/changes/undo-command.ts',
    from: `if (isAttempted) return undefined;`,
    to: '',
  },
  {
    name: 'an equal record is the find, without an attempt',
    themes: ['two places have finds of one account'],
    file: 'src/push/look.ts',
    from: 'storeQuestion(outbox, entry.id, question); return question;',
    to: `if (question?.basis === 'equal-record')
    recordDecision(outbox, entry, { kind: 'created', identCely: question.candidates[0]?.name ?? '' }, '');
  else storeQuestion(outbox, entry.id, question);
  return question;`,
    also: {
      from: `import { RefusedAccountError } from '../base/errors.ts';`,
      to: `import { RefusedAccountError } from '../base/errors.ts';
import { recordDecision } from '../outbox/attempts.ts';`,
    },
  },
  {
    name: 'nothing is looked at before it is sent',
    themes: ['a machine is rolled back'],
    file: 'src/push/push-all.ts',
    from: 'findHarvester(push, harvesting, account) === account;',
    to: `account === '';`,
  },
  {
    name: 'a second laptop is not asked about equal records',
    themes: ['a second laptop has the same table'],
    file: 'src/push/look.ts',
    from: `'equal-record': listEqualRecords(comparable, result),`,
    to: '',
  },
  {
    name: 'photographs are not looked at before they are sent',
    themes: ['a machine is rolled back'],
    file: 'src/push/judge-change.ts',
    from: '.map((file) => file.name);',
    to: '.map((file) => file.name).slice(0, 0);',
  },
  {
    name: 'a look forgets what an earlier one showed',
    themes: ['a second laptop has the same table'],
    file: 'src/push/look.ts',
    from: `for (const [identCely, listed] of batch)`,
    to: `outbox.sql('delete from unexplained').run();
      for (const [identCely, listed] of batch)`,
  },
  {
    name: 'what a colleague sent from this machine is not asked about',
    themes: ['a colleague has the same table on the same machine'],
    anonymous: true,
    file: 'src/push/look.ts',
    from: `'attempted-elsewhere': listMatches(comparable, result.attempted),`,
    to: '',
  },
  {
    name: 'a record that is found for one find stays with another',
    themes: ['a service is put back from its backup', 'two finds that are equal are in doubt'],
    file: 'src/push/reconcile-entries.ts',
    from: `if (identCely !== null && entry.kind === 'import') detachSharedRecord(outbox, identCely);`,
    to: '',
  },
  {
    name: 'an identifier that is given a second time belongs to two finds',
    themes: ['a service is put back from its backup'],
    file: 'src/outbox/attempts.ts',
    from: 'if (claims.length < 2) return [];',
    to: 'if (claims.length < 99) return [];',
  },
  {
    name: 'an index that does not show what was accepted is believed',
    themes: ['somebody who is shown nothing like it looks for what is in doubt'],
    file: 'src/push/reconcile-entries.ts',
    from: '.filter(([identCely]) => !harvest.lookups.has(identCely))',
    to: `.filter(([identCely]) => identCely === '')`,
  },
  {
    name: 'a push ends with what it found out',
    themes: ['what waits for a find that is in doubt'],
    file: 'src/push/push-all.ts',
    from: 'if (again.length === 0) return withStopCauseForRemaining(push, result);',
    to: 'if (again.length >= 0) return result;',
  },
  {
    name: 'a refusal beside another import is final',
    themes: ['the service saves slowly'],
    file: 'src/push/settle.ts',
    from: 'if (wasAlone || collisionsBefore >= RETRY_POLICY.collision.maxRepeats)',
    to: 'if (collisionsBefore >= 0)',
  },
  {
    name: 'a token that ran out makes a refusal',
    themes: ['a token runs out'],
    file: 'src/push/settle.ts',
    from: `settlement: makeRequeue(input, msg\`the service did not accept the token\`, now)`,
    to: `settlement: { state: 'refused', reason: msg\`the service did not accept the token\`, issues: [] }`,
  },
  {
    name: 'a closed service makes a refusal',
    file: 'src/push/settle.ts',
    from: `settlement: makeRequeue(input, msg\`the service is closed\`)`,
    to: `settlement: { state: 'refused', reason: msg\`the service is closed\`, issues: [] }`,
  },
  {
    name: 'a user name that is another person’s is believed',
    themes: ['a user name is another person’s now'],
    file: 'src/outbox/open-outbox.ts',
    from: 'if (bound === null || bound === account) return;',
    to: `if (address !== '') return;`,
  },
  {
    name: 'a token is kept for a user name, wherever that is',
    themes: ['a training service beside the real one'],
    file: 'src/service/secrets.ts',
    from: `  return \`\${baseUrl} \${username ?? ''}\`.trimEnd();`,
    to: `  return \`\${baseUrl === '' ? '' : 'https://any.test'} \${username ?? ''}\`.trimEnd();`,
  },
  {
    name: 'the guard of the pace is turned round',
    themes: ['many finds at once'],
    file: 'src/service/http/pace-store.ts',
    from: 'intervalMs + GUARD_MS + state.jitterMs',
    to: 'intervalMs - GUARD_MS + state.jitterMs',
  },
  {
    name: 'the turn counts from when it was taken',
    file: 'src/service/http/pacer.ts',
    from: 'Math.max(state.lastDepartureMs, nowMs - agoMs)',
    to: 'state.lastDepartureMs',
  },
  {
    name: 'a turn is given to two',
    themes: ['connections take their time'],
    file: 'src/service/http/pacer.ts',
    from: 'const othersMs = computePollIntervalMs(reservedUntilMs, nowMs);',
    to: 'const othersMs = 0;',
  },
  {
    name: 'the pace of an address is not kept for all accounts',
    themes: ['two homes of one machine'],
    file: 'src/cli/context/open-service.ts',
    from: `scopes: [\`address:\${origin}\`, \`account:`,
    to: `scopes: [\`account:`,
  },
  {
    name: 'any answer settles all numbers of a find',
    themes: ['numbers change to and fro'],
    file: 'src/outbox/fold.ts',
    from: 'attempts.filter(({ body }) => body.intent === intent);',
    to: 'attempts.filter(() => true);',
  },
  {
    name: 'an undo of a removal leaves the find removed',
    themes: ['people undo what they did'],
    file: 'src/outbox/changes/undo-command.ts',
    from: 'if (replaced.size === 0)',
    to: 'if (replaced.size >= 0)',
  },
  {
    name: 'an undo leaves a photograph wanted',
    seed: 51,
    themes: ['people undo what they did'],
    file: 'src/outbox/changes/undo-command.ts',
    from: `intent: null, hides: true, was: last.intent ?? last.was ?? null }];`,
    to: `...(facts[0]?.slot.startsWith('import ') === true ? { intent: null, hides: true } : {}) }];`,
  },
  {
    name: 'an undo says that it took back what it left',
    themes: ['people undo what they did'],
    file: 'src/cli/commands/undo.ts',
    from: `return kept.size > 0 ? 'dataRefused' : 'done';`,
    to: `return 'done';`,
  },
  {
    name: 'finds that differ in one element are other finds',
    themes: ['a machine is rolled back'],
    file: 'src/finds/match-finds.ts',
    from: 'const MAX_DIFFERENT = 2;',
    to: 'const MAX_DIFFERENT = 0;',
  },
  {
    name: 'a table under other local ids is not compared',
    themes: ['a table comes again under other local ids'],
    file: 'src/outbox/alike-finds.ts',
    from: 'if (question !== undefined) storeQuestion(outbox, entry.id, question);',
    to: 'if (question !== undefined) storeQuestion(outbox, entry.id, null);',
  },
  {
    name: 'no question is asked before a find leaves',
    themes: ['a second laptop has the same table'],
    file: 'src/outbox/gate.ts',
    from: `return answered === 'same' || answered === candidate.matched;`,
    to: 'return candidate.matched.length > 0;',
  },
  {
    name: 'attempts at the training service count for the real one',
    themes: ['a training service beside the real one'],
    file: 'src/outbox/ledger.ts',
    from: 'where service = ? and account = ? and seq > ? order by seq limit ?',
    to: 'where (service = ? or 1) and account = ? and seq > ? order by seq limit ?',
  },
  {
    name: 'a find that comes back is another find',
    themes: ['a home is lost'],
    file: 'src/outbox/unite.ts',
    from: 'return form(one) === form(other);',
    to: 'return form(one) !== form(other);',
  },
  {
    name: 'the record of a find may be anybody’s by now',
    themes: ['a service is put back from its backup'],
    file: 'src/push/look.ts',
    from: 'isMadeByImport(outbox, ofImport, listed.record)',
    to: `listed.record.identCely !== ''`,
  },
  {
    name: 'what was proven absent explains a record still',
    seed: 152,
    themes: ['what was lost is sent again, and lies somewhere'],
    file: 'src/outbox/attempts.ts',
    from: `const accepted = selectAttempts(entry, ofSlot, ['accepted']);`,
    to: `const accepted = selectAttempts(entry, ofSlot, ['back', 'given-up']);`,
  },
];

/**
 * Replaces the places of a fault in a source, however its lines are broken.
 * @throws Error where the text is not there once: the sources have changed
 */
export function plant({ name, file, from, to, also }: Planted, text: string): string {
  return [{ from, to }, ...(also === undefined ? [] : [also])].reduce((planted, each) => {
    const pattern = makePattern(each.from);
    if ([...planted.matchAll(pattern)].length !== 1)
      throw new Error(`"${name}" finds its place no more in ${file}`);
    return planted.replace(pattern, () => each.to);
  }, text);
}

/** Matches the same tokens with any white space between them, and a comma before a closing one. */
function makePattern(code: string): RegExp {
  const tokens = code.match(/[\w$]+|[^\s\w$]/g) ?? [];
  const parts = tokens.map((token) =>
    /[)\]}]/.test(token) ? `(?:,\\s*)?\\${token}` : token.replace(/[^\w\s]/g, '\\$&'),
  );
  return new RegExp(parts.join('\\s*'), 'g');
}
