import { beforeEach, describe, expect, test } from 'vitest';
import { fetchToken, setNumber } from '../support/contract-requests.ts';
import { eventually } from '../support/eventually.ts';
import { expectDetail, useMock } from './contract-import.ts';

const { mock, token } = await useMock();

const FIND = 'C-202400101-N00007';
const set = (value: string, ident = FIND) =>
  setNumber(mock, ident, `?evidencni_cislo=${value}`, token());
const lock = (ms: number) => mock.control('POST', `/records/${FIND}/lock`, { ms });
/**
 * A process that meets the lock waits until it is released, however long this machine takes for it.
 */
const waitLong = () =>
  mock.control('PUT', '/settings', {
    record_lock_params: { retry_delay_ms: 20, max_retries: 10_000 },
  });
const lastRequest = async () =>
  ((await mock.control('GET', '/journal')).value as { status: number | null }[]).at(-1);

beforeEach(async () => {
  await mock.settings({
    record_lock_params: { retry_delay_ms: 20, max_retries: 5 },
  });
});

describe('Record lock (A-LOCK-1 to A-LOCK-6)', () => {
  test('the deployed numbers are the defaults: ten tries half a second apart, five minutes of life', async () => {
    await mock.reset();
    expect((await mock.control('GET', '/settings')).value).toMatchObject({
      record_lock_params: { retry_delay_ms: 500, max_retries: 10 },
      record_lock_ttl_ms: 300_000,
    });
  });

  test('a held lock answers 429 with a detail, without Retry-After, after the server has waited', async () => {
    await lock(60_000);
    const startedMs = performance.now();
    const answer = await set('A1');
    expectDetail(answer, 429);
    expect(answer.headers.get('retry-after')).toBeNull();
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(90);
  });

  test('the wording differs from that of throttling', async () => {
    await lock(60_000);
    const locked = (await set('A1')).json?.['detail'];
    await mock.settings({
      min_request_intervals: { user_ms: 60_000, ip_ms: 0 },
    });
    await set('A1');
    expect((await set('A1')).json?.['detail']).not.toBe(locked);
  });

  test('a lock that is released while the server waits lets the request through', async () => {
    await waitLong();
    await lock(60_000);
    const answer = set('A1');
    await eventually(lastRequest).toMatchObject({ method: 'PATCH', status: null });
    await lock(0);
    expect((await answer).status).toBe(200);
  });

  test('expires by itself on the mock’s clock', async () => {
    await lock(300_000);
    await mock.clock({ advance_ms: 300_000 });
    const signedInAgain = await fetchToken(mock, 'archaeologist');
    expect((await setNumber(mock, FIND, '?evidencni_cislo=A1', signedInAgain)).status).toBe(200);
  });

  test('other records are not affected', async () => {
    await lock(60_000);
    expect((await set('A1', 'C-202400101-N00006')).status).toBe(200);
  });

  test('a request refused by an earlier check never reaches the lock', async () => {
    await lock(60_000);
    expect((await set('')).status).toBe(422);
    expect((await setNumber(mock, FIND, '', token())).status).toBe(400);
  });

  test('two requests for one record run one after the other', async () => {
    await waitLong();
    await mock.faults({ endpoint: 'number', fault: 'slow', ms: 60, at: 'save' });
    const answers = await Promise.all([set('A1'), set('A2')]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
  });

  test('the record is read before the lock: the same value sent twice at once can succeed twice', async () => {
    await waitLong();
    await mock.faults({
      endpoint: 'number',
      fault: 'slow',
      ms: 1000,
      at: 'save',
      when: { nth: 1 },
    });
    const answers = await Promise.all([set('A1'), set('A1')]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
  });

  test('a refused or failed operation releases the lock', async () => {
    await mock.faults({ endpoint: 'number', fault: '500-before-save', when: { nth: 1 } });
    expect((await set('A1')).status).toBe(500);
    expect((await set('A1')).status).toBe(200);
  });

  test('the fault "lock" holds a lock', async () => {
    await mock.faults({ endpoint: 'number', fault: 'lock', when: { ident: FIND }, times: 1 });
    const answer = await set('A1');
    expectDetail(answer, 429);
    expect(answer.headers.get('retry-after')).toBeNull();
    expect((await set('A1')).status).toBe(200);
  });
});
