/** Changes that no test can notice, each by its line, what stands there in place of a part of it, and why. */
export const EXPLAINED = [
  {
    line: 'recordKeys: query.recordKeys === undefined ? null : JSON.stringify(query.recordKeys),',
    becomes: 'false',
    why: 'SQLite is given null for what is undefined, too',
  },
  {
    line: "if (entry.kind === 'number') dropOutdated(outbox, entry.serviceId, entry.identCely ?? '');",
    becomes: '"Stryker was here!"',
    why: 'a number that is due has an identifier',
  },
];
