import { describe, expect, test } from 'vitest';
import type { PasError } from '../../../src/base/errors.ts';
import { fetchAccount } from '../../../src/push/account.ts';
import {
  type HttpRequest,
  type HttpResponse,
  WEB_PAGE_ADVICE,
} from '../../../src/service/http/exchange.ts';

const BASE = 'https://finds.example.org';

const answerWith = (status: number, body = ''): HttpResponse => ({
  status,
  headers: {},
  body: Buffer.from(body),
});
const user = (inner: string) =>
  answerWith(
    200,
    `<?xml version="1.0"?><u:svc xmlns:u="urn:svc"><u:uzivatel>${inner}</u:uzivatel></u:svc>`,
  );

/** Asks a service that answers one after another with these. */
async function ask(...answers: readonly HttpResponse[]) {
  const requests: HttpRequest[] = [];
  const tokens: string[] = [];
  const account = await fetchAccount({
    baseUrl: BASE,
    session: {
      token: async () => 'old',
      renew: async (refused: string) => {
        tokens.push(refused);
        return 'new';
      },
    },
    send: async (request) => {
      requests.push(request);
      return answers[requests.length - 1] ?? answerWith(500);
    },
  });
  return {
    account,
    asked: requests.map(({ headers }) => headers?.['authorization']),
    tokens,
    first: requests[0],
  };
}

test('an account is read from the answer, without surrounding blanks', async () => {
  const { account, asked, first } = await ask(
    user(`<u:ident_cely>U-000408</u:ident_cely><u:jmeno>Eva</u:jmeno><u:prijmeni>Nováková</u:prijmeni><u:email>eva@example.org</u:email>
      <u:organizace>Museum</u:organizace><u:skupina>Archeolog</u:skupina>`),
  );
  expect(account).toMatchObject({
    identCely: 'U-000408',
    name: 'Eva Nováková',
    email: 'eva@example.org',
    organisation: 'Museum',
  });
  expect(account.role).toBe('archaeologist');
  expect(asked).toHaveLength(1);
  expect(first?.signal).toBeUndefined();
  const { account: bare } = await ask(
    user('<u:ident_cely>U-1</u:ident_cely><u:prijmeni>Nováková</u:prijmeni>'),
  );
  expect(bare).toMatchObject({ name: 'Nováková', email: '', organisation: '' });
});

test('an expired token is renewed once', async () => {
  const { asked, tokens } = await ask(answerWith(401), user('<u:ident_cely>U-1</u:ident_cely>'));
  expect([new Set(asked).size, tokens]).toEqual([2, ['old']]);
  await expect(
    ask(answerWith(401), answerWith(401), user('<u:ident_cely>U-1</u:ident_cely>')),
  ).rejects.toThrow('refuses this account');
  // Forbidden requests are forbidden with each token.
  await expect(ask(answerWith(403), user('<u:ident_cely>U-1</u:ident_cely>'))).rejects.toThrow(
    'refuses this account',
  );
});

describe('an invalid account answer', () => {
  const SIGN_IN = 'Run `pas login`, or ask the operator of the service.';
  const ADDRESS = 'Check base_url in the profile.';
  const answered = (what: string): string =>
    `${BASE} gave an unusable answer when pas asked for the account: ${what}.`;
  test.each([
    ['a refusal', answerWith(403), `${BASE} refuses this account.`, SIGN_IN],
    ['another status', answerWith(404, 'no'), answered('status 404'), ADDRESS],
    ['a success without content', answerWith(204), answered('status 204'), ADDRESS],
    [
      'a redirect, which may be the sign-in of a network',
      { ...answerWith(301, '<html>'), headers: { location: 'https://new.example/api' } },
      `${BASE} redirects to https://new.example/api.`,
      String(WEB_PAGE_ADVICE),
    ],
    ['no XML', answerWith(200, 'welcome'), answered('not XML'), ADDRESS],
    ['no user', answerWith(200, '<svc/>'), answered('no user in it'), ADDRESS],
    [
      'a user without an identifier',
      user('<u:jmeno>Eva</u:jmeno>'),
      answered('no user in it'),
      ADDRESS,
    ],
    [
      'a user with an empty one',
      user('<u:ident_cely> </u:ident_cely>'),
      answered('no user in it'),
      ADDRESS,
    ],
  ])('is %s', async (_, answer, message, hint) => {
    const failure = await ask(answer).catch((thrown: unknown) => thrown as PasError);
    if (!(failure instanceof Error)) throw new Error('it was read');
    expect([failure.message, String(failure.hint)]).toEqual([message, hint]);
  });
});
