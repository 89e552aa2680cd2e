import type { Addresses } from '../base/addresses.ts';
import { ControlRefusal } from '../base/http-message.ts';
import { flag, nullable, object, optional, readOneOf, text } from '../base/shape.ts';
import { getRole, mayImportInto } from '../rules/permission.ts';
import { type Account, GROUP_OF_ROLE, ROLES } from '../state/accounts.ts';
import type { Mock } from '../state/mock.ts';
import { orderChildren } from '../state/records/child-order.ts';
import { getId, getText } from '../state/records/record.ts';

/** Returns `GET /state`: counts, accounts, the projects into which they may import, addresses. */
export function viewState(mock: Mock, addresses: Addresses): unknown {
  const accounts = mock.accounts.listAll();
  return {
    counts: countState(mock),
    accounts: accounts.map(viewAccount),
    projects: mock.archive.listAll('projekt').map((project) => ({
      ident: project.ident,
      type: getId(project.body['typ_projektu']) ?? null,
      type_label: getText(project.body['typ_projektu']) ?? null,
      stav: project.stav,
      organisation: getId(project.body['organizace']) ?? null,
      importable_by: accounts
        .filter((account) => account.active && mayImportInto(mock, account, project))
        .map((account) => account.username),
    })),
    addresses: viewAddresses(addresses, mock.training),
    clock: viewClock(mock),
    deployed: mock.deployed,
    training: mock.training,
    seed_number: mock.seedNumber,
  };
}

/**
 * Returns the addresses of a server as its JSON names them; `oai_base` is null in training, where
 * nothing is harvested.
 */
export function viewAddresses(
  addresses: Addresses,
  training: boolean,
): Readonly<Record<string, string | null>> {
  return {
    base_url: addresses.baseUrl,
    oai_base: training ? null : addresses.oaiBase,
    schema_base: addresses.schemaBase,
    control_url: addresses.controlUrl,
  };
}

/** Returns the clock as `GET /clock` does. */
export function viewClock({ clock }: Mock): unknown {
  const nowMs = clock.now();
  return { now_ms: nowMs, now: new Date(nowMs).toISOString(), frozen: clock.frozen };
}

function viewAccount(account: Account): unknown {
  const { username, email, user, organisation, active } = account;
  return { username, email, user, role: getRole(account), organisation, active };
}

function countState(mock: Mock): unknown {
  const statistics = mock.archive.countByState();
  const finds = statistics.filter((row) => row.entity === 'samostatny_nalez');
  const byEntity: Record<string, number> = {};
  for (const row of statistics) byEntity[row.entity] = (byEntity[row.entity] ?? 0) + row.count;
  return {
    finds: byEntity['samostatny_nalez'] ?? 0,
    finds_by_state: Object.fromEntries(finds.map((row) => [String(row.stav), row.count])),
    finds_with_number: mock.archive.countWith('samostatny_nalez', 'evidencni_cislo'),
    photos: mock.photographs.count(),
    persons: byEntity['osoba'] ?? 0,
    records: byEntity,
    journal: mock.journal.size,
  };
}

const readRights = object({
  role: optional(nullable(readOneOf(ROLES))),
  organisation: optional(text({ min: 1 })),
  active: optional(flag),
});

/** The group of an account that has no role. */
const NO_ROLE = 'Uživatel';

/** Changes the permissions of an account, in its user record, from the next request on. */
export function changeAccount(mock: Mock, username: string, body: unknown): unknown {
  const { role, organisation: ident, active } = readRights(body);
  const account = mock.accounts.findByName(username);
  const user = account === undefined ? undefined : mock.archive.findLive('uzivatel', account.user);
  if (account === undefined || user === undefined)
    throw new ControlRefusal(404, `there is no account ${username}`);
  const organisation = ident === undefined ? undefined : mock.archive.findLive('organizace', ident);
  if (ident !== undefined && organisation === undefined)
    throw new ControlRefusal(404, `there is no organisation ${ident}`);
  const makeCzechText = (value: string) => ({ '@lang': 'cs', '#': value });
  mock.archive.put({
    entity: 'uzivatel',
    body: orderChildren('uzivatel', {
      ...user.body,
      skupina:
        role === undefined
          ? user.body['skupina']
          : makeCzechText(role === null ? NO_ROLE : GROUP_OF_ROLE[role]),
      organizace: organisation
        ? {
            ...makeCzechText(getText(organisation.body['nazev']) ?? organisation.ident),
            '@id': organisation.ident,
          }
        : user.body['organizace'],
      aktivni: active === undefined ? user.body['aktivni'] : String(active),
    }),
  });
  return viewAccount(mock.accounts.findByName(username) ?? account);
}
