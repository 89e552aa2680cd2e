import type { Account } from '../accounts.ts';
import type { Addresses } from '../addresses.ts';
import type { Mock } from '../mock.ts';
import { mayImportInto, roleOf } from '../pas/permission.ts';
import { idOf, textOf } from '../records/record.ts';

/** What `GET /state` shows: counts, who may sign in, which projects they may import into, where everything is. */
export function stateView(mock: Mock, addresses: Addresses): unknown {
  const accounts = mock.accounts.all();
  const nowMs = mock.clock.now();
  return {
    counts: countsOf(mock),
    accounts: accounts.map(accountView),
    projects: mock.archive.allOf('projekt').map((project) => ({
      ident: project.ident,
      type: idOf(project.body['typ_projektu']) ?? null,
      type_label: textOf(project.body['typ_projektu']) ?? null,
      stav: project.stav,
      organisation: idOf(project.body['organizace']) ?? null,
      importable_by: accounts
        .filter((account) => account.active && mayImportInto(mock, account, project))
        .map((account) => account.username),
    })),
    addresses: addressesView(addresses, mock.training),
    clock: { now_ms: nowMs, now: new Date(nowMs).toISOString(), frozen: mock.clock.frozen },
    deployed: mock.deployed,
    training: mock.training,
    seed_number: mock.seedNumber,
  };
}

export function addressesView(addresses: Addresses, training: boolean): Readonly<Record<string, string | null>> {
  return {
    base_url: addresses.baseUrl,
    oai_base: training ? null : addresses.oaiBase,
    schema_base: addresses.schemaBase,
    control_url: addresses.controlUrl,
  };
}

export function accountView(account: Account): unknown {
  const { username, email, user, organisation, active } = account;
  return { username, email, user, role: roleOf(account), organisation, active };
}

function countsOf(mock: Mock): unknown {
  const statistics = mock.archive.statistics();
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
