import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/base/disk/database.ts';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { outboxFile } from '../support/outbox-files.ts';
import {
  accountFlags,
  expectEnded,
  type Home,
  makeHome,
  signedIn,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { importSeason, sendSeason } from '../support/season.ts';

type AtService = {
  standing: string;
  stav: number | null;
  evidencni_cislo: string | null;
  photos: string[] | null;
  photos_sent: number;
  area: { id: string; text: string } | null;
  district: { id: string; text: string } | null;
  protected_withheld: boolean | null;
  changed: { element: string; sent: string | null; now: string | null }[];
};
type PulledFind = AtService & { find: string; ident_cely: string; news: boolean };
type Pulled = { from: string | null; finds: PulledFind[] };

let service: RunningMock;
let home: Home;
/** Identifier of `K-1`, `K-2`, … */
let idents: string[];

/** One mock server for each set of flags. */
const services = new Map<string, RunningMock>();
afterAll(() => Promise.all([...services.values()].map((running) => running.stop())));

async function useService(...flags: string[]): Promise<void> {
  const key = flags.join(' ');
  const running = services.get(key);
  service = running ?? (await serveMock(...flags));
  services.set(key, service);
  if (running !== undefined) await service.control('POST', '/reset');
}

async function start(user: string, finds: number, ...flags: string[]): Promise<void> {
  await useService(...flags);
  home = await signedIn(service, [...WITHOUT_PAUSES, '--kind', 'production'], user, {
    name: `${finds} finds`,
    prepare: (prepared) => importSeason(prepared, finds, { photos: true }),
  });
  await home.do('push', '--yes');
  const outbox = openSqlite(outboxFile(home), { readonly: true });
  idents = outbox
    .prepare<[], string>(
      "select ident_cely from outbox_overview where kind = 'import' order by local_id",
    )
    .pluck()
    .all() as string[];
  outbox.close();
}

/** The same profile, with another sign-in for harvesting. */
async function harvestAs(oaiAuth: string): Promise<void> {
  await home.init(
    service,
    '--name',
    'mock',
    '--kind',
    'production',
    '--username',
    'archaeologist',
    '--oai-auth',
    oaiAuth,
  );
}

const pull = (...flags: string[]): Promise<Pulled> => home.json<Pulled>('pull', ...flags);

async function news(...flags: string[]): Promise<PulledFind[]> {
  return (await pull(...flags)).finds.filter((find) => find.news);
}

const move = (find: number, step: string): Promise<unknown> =>
  service.control('POST', `/records/${idents[find - 1]}/move`, { move: step });
/** Changes a record in a later second than that of its last answer. */
async function change(find: number, changes: Record<string, unknown>): Promise<void> {
  await service.clock({ advance_ms: 1000 });
  await service.control('POST', '/records', { ident: idents[find - 1], changes });
}

describe('finds that an archaeologist sent', () => {
  beforeEach(() => start('archaeologist', 5));

  test('are pulled as they are now, with the service’s additions', async () => {
    expect(
      (await home.json<{ at_service: unknown }[]>('list')).map(({ at_service }) => at_service),
    ).toEqual([null, null, null, null, null]);
    const { finds } = await pull();
    expect(finds).toHaveLength(5);
    expect(finds[0]).toMatchObject({
      find: 'K-1',
      ident_cely: idents[0],
      news: false,
      standing: 'shown',
      stav: 1,
      evidencni_cislo: null,
      photos: [expect.stringMatching(/F01\.png$/)],
      photos_sent: 1,
      protected_withheld: false,
      changed: [],
      area: { id: expect.stringMatching(/^ruian-\d+$/), text: expect.stringMatching(/\p{L}/u) },
      district: { id: expect.stringMatching(/^ruian-\d{4}$/) },
    });
    expect(await news()).toEqual([]);
  });

  test('show what changed since they were sent: state, number, photographs, elements', async () => {
    await pull();
    await move(1, 'submit');
    await home.do('number', 'set', 'K-2', 'MB 7/2025');
    await home.do('push', '--yes');
    await change(2, { evidencni_cislo: 'MB 8/2025', poznamka: 'opraveno' });
    await change(4, {
      evidencni_cislo: 'MB 9',
      predano: 'true',
      predano_organizace: { '@lang': 'cs', '@id': 'ORG-000091', '#': 'MMK' },
    });
    for (const step of ['submit', 'confirm', 'archive']) await move(4, step);

    const changed = await news();
    expect(changed.map(({ find, stav }) => [find, stav])).toEqual([
      ['K-1', 2],
      ['K-2', 1],
      ['K-4', 4],
    ]);
    expect(changed[0]?.changed).toEqual([{ element: 'stav', sent: '1', now: '2' }]);
    expect(changed[1]).toMatchObject({
      evidencni_cislo: 'MB 8/2025',
      changed: [
        { element: 'evidencni_cislo', sent: 'MB 7/2025', now: 'MB 8/2025' },
        { element: 'poznamka', sent: 'nález 2', now: 'opraveno' },
      ],
    });
    expect(changed[2]?.changed.map(({ element }) => element)).toEqual([
      'evidencni_cislo',
      'stav',
      'predano',
      'predano_organizace',
    ]);
  });

  test('are exported for museums and reported as the service has them', async () => {
    await home.do('number', 'set', 'K-2', 'MB 7/2025');
    await home.do('push', '--yes');
    await move(1, 'submit');
    await change(2, {
      evidencni_cislo: 'MB 8/2025',
      hloubka: '77',
      pristupnost: { '@lang': 'cs', '@id': 'HES-000868', '#': 'archivář' },
    });
    await home.do('pull');
    const museum = (await home.do('export', '--for', 'museum', '--format', 'csv')).stdout;
    const [header = '', ...rows] = museum.replace(/^\ufeff/, '').split('\r\n');
    const cells = (find: string): Record<string, string> => {
      const row = rows.find((line) => line.startsWith(`${find};`))?.split(';') ?? [];
      return Object.fromEntries(header.split(';').map((name, index) => [name, row[index] ?? '']));
    };
    expect(cells('K-1')).toMatchObject({ 'Cílový stav': '2' });
    expect(Object.values(cells('K-2'))).toEqual(
      expect.arrayContaining(['MB 8/2025', '77', 'HES-000868']),
    );
    expect(museum).not.toContain('MB 7/2025');
    await home.do('report', 'page.html');
    const page = readFileSync(join(home.folder, 'page.html'), 'utf8');
    expect(page).toContain('MB 8/2025');
    expect(page).not.toContain('MB 7/2025');
    // The stored files are read again.
    expect((await home.do('export', 'K-2', '--format', 'csv')).stdout).toContain('MB 7/2025');
  });

  test('can get a photograph again that the last pull shows as removed', async () => {
    await pull();
    const photograph = join(home.folder, 'photo-1.png');
    expect((await home.pas('photo', 'add', 'K-1', photograph)).stdout).toContain(
      '0 of 1 photograph queued',
    );
    await change(1, { soubor: null });
    await pull();
    const added = await home.do('photo', 'add', 'K-1', photograph);
    expect(added.stdout).toContain('1 of 1 photograph queued for K-1.');
    expect(added.stderr).toContain('the last pull shows the record without it');
    expect((await home.pas('photo', 'add', 'K-1', photograph)).stdout).toContain(
      '0 of 1 photograph queued',
    );
    await home.do('push', '--yes');
    expect((await pull()).finds[0]).toMatchObject({ photos: [expect.any(String)], photos_sent: 1 });
    const { entries } = await home.json('show', 'K-1');
    expect(entries.filter(({ kind }: { kind: string }) => kind === 'photo')).toHaveLength(1);
  });

  test('that were deleted at the service are reported, and keep their last known content', async () => {
    await pull();
    await service.control('POST', `/records/${idents[2]}/delete`);
    const run = await home.do('pull');
    expect(run.stderr).toMatch(`Deleted in the service: K-3 (${idents[2]}).`);
    expect(run.stdout).toMatch(/5 sent finds, 1 changed/);
    const [, , third] = (await pull()).finds;
    expect(third).toMatchObject({ find: 'K-3', standing: 'deleted', stav: 1, news: false });
    expect((await home.pas('list')).stdout).toMatch(/K-3 +accepted +deleted \(last 1 registered\)/);
  });

  test.each([[[]], [['--full']]])(
    'that vanished without a trace are named by pull %j, and keep their last known content',
    async (flags) => {
      await pull();
      await service.control('POST', `/records/${idents[2]}/delete`, { permanent: true });
      const run = await home.do('pull', ...flags);
      expect(run.stderr).toContain(
        `The service no longer lists these records; the last known values are kept: K-3 (${idents[2]}).`,
      );
      expect((await pull(...flags)).finds[2]).toMatchObject({
        standing: 'missing',
        stav: 1,
        news: false,
      });
      expect((await home.pas('list')).stdout).toMatch(
        /K-3 +accepted +not listed \(last 1 registered\)/,
      );
    },
  );

  test('stay as they were when the harvest fails', async () => {
    await pull();
    await move(1, 'submit');
    await service.faults({ endpoint: 'oai', when: { every: 1 }, fault: 'malformed' });
    await expectEnded(home.pas('pull'), 5);
    await service.faults();
    expect((await news()).map(({ find }) => find)).toEqual(['K-1']);
  });

  test('that a person settled as created are found, however old they are', async () => {
    await pull();
    await service.clock({ advance_ms: 30 * 24 * 3600 * 1000 });
    await pull();
    await importSeason(home, 6, { photos: true });
    await service.faults({ endpoint: 'import', when: { every: 1 }, fault: '500-before-save' });
    await expectEnded(home.pas('push', '--yes'), 6);
    await service.faults();
    // An older record of the seed, that the list of changes does not show any more.
    await home.do('resolve', 'K-6', '--created', 'C-202400101-N00001', '--yes');
    await harvestAs('basic');
    const [only, ...otherFinds] = await news();
    expect([only?.find, otherFinds]).toEqual(['K-6', []]);
    expect(only?.standing).not.toBe('missing');
  });

  test('are not called changed where a number was accepted after the pull', async () => {
    await home.do('pull');
    await service.control('POST', '/clock', { advance_ms: 60_000 });
    await home.do('number', 'set', 'K-1', 'A 1');
    await home.do('push', '--yes');
    expect((await home.do('show', 'K-1')).stdout).not.toContain('changed since');
  });

  test('are shown and listed with the pulled content, even offline', async () => {
    await move(1, 'submit');
    await home.do('pull');
    await service.stop();
    services.delete('');
    expect(await home.json('list')).toMatchObject([
      { local_id: 'K-1', state: 'accepted', at_service: { standing: 'shown', stav: 2 } },
      ...Array.from({ length: 4 }, () => ({ at_service: { standing: 'shown', stav: 1 } })),
    ]);
    expect((await home.pas('list')).stdout).toMatch(/K-1 +accepted +2 submitted/);
    const shown = await home.json<{ at_service: AtService }>('show', 'K-1');
    expect(shown.at_service).toMatchObject({
      stav: 2,
      changed: [{ element: 'stav', sent: '1', now: '2' }],
    });
    expect((await home.pas('show', 'K-1')).stdout).toMatch(
      /in the service: 2 submitted.*area .*differs from the find here: Target state: 1 → 2/s,
    );
    const outbox = openSqlite(outboxFile(home), { readonly: true });
    expect(
      outbox
        .prepare(`select distinct stav from outbox_overview where local_id = 'K-1'`)
        .pluck()
        .all(),
    ).toEqual([2]);
    outbox.close();
  });
});

describe('content that the account may not see', () => {
  test('is reported as withheld, part by part', async () => {
    await start('researcher', 2);
    const run = await home.do('pull');
    // The finds say "archaeologist" as to who may see their place.
    expect(run.stderr).toMatch(
      /The location is hidden from this account and was not compared: 2 finds/,
    );
    expect((await pull()).finds[0]).toMatchObject({
      standing: 'shown',
      protected_withheld: true,
      area: null,
      changed: [],
    });
    expect(run.stdout).toBe('2 sent finds, 0 changed.\n');
  });

  test('is reported as withheld as a whole, and the last shown content is kept', async () => {
    await start('researcher', 2, '--deployed');
    await pull();
    await move(1, 'submit');
    const run = await home.do('pull');
    expect(run.stderr).toMatch(/not visible to this account in their current state: K-1/);
    expect((await pull()).finds[0]).toMatchObject({ standing: 'withheld', stav: 1 });
    expect((await home.pas('list')).stdout).toMatch(
      /K-1 +accepted +not shown \(last 1 registered\)/,
    );
  });

  test('is read again after the rights of the account changed, though no record changed', async () => {
    await start('researcher', 2, '--deployed');
    await move(1, 'submit');
    expect((await pull()).finds[0]).toMatchObject({ standing: 'withheld' });
    await service.control('PUT', '/accounts/researcher', { role: 'archivist' });
    expect((await pull()).finds[0]).toMatchObject({ standing: 'shown', stav: 2 });
  });

  test('is everything but archived records for an anonymous pull, which says why', async () => {
    await start('archaeologist', 2, '--deployed');
    await harvestAs('none');
    const run = await home.do('pull');
    expect(run.stderr).toMatch(/K-1.*K-2.*does not sign in for harvesting/s);
  });
});

describe('a training instance', () => {
  const initTraining = (...flags: string[]) => {
    const { base_url, schema_base } = service;
    const account = [...accountFlags(), ...WITHOUT_PAUSES];
    return home.init({ base_url, schema_base }, '--name', 'training', ...account, ...flags);
  };

  test('calls a record deleted that was deleted before the first pull, even the only one', async () => {
    await useService();
    home = await signedIn(service);
    await sendSeason(home, 1);
    const [sent] = await home.json('list');
    await service.control('POST', `/records/${sent?.ident_cely}/delete`);
    const run = await home.pas('pull');
    expect(run.stderr).toContain(`Deleted in the service: K-1 (${sent?.ident_cely}).`);
    expect(run.stderr).not.toContain('index may be');
    expect((await home.pas('list')).stdout).toMatch(/K-1 +accepted +deleted/);
  });

  test('without a harvesting address has nothing to pull from', async () => {
    await useService('--training');
    home = makeHome({ PAS_PASSWORD: 'archaeologist' });
    await initTraining();
    await expectEnded(home.pas('pull'), 12, /has no harvesting interface/);
  });

  test('with production’s harvesting address shows none of its finds, not even one with the same identifier', async () => {
    const production = await serveMock();
    await useService('--training');
    try {
      home = makeHome({ PAS_PASSWORD: 'archaeologist' });
      await initTraining('--oai-base', production.oai_base);
      await home.do('login');
      await importSeason(home, 3);
      await home.do('push', '--yes');
      // Production numbers its own finds in the same way: another account has just got the same
      // identifiers.
      const colleague = await signedIn(production, [], 'archivist');
      await sendSeason(colleague, 3);
      const listIdents = (of: Home) =>
        of.json('list').then((all) => all.map(({ ident_cely }) => ident_cely));
      expect(await listIdents(home)).toEqual(await listIdents(colleague));

      await expectEnded(
        home.pas('pull'),
        2,
        /shows none of the 3 finds.*training instance has no harvesting/s,
      );
      expect(await home.json('list')).toMatchObject([
        { at_service: null },
        { at_service: null },
        { at_service: null },
      ]);
      expect((await colleague.json<Pulled>('pull')).finds).toHaveLength(3);
    } finally {
      await production.stop();
    }
  });
});

test('a pull before anything was sent has nothing to do', async () => {
  await useService();
  home = await signedIn(service);
  expect(await pull()).toEqual({ from: null, finds: [] });
});
