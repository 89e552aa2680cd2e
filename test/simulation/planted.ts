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
    seed: 2858,
    themes: ['many finds and photographs, and a push that is killed among them'],
    anonymous: true,
    file: 'src/outbox/claims.ts',
    from: `body: makeAnsweredBody(attempt, { outcome: 'orphaned', settles: 'unknown', reason }, now),`,
    to: `body: makeAnsweredBody(attempt, { outcome: 'orphaned', settles: entry.kind === 'import' ? 'queued' : 'unknown', reason }, now),`,
  },
  {
    name: 'a photograph that was being sent when pas was killed is sent again',
    seed: 22732,
    themes: ['many finds and photographs, and a push that is killed among them'],
    anonymous: true,
    file: 'src/outbox/claims.ts',
    from: `body: makeAnsweredBody(attempt, { outcome: 'orphaned', settles: 'unknown', reason }, now),`,
    to: `body: makeAnsweredBody(attempt, { outcome: 'orphaned', settles: entry.kind === 'photo' ? 'queued' : 'unknown', reason }, now),`,
  },
  {
    name: 'a number that was being sent when pas was killed is sent again',
    seed: 868,
    themes: ['a push dies at a number, and a curator sets another'],
    anonymous: true,
    file: 'src/outbox/claims.ts',
    from: `body: makeAnsweredBody(attempt, { outcome: 'orphaned', settles: 'unknown', reason }, now),`,
    to: `body: makeAnsweredBody(attempt, { outcome: 'orphaned', settles: entry.kind === 'number' ? 'queued' : 'unknown', reason }, now),`,
  },
  {
    name: 'a request that was cut is taken for one that never arrived',
    seed: 5,
    file: 'src/pas-api/outcome.ts',
    from: 'if (!error.mayHaveArrived) {',
    to: `if (error.reason !== 'timeout') {`,
  },
  {
    name: 'a timeout is taken for a request that never arrived',
    seed: 10,
    file: 'src/pas-api/outcome.ts',
    from: 'if (!error.mayHaveArrived) {',
    to: `if (!error.mayHaveArrived || error.reason === 'timeout') {`,
  },
  {
    name: 'an answer outside the contract is a refusal',
    seed: 23,
    file: 'src/pas-api/outcome.ts',
    from: `?? 'outside-contract';`,
    to: `?? 'refused';`,
  },
  {
    name: 'too many requests are a refusal',
    seed: 11,
    file: 'src/pas-api/outcome.ts',
    from: `429: makeSameForAll('too-many'),`,
    to: `429: makeSameForAll('refused'),`,
  },
  {
    name: 'a sign-in that ran out is a refusal',
    seed: 120,
    themes: ['a token runs out'],
    file: 'src/pas-api/outcome.ts',
    from: `401: makeSameForAll('unauthorised'),`,
    to: `401: makeSameForAll('refused'),`,
  },
  {
    name: 'what is still under way is called absent',
    seed: 88,
    themes: ['what was lost is sent again, and lies somewhere'],
    file: 'src/flows/reconcile/judge-absence.ts',
    from: 'const { fromMs, settledMs } = bounds;',
    to: 'const { fromMs, fromMs: settledMs } = bounds;',
  },
  {
    name: 'the index is believed at once',
    seed: 169,
    themes: ['the index is late, and somebody looks early'],
    file: 'src/flows/reconcile/judge-absence.ts',
    from: 'const waitMs = settledMs + index.allowanceMs - nowMs;',
    to: 'const waitMs = settledMs - nowMs;',
  },
  {
    name: 'a harvest that shows nothing of the account proves absence',
    seed: 41,
    themes: ['somebody who is shown nothing like it looks for what is in doubt'],
    file: 'src/flows/reconcile/judge-absence.ts',
    from: 'if (!isExpectedToShow(window, view.shown.get(kind), view.harvester)) {',
    to: `if (view.harvester === '') {`,
  },
  {
    name: 'anybody’s equal record is the find',
    seed: 165,
    themes: ['a colleague enters what is in doubt'],
    file: 'src/flows/reconcile/verdict.ts',
    from: 'if (!accounts.has(event.user)) return false;',
    to: `if (!new Set([...accounts, 'U-000409']).has(event.user)) return false;`,
  },
  {
    name: 'the time of a record does not matter',
    seed: 498,
    themes: ['two places have finds of one account', 'two finds that are equal are in doubt'],
    file: 'src/flows/reconcile/verdict.ts',
    from: 'bounds === undefined || (atMs >=',
    to: 'bounds !== undefined || (atMs >=',
  },
  {
    name: 'any record of the account is the find',
    seed: 2866,
    themes: ['two places have finds of one account'],
    file: 'src/flows/reconcile/judge-import.ts',
    from: 'return listDifferingElements(judged.elements, find).length === 0;',
    to: 'return listDifferingElements(judged.elements, find).length < 99;',
  },
  {
    name: 'a record that was corrected since is not taken for the find',
    seed: 83,
    themes: ['what is in doubt is deleted or corrected at the service'],
    file: 'src/flows/reconcile/judge-import.ts',
    from: 'if (near.length > 0) {',
    to: 'if (near.length > 99) {',
  },
  {
    name: 'a record that was deleted since proves nothing',
    seed: 327,
    themes: ['what is in doubt is deleted or corrected at the service'],
    file: 'src/flows/reconcile/judge-import.ts',
    from: 'if (gone.length > 0) {',
    to: 'if (gone.length < 0) {',
  },
  {
    name: 'a photograph is called absent at once',
    seed: 152,
    themes: ['photographs of which nobody knows whether they arrived'],
    file: 'src/flows/reconcile/judge-photograph.ts',
    from: 'explainTooEarly(judged.window, view, record.changedMs) ?? {',
    to: '{',
  },
  {
    name: 'a photograph that is there is not recognised',
    seed: 279,
    themes: ['photographs of which nobody knows whether they arrived'],
    file: 'src/flows/reconcile/judge-photograph.ts',
    from: 'if (byDigest !== undefined && !isTaken) {',
    to: 'if (byDigest !== undefined && find.files.length > 99) {',
    also: {
      from: 'const mine = free.filter((file) => isStoredAs(judged, file));',
      to: 'const mine = free.filter(() => false);',
    },
  },
  {
    name: 'a number that cannot be looked at is not there',
    seed: 831,
    themes: ['a push dies at a number, and a curator sets another'],
    anonymous: true,
    file: 'src/flows/reconcile/judge-number.ts',
    from: `      kind: 'undecided',
      basis: 'record-not-shown',`,
    to: `      kind: 'absent',
      basis: 'record-not-shown',`,
  },
  {
    name: 'a number that is shown is settled, though it may come once more',
    seed: 145,
    themes: ['a museum changes its mind while a number is under way'],
    file: 'src/flows/reconcile/judge-number.ts',
    from: 'if (view.nowMs <= window.bounds.settledMs)',
    to: 'if (view.nowMs < 0)',
  },
  {
    name: 'an attempt is over with its answer',
    seed: 2380,
    themes: ['photographs of which nobody knows whether they arrived'],
    file: 'src/outbox/record-events.ts',
    from: 'const settledMs = asServerMs(endedMs + settleMs);',
    to: 'const settledMs = asServerMs(endedMs);',
  },
  {
    name: 'the clock of this machine says when an attempt was made',
    seed: 7952,
    themes: ['no clock is right', 'a clock is put right'],
    file: 'src/flows/push/drain-queue.ts',
    from: 'const now = serverClock.now();',
    to: `const serverClock = { now: () => clock.now(), latest: () => clock.now() };
  const now = serverClock.now();`,
    also: {
      from: 'function estimateDeparture({ answerTimeoutMs, serverClock }: PushContext,',
      to: 'function estimateDeparture({ answerTimeoutMs, clock }: PushContext,',
    },
  },
  {
    name: 'a clock that ran ahead holds finds for ever',
    seed: 112,
    themes: ['a clock is put right'],
    file: 'src/outbox/entry-queries.ts',
    from: 'and (not_before_at > :now + :maxBackoffMs or (updated_at > :now and not_before_at > 0))',
    to: 'and not_before_at > :now + :maxBackoffMs + 1e12',
  },
  {
    name: 'numbers are sent in any order',
    seed: 145,
    themes: [
      'a museum changes its mind while a number is under way',
      'two people give a find a number',
    ],
    file: 'src/outbox/entry-queries.ts',
    from: `
  and (entries.kind <> 'number' or not (\${SUPERSEDED} or \${AWAITS_EARLIER}))`,
    to: '',
  },
  {
    name: 'of two numbers the earlier one stays',
    seed: 94,
    themes: ['a museum changes its mind while a number is under way'],
    file: 'src/outbox/entry-queries.ts',
    from: 'and later.id > entries.id`;',
    to: 'and later.id < entries.id`;',
  },
  {
    name: 'a number that a curator changed is overwritten',
    seed: 1463,
    themes: ['a curator is at the same record'],
    file: 'src/outbox/gate.ts',
    from: 'return expected ? [] : [shown];',
    to: `return expected || entry.value !== '' ? [] : [shown];`,
  },
  {
    name: 'a number is compared with the last one from here, not with the one that is shown',
    seed: 13,
    themes: ['a number is set back'],
    file: 'src/flows/queue/enqueue-change.ts',
    from: '(accepted === undefined || isPulledSince(outbox, pulled, accepted))',
    to: 'accepted === undefined',
  },
  {
    name: 'photographs and numbers go to whatever record came first',
    seed: 1,
    file: 'src/outbox/entry-queries.ts',
    from: `find_id = :findId and entries.kind <> 'import' and ident_cely is`,
    to: `(find_id = :findId or 1) and entries.kind <> 'import' and ident_cely is`,
  },
  {
    name: 'a find that is found does not free what waits for it',
    seed: 118,
    themes: ['what waits for a find that is in doubt'],
    file: 'src/outbox/entries.ts',
    from: `  if (row.kind === 'import' && identCely !== row.identCely) moveDependents(outbox, row, identCely);
`,
    to: '',
  },
  {
    name: 'a number without a record is sent',
    seed: 177,
    file: 'src/outbox/entry-queries.ts',
    from: `const CLAIMABLE = \`state = 'queued' and held is null and (entries.kind = 'import' or ident_cely is not null)`,
    to: `const CLAIMABLE = \`state = 'queued' and held is null`,
  },
  {
    name: 'what is held is sent',
    seed: 5,
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
    seed: 46,
    anonymous: true,
    file: 'src/outbox/claims.ts',
    from: `      recordEvents(outbox, [
        { kind: 'attempted', entry, id: attemptId, body: makeAttemptedBody(outbox, entry, departure), reason: null },
      ]);
`,
    to: '',
  },
  {
    name: 'answers are not written down',
    seed: 4,
    anonymous: true,
    file: 'src/outbox/claims.ts',
    from: `    recordEvents(outbox, [{ kind: 'answered', entry, body, reason: settlement.reason ?? null }]);
`,
    to: '',
  },
  {
    name: 'what a killed push was sending is not taken up',
    seed: 63,
    anonymous: true,
    file: 'src/outbox/claims.ts',
    from: `const entries = listEntriesInState(outbox, 'sending');`,
    to: `const entries = listEntriesInState(outbox, 'sending').filter(({ id }) => id < 0);`,
  },
  {
    name: 'an attempt comes to the journal with its answer at the earliest',
    seed: 63,
    themes: ['an outbox is put back', 'a backup is restored'],
    anonymous: true,
    file: 'src/outbox/record-events.ts',
    from: 'outbox.journal?.append(early);',
    to: `outbox.journal?.append(early.filter(({ kind }) => kind !== 'attempted'));`,
  },
  {
    name: 'nothing is written into the journal',
    seed: 63,
    themes: ['an outbox is put back', 'a backup is restored'],
    anonymous: true,
    file: 'src/outbox/record-events.ts',
    from: 'outbox.journal?.append(early);',
    to: '',
  },
  {
    name: 'an older copy is taken for the newest',
    seed: 63,
    themes: ['an outbox is put back', 'a backup is restored'],
    anonymous: true,
    file: 'src/outbox/merge.ts',
    from: 'page = readSince(mergedSeq); page.length > 0;',
    to: 'page = readSince(mergedSeq); page.length < 0;',
  },
  {
    name: 'attempts of unknown end are not merged',
    seed: 63,
    themes: ['an outbox is put back', 'a backup is restored'],
    anonymous: true,
    file: 'src/flows/push/push-all.ts',
    from: `mergeJournal(outbox, { withOpen: true });
  if`,
    to: `mergeJournal(outbox, { withOpen: false });
  if`,
  },
  {
    name: 'an outbox of another machine is pushed',
    seed: 387,
    themes: ['a home goes to another machine'],
    file: 'src/flows/outbox/fence.ts',
    from: `    case 'lost-journal':
      adopt(outbox, machine);
      return fence;`,
    to: `    case 'lost-journal':
    case 'foreign':
      adopt(outbox, machine);
      return { kind: 'own' };`,
  },
  {
    name: 'two processes push one outbox',
    seed: 3275,
    themes: ['two windows of one outbox'],
    file: 'src/outbox/push-lock.ts',
    from: 'if (lock === undefined) throw makeHeldError(readHolder(outbox));',
    to: 'if (lock === undefined) return { release() {} };',
  },
  {
    name: 'to give a find up says that it is not there',
    seed: 2,
    themes: ['a photograph is given up, and wanted again'],
    file: 'src/outbox/fold-events.ts',
    from: '      draft.abandoned = { event: id, body };',
    to: `      settle(draft, body.attempts);
      draft.abandoned = { event: id, body };`,
  },
  {
    name: 'to take a decision back says that nothing was sent',
    seed: 232,
    themes: ['a person decides, and thinks again'],
    file: 'src/flows/reconcile/resolve-entries.ts',
    from: `{ answer: 'undo', by: 'person', group, of: event.id }`,
    to: `{ answer: 'send', by: 'person', group, of: null }`,
  },
  {
    name: 'a decision is taken back after an attempt, with what was sent since',
    seed: 3506,
    themes: ['a person decides, and thinks again'],
    anonymous: true,
    file: 'src/flows/reconcile/resolve-entries.ts',
    from: 'if (entries.some((entry) => isAttemptedSince(outbox, entry, last)))',
    to: 'if (last.length === 0)',
    also: {
      from: `{ answer: 'undo', by: 'person', group, of: event.id }`,
      to: `{ answer: entry.state === 'accepted' ? 'release' : 'undo', by: 'person', group, of: event.id, identCely: entry.identCely, attempts: [] }`,
    },
  },
  {
    name: 'an equal record is the find, without an attempt',
    seed: 498,
    themes: ['two places have finds of one account'],
    file: 'src/flows/push/check-gate.ts',
    from: `if (decision.kind === 'held') schedule(outbox, entry.id, { held: decision.held });`,
    to: `if (decision.kind === 'held' && decision.held.basis === 'equal-record')
    recordEvidence(outbox, entry, { kind: 'found', identCely: decision.held.candidates[0] ?? '' }, { basis: '', candidates: [], serverMs: null, account: null, reason: '' });
  else if (decision.kind === 'held') schedule(outbox, entry.id, { held: decision.held });`,
    also: {
      from: 'import { assertJournal } from',
      to: 'import { assertJournal, recordEvidence } from',
    },
  },
  {
    name: 'nothing is looked at before it is sent',
    seed: 5,
    themes: ['a machine is rolled back'],
    file: 'src/flows/push/push-all.ts',
    from: `return harvesting.auth === 'none' && !readHeader(outbox).mustLook ? 'anonymous' : undefined;`,
    to: `return 'anonymous';`,
  },
  {
    name: 'a second laptop is not asked about equal records',
    seed: 30,
    themes: ['a second laptop has the same table'],
    file: 'src/flows/push/check-gate.ts',
    from: 'equalRecords: new Map(imports.map(',
    to: 'equalRecords: new Map([].map(',
  },
  {
    name: 'photographs are not looked at before they are sent',
    seed: 5,
    themes: ['a machine is rolled back'],
    file: 'src/flows/push/check-gate.ts',
    from: 'equalFiles: findEqualFiles(outbox, queued,',
    to: 'equalFiles: findEqualFiles(outbox, [],',
  },
  {
    name: 'a look forgets what an earlier one showed',
    seed: 537,
    themes: ['a second laptop has the same table'],
    file: 'src/flows/push/unexplained-records.ts',
    from: `for (const [identCely, lookup] of listed) {`,
    to: `outbox.sql('delete from unexplained').run();
    for (const [identCely, lookup] of listed) {`,
  },
  {
    name: 'what another outbox of the machine sent is not asked about',
    seed: 246,
    themes: ['two outboxes of one account on one machine'],
    anonymous: true,
    file: 'src/flows/push/check-gate.ts',
    from: 'hasOthers: assertJournal(outbox).listOtherOutboxes(account, address, ownOutbox).length > 0,',
    to: 'hasOthers: assertJournal(outbox).listOtherOutboxes(account, address, ownOutbox).length < 0,',
  },
  {
    name: 'a record that is found for one find stays with another',
    seed: 132,
    themes: ['a service is put back from its backup', 'two finds that are equal are in doubt'],
    file: 'src/flows/reconcile/reconcile-entries.ts',
    from: `if (verdict.kind === 'found' && entry.kind === 'import') reassignRecord(outbox, entry, verdict.identCely);`,
    to: '',
  },
  {
    name: 'an identifier that is given a second time belongs to two finds',
    seed: 132,
    themes: ['a service is put back from its backup'],
    file: 'src/outbox/ownership.ts',
    from: 'if (owner === undefined || owner.id === id) return undefined;',
    to: 'if (owner === undefined || owner.id !== 0) return undefined;',
  },
  {
    name: 'an index that does not show what was accepted is believed',
    seed: 1282,
    themes: ['somebody who is shown nothing like it looks for what is in doubt'],
    file: 'src/flows/reconcile/gather-evidence.ts',
    from: '.filter(([identCely]) => !harvest.lookups.has(identCely))',
    to: `.filter(([identCely]) => identCely === '')`,
  },
  {
    name: 'a push ends with what it found out',
    seed: 118,
    themes: ['what waits for a find that is in doubt'],
    file: 'src/flows/push/push-all.ts',
    from: 'if (again.length === 0) return withStopCauseForRemaining(options, result);',
    to: 'if (again.length >= 0) return result;',
  },
  {
    name: 'a refusal beside another import is final',
    seed: 73,
    themes: ['the service saves slowly'],
    file: 'src/flows/push/decide.ts',
    from: `if (entry.kind !== 'import' || entry.project === null || !besideImport ||`,
    to: `if (entry.kind === 'import' || entry.project === null || !besideImport ||`,
  },
  {
    name: 'a token that ran out makes a refusal',
    seed: 120,
    themes: ['a token runs out'],
    file: 'src/flows/push/decide.ts',
    from: `...settled(requeue(facts, msg\`the token had expired\`)),`,
    to: `...settled({ state: 'refused', reason: msg\`the token had expired\`, issues: [] }),`,
  },
  {
    name: 'a closed service makes a refusal',
    seed: 17,
    file: 'src/flows/push/decide.ts',
    from: `return settled(requeue(facts, msg\`the service is closed\`));`,
    to: `return settled({ state: 'refused', reason: msg\`the service is closed\`, issues: [] });`,
  },
  {
    name: 'a user name that is another person’s is believed',
    seed: 9,
    themes: ['a user name is another person’s now'],
    file: 'src/outbox/bound-account.ts',
    from: 'if (bound === null || bound === account) return;',
    to: `if (address !== '') return;`,
  },
  {
    name: 'two spellings of an address are two services',
    seed: 146,
    themes: ['a service is spelt in another way'],
    file: 'src/context/config.ts',
    from: `const host = hostname.replace(/(?<!\\.)\\.+$/, '');`,
    to: 'const host = hostname;',
  },
  {
    name: 'a token is kept for a user name, wherever that is',
    seed: 24,
    themes: ['a training service beside the real one'],
    file: 'src/context/open-service.ts',
    from: '  return getOwner({ baseUrl, username });',
    to: `  return getOwner({ baseUrl: baseUrl === '' ? '' : 'https://any.test', username });`,
  },
  {
    name: 'the guard of the pace is turned round',
    seed: 194,
    themes: ['many finds at once'],
    file: 'src/http/pace-store.ts',
    from: 'intervalMs + GUARD_MS + state.jitterMs',
    to: 'intervalMs - GUARD_MS + state.jitterMs',
  },
  {
    name: 'the slot counts from when it was taken',
    seed: 49,
    file: 'src/http/pacer.ts',
    from: 'Math.max(state.lastDepartureMs, nowMs - agoMs)',
    to: 'state.lastDepartureMs',
  },
  {
    name: 'a slot is given to two',
    seed: 190,
    themes: ['connections take their time'],
    file: 'src/http/pacer.ts',
    from: 'const othersMs = reservedUntilMs > nowMs ? pollIntervalMs(reservedUntilMs, nowMs) : 0;',
    to: 'const othersMs = 0;',
  },
  {
    name: 'the pace of an address is not kept for all accounts',
    seed: 49,
    themes: ['two homes of one machine'],
    file: 'src/context/pacing.ts',
    from: `scopes: [\`address:\${origin}\`, \`account:`,
    to: `scopes: [\`account:`,
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
