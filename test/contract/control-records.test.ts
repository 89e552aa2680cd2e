import { describe, expect, test } from 'vitest';
import { findLines, smallestFind } from '../support/contract-find.ts';
import { postFile } from '../support/contract-requests.ts';
import { useMock } from './contract-import.ts';
import { jpeg } from './contract-photographs.ts';

const { mock, control, record, send, token } = await useMock();

const getError = (value: unknown) => (value as { error: string }).error;

describe('Records', () => {
  test('a change moves the datestamp and keeps the order of the schema', async () => {
    const before = await record('HES-000253');
    const { status } = await control('POST', '/records', {
      ident: 'HES-000253',
      changes: { popis: { '@lang': 'cs', '#': 'nejstarší' } },
    });
    const after = await record('HES-000253');
    expect(status).toBe(200);
    expect(Object.keys(after.body).indexOf('popis')).toBe(
      Object.keys(after.body).indexOf('heslo_en') + 1,
    );
    expect(after.datestamp > before.datestamp).toBe(true);
  });

  test('a new record can be created and used at once', async () => {
    const text = (value: string) => ({ '@lang': 'cs', '#': value });
    const body = {
      ident_cely: 'HES-777777',
      nazev_heslare: text('obdobi'),
      heslo: text('novověk'),
      heslo_en: { '@lang': 'en', '#': 'modern' },
    };
    expect((await control('POST', '/records', { entity: 'heslo', body })).value).toMatchObject({
      set: 'heslo:obdobi',
    });
    const obdobi = '<svc:obdobi id="HES-777777" xml:lang="cs">x</svc:obdobi>';
    expect((await send(findLines(2, { obdobi }))).text).toContain('id="HES-777777">novověk<');
  });

  test('a deleted record is gone for writers but keeps its header', async () => {
    await control('POST', '/records/HES-000253/delete');
    expect((await send(findLines(2))).status).toBe(422);
    expect((await record('HES-000253')).deleted).toBe(true);
    expect((await control('POST', '/records/HES-000253/delete')).status).toBe(404);
  });

  test.each([
    [{ ident: 'HES-000253', changes: { barva: 'modrá' } }, 422, /barva/],
    [{ ident: 'HES-000253', changes: { heslo: null } }, 422, /heslo/],
    [{ ident: 'HES-000253', changes: { ident_cely: 'HES-1' } }, 400, /identifier/],
    [{ ident: 'HES-000000', changes: {} }, 404, /HES-000000/],
    [{ entity: 'heslo' }, 400, /entity and body/],
    [{ entity: 'hrad', body: {} }, 400, /entity/],
    [{ entity: 'heslo', body: { heslo: 5 } }, 400, /body\.heslo/],
  ])('%j is refused', async (change, expected, reason) => {
    const { status, value } = await control('POST', '/records', change);
    expect([status, getError(value)]).toEqual([expected, expect.stringMatching(reason)]);
  });
});

describe('Moves outside the write interface (A-STATE-6, A-STATE-8, A-HISTORY-3)', () => {
  const move = (ident: string, name: string, user?: string) =>
    control('POST', `/records/${ident}/move`, {
      move: name,
      user,
    });
  const upload = (ident: string) =>
    postFile(
      mock,
      `/api/pas/nalez/${ident}/upload-foto`,
      { name: 'file', fileName: 'a.jpg', bytes: jpeg(undefined) },
      { token: token() },
    );

  test('a find passes through all states to the archive and back; it needs a photograph to be archived', async () => {
    const ident =
      (await send(findLines(3).replace('<svc:stav>3<', '<svc:stav>1<'))).headers.get(
        'x-record-id',
      ) ?? '';
    for (const name of ['submit', 'confirm']) expect((await move(ident, name)).status).toBe(200);
    const early = await move(ident, 'archive');
    expect([early.status, getError(early.value)]).toEqual([
      409,
      expect.stringMatching(/photograph/),
    ]);
    await upload(ident);
    expect((await move(ident, 'archive')).value).toMatchObject({ stav: 4 });
    const archived = await record(ident);
    expect(archived.body['igsn']).toMatch(new RegExp(`/${ident}$`));
    expect(
      (archived.body['historie'] as { typ_zmeny: string }[]).map((entry) => entry.typ_zmeny),
    ).toEqual(['SN01', 'SN12', 'SN23', 'SN34']);
    expect((await move(ident, 'return')).value).toMatchObject({ stav: 3 });
  });

  test('an incomplete find cannot be submitted or confirmed', async () => {
    const bare = (await send(smallestFind())).headers.get('x-record-id') ?? '';
    expect(getError((await move(bare, 'submit')).value)).toMatch(/obdobi/);
    const submitted =
      (await send(findLines(2, { predano: undefined, evidencni_cislo: undefined }))).headers.get(
        'x-record-id',
      ) ?? '';
    expect(getError((await move(submitted, 'confirm')).value)).toMatch(/evidencni_cislo.*predano/);
  });

  test.each([
    ['C-202400101-N00003', 'confirm', 'researcher'],
    ['M-202400202-N00002', 'archive', 'archaeologist'],
    ['M-202400202-N00002', 'return', 'archaeologist'],
  ])('%s: %s by the %s is refused', async (ident, name, user) => {
    expect((await move(ident, name, user)).status).toBe(403);
  });

  test('invalid moves are refused with the reason', async () => {
    expect((await move('C-202400101-N00006', 'submit')).status).toBe(409);
    expect((await move('C-202400101-N00999', 'submit')).status).toBe(404);
    expect((await move('C-202400101-N00001', 'jump')).status).toBe(400);
    expect((await move('C-202400101-N00001', 'submit', 'nobody')).status).toBe(404);
  });
});
