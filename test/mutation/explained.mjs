/**
 * Changes that no test can notice, each by its line, what stands there in place of a part of it,
 * and why.
 */
export const EXPLAINED = [
  {
    line: 'recordKeys: query.recordKeys === undefined ? null : JSON.stringify(query.recordKeys),',
    becomes: ['false'],
    why: 'SQLite is given null for what is undefined, too',
  },
  {
    line: "if (entry.kind === 'number') supersedeEarlierNumbers(outbox, entry.identCely ?? '');",
    becomes: ['"Stryker was here!"'],
    why: 'a number that is due has an identifier',
  },
  {
    line: "export function getRank({ role = '' }: RuleContext): keyof typeof ROLES | undefined {",
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
    line: 'uncertain.map(({ entryId, window }) => [entryId, (alike.get(entryId) ?? []).filter((find) => mayBeCreation(window, find))]),',
    becomes: ['["Stryker was here"]'],
    why: 'each doubt is in the map',
  },
  {
    line: 'judgeImport(judged, alike.get(judged.entryId) ?? [], fitting.get(judged.entryId) ?? [], claims, view),',
    becomes: ['["Stryker was here"]'],
    why: 'each doubt is in both maps',
  },
  {
    line: "if (!judged.window.accounts.has(findCreation(find)?.user ?? '')) return false;",
    becomes: ['"Stryker was here!"'],
    why: 'no account is called either',
  },
  {
    line: "const otherEntries = listEntriesOfRecord(outbox, identCely ?? '').filter((entry) => entry.id !== id);",
    becomes: ['"Stryker was here!"'],
    why: 'no record is called either',
  },
  {
    line: "const importEntry = otherEntries.find(({ kind, state }) => kind === 'import' && state === 'accepted');",
    becomes: ['true'],
    why: 'an import has a record only while it is accepted',
  },
  {
    line: 'const rivals = uncertain.filter((other) => mine.some((file) => isStoredAs(other, file)));',
    becomes: ['mine.every(file => isStoredAs(other, file))'],
    why: 'the rivals decide only where there is one file',
  },
  {
    line: 'if (only !== undefined && mine.length === 1 && rivals.length === 1) {',
    becomes: ['true'],
    why: 'where there is one file there is a first one',
  },
  {
    line: 'const sent = owner === undefined ? undefined : parseSentElements(owner);',
    becomes: ['false'],
    why: 'it is asked only of records that have an owner',
  },
  {
    line: "const find = document === null ? undefined : getChild(parseXml(document).root, 'samostatny_nalez');",
    becomes: ['false'],
    why: 'what was sent has its document',
  },
  {
    line: "const find = finds.get(identCely ?? '');",
    becomes: ['"Stryker was here!"'],
    why: 'no record is called either',
  },
  {
    line: "kinds.set(kind, (kinds.get(kind) ?? new Set()).add(findCreation(find)?.user ?? ''));",
    becomes: ['"Stryker was here!"'],
    why: 'no account is called either',
  },
  {
    line: "const open = listEntriesInState(outbox, 'uncertain').filter(isChange);",
    becomes: ["listEntriesInState(outbox, 'uncertain')"],
    why: 'an import in doubt has no record, and is judged as no change',
  },
  {
    line: "return entry.kind !== 'import';",
    becomes: ['true', '""'],
    why: 'an import in doubt has no record, and is judged as no change',
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
    line: 'const importEntry = findId === null ? undefined : findImportOfFind(outbox, findId);',
    becomes: ['false'],
    why: 'no find has the row null',
  },
  {
    line: "return judgeNumber({ identCely: identCely ?? '', value, knownNumbers, window: getAttemptWindow(outbox, entry) }, record, view);",
    becomes: ['"Stryker was here!"'],
    why: 'what is asked about has a record',
  },
  {
    line: 'const ms = datestamp === undefined ? undefined : parseDatestampMs(datestamp);',
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
    line: 'return listSize === null || walk.size === null ? listSize : listSize + Math.min(0, withListSize - walk.size);',
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
    line: 'const knownRecord = earlier === undefined ? state.findSeen(identifier) : earlier.knownRecord;',
    becomes: ['true'],
    why: 'the state stays as it is while a page is read',
  },
  {
    line: "return { state: 'accepted', identCely: entry.identCely ?? '', reason: msg`the service already had this number` };",
    becomes: ['"Stryker was here!"'],
    why: 'a number that was sent has a record',
  },
  {
    line: "const element = entry.kind === 'import' && entry.document !== null ? findElementAtLine(entry.document, finding.line) : undefined;",
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
    line: "(entry) => entry.kind === 'number',",
    becomes: ['true'],
    why: 'the query has asked for numbers alone',
  },
  {
    line: 'return failures.length < RETRY_POLICY.entry.slowAfter ? 0 : (failures.at(-1)?.endedAt ?? 0) + computeEntryBackoffMs(failures.length);',
    becomes: ['failures.at(-1).endedAt'],
    why: 'there are failures',
  },
  {
    line: "return entry?.kind === 'import' ? entry : undefined;",
    becomes: ['true'],
    why: 'the query has asked for imports alone',
  },
  {
    line: String.raw`const isKnown = /^\d+\.\d+$/.test(version) && existsSync(getPath(version));`,
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
    line: "for (const type of root.children) types.set(getAttribute(type, 'name') ?? '', listDeclarations(type));",
    becomes: ['"Stryker was here!"'],
    why: 'each type of the schema has a name, but for the one that nothing refers to',
  },
  {
    line: "name: getAttribute(child, 'name') ?? '',",
    becomes: ['"Stryker was here!"'],
    why: 'each element of the schema has a name',
  },
  {
    line: "type: getAttribute(child, 'type') ?? '',",
    becomes: ['"Stryker was here!"'],
    why: 'no type has either name',
  },
  {
    line: "if (entities !== undefined) visit('', listDeclarations(entities));",
    becomes: ['true'],
    why: 'each schema has its entities',
  },
  {
    line: "if (entities !== undefined) visit('', listDeclarations(entities));",
    becomes: ['"Stryker was here!"'],
    why: 'no entity may repeat, so that nothing is kept of their parent',
  },
];
