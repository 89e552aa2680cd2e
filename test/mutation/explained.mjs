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
  {
    line: "export function rankOf({ role = '' }: RuleContext): keyof typeof ROLES | undefined {",
    becomes: '"Stryker was here!"',
    why: 'no role has that name either',
  },
  {
    line: "if (projekt === undefined || state === undefined || (rank === 'archivist' && project?.stav !== -1)) return [];",
    becomes: 'project.stav',
    why: 'without a project there is no state, which ends it before',
  },
  {
    line: 'const column = element === undefined ? undefined : columns?.[element];',
    becomes: 'false',
    why: 'no column has the name of nothing',
  },
];
