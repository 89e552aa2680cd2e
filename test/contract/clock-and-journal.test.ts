import { describe, expect, test } from 'vitest';
import { smallestFind } from '../support/contract-find.ts';
import { fetchToken, setNumber } from '../support/contract-requests.ts';
import { useMock } from './contract-import.ts';

const { mock, control, record, send, token } = await useMock();

describe('Clock', () => {
  test('can be advanced, set and stopped; the Date header and datestamps follow', async () => {
    await control('POST', '/clock', { set: '2031-02-03T04:05:06.789Z', frozen: true });
    expect((await control('GET', '/clock')).value).toMatchObject({
      now: '2031-02-03T04:05:06.789Z',
      frozen: true,
    });
    await control('POST', '/clock', { advance_ms: 1000 });
    const renewed = await fetchToken(mock, 'archaeologist');
    const answer = await send(smallestFind(), { token: renewed });
    expect(answer.headers.get('date')).toBe('Mon, 03 Feb 2031 04:05:07 GMT');
    expect((await record(answer.headers.get('x-record-id') ?? '')).datestamp).toBe(
      '2031-02-03T04:05:07.789Z',
    );
  });

  test('gives two changes in one moment different datestamps', async () => {
    await control('POST', '/clock', { frozen: true });
    const first = (await record('HES-000253')).datestamp;
    await control('POST', '/records', {
      ident: 'HES-000253',
      changes: { zkratka: { '@lang': 'cs', '#': 'pal' } },
    });
    const second = (await record('HES-000253')).datestamp;
    await control('POST', '/records', { ident: 'HES-000253', changes: { zkratka: null } });
    const third = (await record('HES-000253')).datestamp;
    expect([second > first, third > second]).toEqual([true, true]);
  });

  test.each([
    [{}],
    [{ set: 'tomorrow' }],
    [{ advance_ms: 'x' }],
    [{ freeze: true }],
    [{ set: 1e300 }],
    [{ advance_ms: -1e14 }],
  ])('%j is refused', async (command) => {
    expect((await control('POST', '/clock', command)).status).toBe(400);
  });
});

describe('Journal', () => {
  type Entry = {
    method: string;
    path: string;
    user: string | null;
    status: number;
    gap_ms: number | null;
    user_gap_ms: number | null;
    address_gap_ms: number | null;
    at_ms: number;
  };
  const journal = async () => (await control('GET', '/journal')).value as Entry[];

  test('holds every request with user, status and the gaps since the last write of the same user and address', async () => {
    await control('DELETE', '/journal');
    await control('POST', '/clock', { frozen: true });
    const archivist = await fetchToken(mock, 'archivist');
    const knock = (as: string) => setNumber(mock, 'X', '', as);
    await knock(token());
    await control('POST', '/clock', { advance_ms: 120.5 });
    await knock(archivist);
    await control('POST', '/clock', { advance_ms: 30 });
    await knock(token());
    const [login, first, second, third] = await journal();
    expect(login).toMatchObject({
      method: 'POST',
      path: '/api/token-auth/',
      user: 'archivist',
      status: 200,
      gap_ms: null,
    });
    expect(first).toMatchObject({
      method: 'PATCH',
      path: '/api/pas/nalez/X/evidencni-cislo',
      user: 'archaeologist',
      status: 400,
      gap_ms: null,
    });
    expect([second?.user_gap_ms, second?.address_gap_ms]).toEqual([null, expect.closeTo(120.5, 3)]);
    expect([third?.user_gap_ms, third?.address_gap_ms, third?.gap_ms]).toEqual([
      expect.closeTo(150.5, 3),
      expect.closeTo(30, 3),
      expect.closeTo(30, 3),
    ]);
  });

  test('holds refused and unanswered requests too, but none of the control interface', async () => {
    await control('DELETE', '/journal');
    await control('PUT', '/faults', [{ endpoint: 'number', fault: 'reset-before-save' }]);
    await setNumber(mock, 'C-202400101-N00007', '?evidencni_cislo=Z', token()).catch(() => {});
    await fetch(`${mock.url}/nowhere`);
    expect((await journal()).map((entry) => entry.status)).toEqual([0, 404]);
  });
});
