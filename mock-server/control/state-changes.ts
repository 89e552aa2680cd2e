import { ControlRefusal } from '../base/http-message.ts';
import { object, optional, readOneOf, text } from '../base/shape.ts';
import { getRole, mayEditNumber } from '../rules/permission.ts';
import { rewriteProject } from '../rules/project-record.ts';
import { type Account, getRoleRank } from '../state/accounts.ts';
import type { Mock } from '../state/mock.ts';
import { orderChildren } from '../state/records/child-order.ts';
import { type HistoryCode, makeHistoryEntry } from '../state/records/history.ts';
import { type ArchiveRecord, getChild, getList, getText } from '../state/records/record.ts';
import { viewRecord } from './records.ts';

type MoveName = 'submit' | 'confirm' | 'archive' | 'return';
type Transition = {
  readonly from: readonly number[];
  readonly code: HistoryCode;
  mayMove(mock: Mock, account: Account, find: ArchiveRecord): boolean;
  listMissing(find: ArchiveRecord): string[];
};

/** Elements that a submitted find requires (A-STATE-10). */
const SUBMITTED_NEEDS = [
  'hloubka',
  'okolnosti',
  'obdobi',
  'druh_nalezu',
  'specifikace',
  'nalezce',
  'datum_nalezu',
];
const SUBMITTED_NEEDS_GUARDED = ['katastr', 'lokalizace', 'geom_wkt'];

/** Transitions that people make outside the write interface (A-STATE-8). */
const MOVES: Readonly<Record<MoveName, Transition>> = {
  submit: {
    from: [1],
    code: 'SN12',
    mayMove: (mock, account, find) =>
      find.creator === account.user || mayEditNumber(mock, account, find),
    listMissing: (find) => [
      ...SUBMITTED_NEEDS.filter((name) => find.body[name] === undefined),
      ...SUBMITTED_NEEDS_GUARDED.filter(
        (name) => getChild(find.body['chranene_udaje'])?.[name] === undefined,
      ),
    ],
  },
  confirm: {
    from: [2],
    code: 'SN23',
    mayMove: (_mock, account) => hasRole(account, 'archaeologist'),
    listMissing: (find) => [
      ...['evidencni_cislo', 'predano_organizace'].filter((name) => find.body[name] === undefined),
      ...(getText(find.body['predano']) === 'true' ? [] : ['predano']),
    ],
  },
  archive: {
    from: [3],
    code: 'SN34',
    mayMove: (_mock, account) => hasRole(account, 'archivist'),
    listMissing: (find) => (getList(find.body['soubor']).length === 0 ? ['a photograph'] : []),
  },
  return: {
    from: [2, 3, 4],
    code: 'SN-1',
    mayMove: (_mock, account, find) =>
      hasRole(account, find.stav === 2 ? 'archaeologist' : 'archivist'),
    listMissing: () => [],
  },
};

const readMove = object({
  move: readOneOf(['submit', 'confirm', 'archive', 'return'] as const),
  user: optional(text({ min: 1 })),
});

/**
 * Moves a find by one state, as on the service's website: `{"move": "submit"}`, by `user`, else by
 * an administrator.
 */
export function moveFind(mock: Mock, ident: string, body: unknown): unknown {
  const { move: name, user } = readMove(body);
  const move = MOVES[name];
  const find = mock.archive.findLive('samostatny_nalez', ident);
  if (find === undefined) throw new ControlRefusal(404, `there is no find ${ident}`);
  const account = user === undefined ? findHighestRole(mock) : mock.accounts.findByName(user);
  if (account === undefined)
    throw new ControlRefusal(
      404,
      user === undefined ? 'there is no account' : `there is no account ${user}`,
    );
  const stav = find.stav ?? 0;
  if (!move.from.includes(stav))
    throw new ControlRefusal(409, `a find in state ${stav} cannot be moved by "${name}"`);
  if (!move.mayMove(mock, account, find))
    throw new ControlRefusal(403, `${account.username} may not ${name} ${ident}`);
  const missing = move.listMissing(find);
  if (missing.length > 0) throw new ControlRefusal(409, `${ident} lacks ${missing.join(', ')}`);
  return viewRecord(
    save(mock, find, name === 'return' ? stav - 1 : stav + 1, move.code, account.user),
  );
}

function save(
  mock: Mock,
  find: ArchiveRecord,
  stav: number,
  code: HistoryCode,
  user: string,
): ArchiveRecord {
  return mock.database.transaction(() => {
    const historie = [
      ...getList(find.body['historie']),
      makeHistoryEntry(mock.counters, code, user, mock.clock.now()),
    ];
    // The persistent sample number is assigned at archiving, once (S-IDENT-8).
    const igsn = find.body['igsn'] ?? (code === 'SN34' ? `10.5072/${find.ident}` : undefined);
    const body = orderChildren('samostatny_nalez', {
      ...find.body,
      stav: String(stav),
      igsn,
      historie,
    });
    const saved = mock.archive.put({ entity: 'samostatny_nalez', body });
    if (saved.project !== null) rewriteProject(mock.archive, saved.project);
    return saved;
  })();
}

function hasRole(account: Account, role: 'archaeologist' | 'archivist'): boolean {
  return getRoleRank(getRole(account)) >= getRoleRank(role);
}

function findHighestRole(mock: Mock): Account | undefined {
  return [...mock.accounts.listAll()].sort(
    (a, b) => getRoleRank(getRole(b)) - getRoleRank(getRole(a)),
  )[0];
}
