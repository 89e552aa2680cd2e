/** Changes that no test can notice, each by its line, what stands there in place of a part of it, and why. */
export const EXPLAINED = [
  {
    line: 'recordKeys: query.recordKeys === undefined ? null : JSON.stringify(query.recordKeys),',
    becomes: ['false'],
    why: 'SQLite is given null for what is undefined, too',
  },
  {
    line: "if (entry.kind === 'number') dropOutdated(outbox, entry.serviceId, entry.identCely ?? '');",
    becomes: ['"Stryker was here!"'],
    why: 'a number that is due has an identifier',
  },
  {
    line: "export function rankOf({ role = '' }: RuleContext): keyof typeof ROLES | undefined {",
    becomes: ['"Stryker was here!"'],
    why: 'no role has that name either',
  },
  {
    line: "if (projekt === undefined || state === undefined || (rank === 'archivist' && project?.stav !== -1)) return [];",
    becomes: ['project.stav'],
    why: 'without a project there is no state, which ends it before',
  },
  {
    line: 'const column = element === undefined ? undefined : columns?.[element];',
    becomes: ['false'],
    why: 'no column has the name of nothing',
  },
  {
    line: 'return [entryId, (alike.get(entryId) ?? []).filter((find) => couldBeMade(untilAnswered, find))];',
    becomes: ['["Stryker was here"]'],
    why: 'each doubt is in the map',
  },
  {
    line: 'judgeImport(doubt, alike.get(doubt.entryId) ?? [], fitting.get(doubt.entryId) ?? [], claims, view),',
    becomes: ['["Stryker was here"]'],
    why: 'each doubt is in both maps',
  },
  {
    line: "if (accounts !== undefined && !accounts.has(makingOf(find)?.user ?? '')) return false;",
    becomes: ['"Stryker was here!"'],
    why: 'no account is called either',
  },
  {
    line: "const others = entriesOfRecord(outbox, identCely ?? '').filter((entry) => entry.id !== id);",
    becomes: ['"Stryker was here!"'],
    why: 'no record is called either',
  },
  {
    line: "const made = others.find(({ kind, state }) => kind === 'import' && state === 'accepted');",
    becomes: ['true'],
    why: 'an import has a record only while it is accepted',
  },
  {
    line: 'const rivals = doubts.filter((other) => mine.some((file) => isFileOf(other, file)));',
    becomes: ['mine.every(file => isFileOf(other, file))'],
    why: 'the rivals decide only where there is one file',
  },
  {
    line: 'if (only !== undefined && mine.length === 1 && rivals.length === 1) {',
    becomes: ['true'],
    why: 'where there is one file there is a first one',
  },
  {
    line: 'if (stored.length === 0) return false;',
    becomes: ['false'],
    why: 'it only spares the outbox a question',
  },
  {
    line: 'const accepted = acceptedSince(outbox, from ?? 0, now.offsetMs);',
    becomes: ['from && 0'],
    why: 'what was accepted before the doubt says nothing of it',
  },
  {
    line: 'const sent = owner === undefined ? undefined : elementsSent(owner);',
    becomes: ['false'],
    why: 'it is asked only of records that have an owner',
  },
  {
    line: "const find = document === null ? undefined : childOf(parseXml(document).root, 'samostatny_nalez');",
    becomes: ['false'],
    why: 'what was sent has its document',
  },
  {
    line: "const find = finds.get(identCely ?? '');",
    becomes: ['"Stryker was here!"'],
    why: 'no record is called either',
  },
  {
    line: "kinds.set(kind, (kinds.get(kind) ?? new Set()).add(makingOf(find)?.user ?? ''));",
    becomes: ['"Stryker was here!"'],
    why: 'no account is called either',
  },
  {
    line: 'const changes = uncertain.filter(isChange);',
    becomes: ['uncertain'],
    why: 'an import that is named twice begins no earlier',
  },
  {
    line: "const open = entriesInState(outbox, 'uncertain').filter(isChange);",
    becomes: ["entriesInState(outbox, 'uncertain')"],
    why: 'an import in doubt has no record, and is judged as no change',
  },
  {
    line: "return entry.kind !== 'import';",
    becomes: ['true', '""'],
    why: 'an import in doubt has no record, and is judged as no change',
  },
  {
    line: 'if (gaps.length > 0) narrowGaps(context, gaps, view);',
    becomes: ['true', 'gaps.length >= 0'],
    why: 'where there are none, none are put in their place',
  },
  {
    line: 'for (const entry of entries.filter(({ identCely }) => identCely === null)) {',
    becomes: ['entries', 'true'],
    why: 'what has a record is of a find that is at the service, or of none',
  },
  {
    line: 'if (verdict !== undefined) verdicts.set(entry.id, verdict);',
    becomes: ['true'],
    why: 'no verdict is none, in the map as outside it',
  },
  {
    line: 'const made = findId === null ? undefined : importOfFind(outbox, findId);',
    becomes: ['false'],
    why: 'no find has the row null',
  },
  {
    line: "const verdict = judgeNumber({ identCely: identCely ?? '', value, known, window: windowOf(context, entry, view) }, record, view);",
    becomes: ['"Stryker was here!"'],
    why: 'what is asked about has a record',
  },
  {
    line: String.raw`const TIME = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?Z$/;`,
    becomes: [
      String.raw`/(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?Z$/`,
      String.raw`/^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?Z/`,
    ],
    why: 'Date.parse refuses what stands before or behind',
  },
  {
    line: 'const ms = datestamp === undefined ? undefined : datestampMs(datestamp);',
    becomes: ['false'],
    why: 'no word is a datestamp',
  },
  {
    line: 'if (identifier === undefined || datestamp === undefined || ms === undefined) return undefined;',
    becomes: ['false'],
    why: 'without a datestamp there is no moment either',
  },
  {
    line: 'for (let turn = 0; turn < TURNS_OF_A_REQUEST; turn++) await setImmediate();',
    becomes: ['turn <= TURNS_OF_A_REQUEST'],
    why: 'a turn more waits for nothing',
  },
  {
    line: 'const seenTokens = new Set(start.resumptionToken === undefined ? [] : [start.resumptionToken]);',
    becomes: ['["Stryker was here"]'],
    why: 'no service gives that token',
  },
  {
    line: 'return walk.size !== null && completeListSize !== undefined && completeListSize < walk.size;',
    becomes: ['true', 'walk.size !== null || completeListSize !== undefined'],
    why: 'what is not counted is not less, nor is anything less than it',
  },
  {
    line: 'if (fromMs !== null && fromMs !== window.fromMs) return datestampMs <= fromMs;',
    becomes: ['true'],
    why: 'a cut takes no bound away',
  },
  {
    line: 'return untilMs !== null && untilMs !== window.untilMs && datestampMs >= untilMs;',
    becomes: ['true'],
    why: 'a cut takes no bound away',
  },
  {
    line: 'return listSize === null || walk.size === null ? listSize : listSize + Math.min(0, counted - walk.size);',
    becomes: ['false'],
    why: 'no count is below nothing',
  },
  {
    line: "const step = datestampMs < edgeMs ? 'falling' : 'rising';",
    becomes: ['datestampMs <= edgeMs'],
    why: 'the two are not equal there',
  },
  {
    line: 'if (edgeMs === null) return undefined;',
    becomes: ['false'],
    why: 'without a datestamp there is no direction either',
  },
  {
    line: 'const written = seen.flatMap(({ record, isNews }) => (record !== undefined && isNews ? [record] : []));',
    becomes: ['true'],
    why: 'what is not kept is no news',
  },
  {
    line: 'const known = earlier === undefined ? state.met(identifier) : earlier.known;',
    becomes: ['true'],
    why: 'the state stays as it is while a page is read',
  },
  {
    line: "return { state: 'accepted', identCely: entry.identCely ?? '', reason: msg`the service already had this number` };",
    becomes: ['"Stryker was here!"'],
    why: 'a number that was sent has a record',
  },
  {
    line: "const element = entry.kind === 'import' && entry.document !== null ? elementAtLine(entry.document, finding.line) : undefined;",
    becomes: ['true'],
    why: 'what was sent has its document',
  },
  {
    line: '...(finding.line === undefined ? {} : { line: finding.line }),',
    becomes: ['false'],
    why: 'what is undefined is not written',
  },
  {
    line: "...(element === undefined || element === 'samostatny_nalez' ? {} : { element }),",
    becomes: ['false'],
    why: 'what is undefined is not written',
  },
  {
    line: 'if (line === undefined) return undefined;',
    becomes: ['false'],
    why: 'no text has a line of no number',
  },
  {
    line: 'if (project !== null) waitBehind(outbox, { kind, project }, because(reason));',
    becomes: ['true'],
    why: 'no entry is of the project null',
  },
  {
    line: 'for (const id of row?.refused ?? []) {',
    becomes: ['["Stryker was here"]'],
    why: 'no entry has that number',
  },
  {
    line: "if (concern === 'entry' && !PROJECTS.includes(walls.rows.get(ofKind)?.answer ?? '')) walls.rows.delete(ofKind);",
    becomes: ['"Stryker was here!"'],
    why: 'any word does that is no status',
  },
  {
    line: "}).filter((entry) => entry.kind === 'number');",
    becomes: ['true'],
    why: 'the query has asked for numbers alone',
  },
  {
    line: "(entry) => entry.kind === 'number',",
    becomes: ['true'],
    why: 'the query has asked for numbers alone',
  },
  {
    line: "const clear = told.findLastIndex(({ outcome }) => !CAME_TO_NOTHING.includes(outcome ?? ''));",
    becomes: ['"Stryker was here!"'],
    why: 'what has no outcome was left out before',
  },
  {
    line: 'return tries.length < MOST_TRIES ? 0 : (tries.at(-1)?.endedAt ?? 0) + waitAfter(tries.length);',
    becomes: ['tries.at(-1).endedAt'],
    why: 'there are tries',
  },
  {
    line: "return entry?.kind === 'import' ? entry : undefined;",
    becomes: ['true'],
    why: 'the query has asked for imports alone',
  },
  {
    line: "else if (entry.kind !== 'import') outbox.sql('update entries set ident_cely = null where id = ?').run(entry.id);",
    becomes: ['true', '""'],
    why: 'an import has a record only while it is accepted',
  },
  {
    line: String.raw`const isKnown = /^\d+\.\d+$/.test(version) && existsSync(pathOf(version));`,
    becomes: [
      'false',
      String.raw`/\d+\.\d+$/`,
      String.raw`/^\d+\.\d+/`,
      String.raw`/^\d\.\d+$/`,
      String.raw`/^\D+\.\d+$/`,
      String.raw`/^\d+\.\d$/`,
      String.raw`/^\d+\.\D+$/`,
    ],
    why: 'in all three versions of the schema the same elements repeat',
  },
  {
    line: "for (const type of root.children) types.set(attributeOf(type, 'name') ?? '', type);",
    becomes: ['"Stryker was here!"'],
    why: 'each type of the schema has a name, but for the one that nothing refers to',
  },
  {
    line: "const name = attributeOf(child, 'name') ?? '';",
    becomes: ['"Stryker was here!"'],
    why: 'each element of the schema has a name',
  },
  {
    line: "visit(name, types.get(attributeOf(child, 'type') ?? ''));",
    becomes: ['"Stryker was here!"'],
    why: 'no type has either name',
  },
  {
    line: "if (entities !== undefined) visit('', entities);",
    becomes: ['true'],
    why: 'each schema has its entities',
  },
  {
    line: "if (entities !== undefined) visit('', entities);",
    becomes: ['"Stryker was here!"'],
    why: 'no entity may repeat, so that nothing is kept of their parent',
  },
];
