import { describe, expect, test } from 'vitest';
import { elementText, fetchToken, rawAnswer, setNumber } from '../support/contract-requests.ts';
import { expectDetail, useMock } from './contract-import.ts';

const { mock, record, token } = await useMock();

const MINE = 'C-202400101-N00007';
const ARCHIVED = 'C-202400101-N00006';
const set = (ident: string, value: string, as = token()) =>
  setNumber(mock, ident, `?evidencni_cislo=${encodeURIComponent(value)}`, as);
const histories = (xml: string) =>
  [...xml.matchAll(/<svc:historie>([\s\S]*?)<\/svc:historie>/g)].map((match) => match[1] ?? '');

describe('PATCH evidencni-cislo: refusals (A-NUMBER-8 to A-NUMBER-16)', () => {
  test('400: a body is not read', async () => {
    const response = await fetch(`${mock.url}/api/pas/nalez/${MINE}/evidencni-cislo`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${token()}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'evidencni_cislo=A1',
    });
    expectDetail(await rawAnswer(response), 400);
  });

  test('404: the find does not exist; length and emptiness are checked before', async () => {
    expectDetail(await set('C-202400101-N00999', 'A 1'), 404);
    expectDetail(await set('C-202400101', 'A 1'), 404);
    expectDetail(await set('C-202400101-N00009', 'A 1'), 404);
    expectDetail(await set('C-202400101-N00999', '\t\n'), 422);
  });

  test('403: an Archaeologist without part in the record', async () => {
    expectDetail(await set(MINE, 'A 1', await fetchToken(mock, 'outsider')), 403);
    expectDetail(await set('M-202300316-N00003', 'A 1'), 403);
  });

  test('500: nothing changes when saving fails, and everything is saved when only the answer fails', async () => {
    await mock.faults({ endpoint: 'number', fault: '500-before-save', times: 1 });
    expectDetail(await set(MINE, 'A 1'), 500);
    await mock.faults({ endpoint: 'number', fault: '500-after-save', times: 1 });
    expectDetail(await set(MINE, 'A 1'), 500);
    expectDetail(await set(MINE, 'A 1'), 422);
  });

  test.each(['A\u00001', 'A\u00071', 'A\u001b1', 'A\ufffe1', 'A\uffff1'])(
    '500: a record cannot contain %j, and none is changed',
    async (value) => {
      const before = (await record(MINE)).body;
      expectDetail(await set(MINE, value), 500);
      expect((await record(MINE)).body).toEqual(before);
    },
  );
});

describe('PATCH evidencni-cislo: success (A-NUMBER-2, A-NUMBER-3, A-NUMBER-7, A-NUMBER-17 to A-NUMBER-19)', () => {
  test('when repeated, the last value counts; plus signs and Czech letters are decoded', async () => {
    const answer = await setNumber(
      mock,
      MINE,
      '?evidencni_cislo=x&evidencni_cislo=P%C5%99+1%2B2',
      token(),
    );
    expect(elementText(answer.text, 'evidencni_cislo')).toBe('Př 1+2');
  });

  test('the history has the old and the new number', async () => {
    await set(MINE, 'A 1');
    const latest = histories((await set(MINE, 'A 2')).text);
    expect(latest.slice(-2).map((entry) => elementText(entry, 'typ_zmeny'))).toEqual([
      'SN-UPD',
      'SN-UPD',
    ]);
    expect(latest.slice(-2).map((entry) => elementText(entry, 'poznamka')?.split(': ')[1])).toEqual(
      ['None -&gt; A 1', 'A 1 -&gt; A 2'],
    );
  });

  test('an archived find stays archived and is archived again', async () => {
    const answer = await set(ARCHIVED, 'A 1');
    expect(elementText(answer.text, 'stav')).toBe('4');
    const entries = histories(answer.text.split('<svc:soubor>')[0] ?? '').slice(-2);
    expect(entries.map((entry) => elementText(entry, 'typ_zmeny'))).toEqual(['SN-UPD', 'SN34']);
    expect(elementText(entries[1] ?? '', 'poznamka')).toBeUndefined();
  });

  test.each([
    ['the creator', 'archaeologist', MINE],
    ['a colleague of the project’s organisation', 'colleague', MINE],
    ['an Archivist', 'archivist', 'M-202300316-N00003'],
    ['an Administrator', 'admin', 'M-202300316-N00003'],
  ])('%s may', async (_, username, ident) => {
    expect((await set(ident, 'A 1', await fetchToken(mock, username))).status).toBe(200);
  });

  test('an Archaeologist of the receiving organisation may', async () => {
    await mock.control('POST', '/records', {
      ident: 'M-202300316-N00003',
      changes: { predano_organizace: { '@lang': 'cs', '@id': 'ORG-000091', '#': 'x' } },
    });
    expect((await set('M-202300316-N00003', 'A 1')).status).toBe(200);
  });
});
