import { describe, expect, test } from 'vitest';
import { AuthError, ConfigError, UnavailableError } from '../../../src/base/errors.ts';
import { identifyAccount, signIn } from '../../../src/flows/push/identify-account.ts';
import { NoAnswerError } from '../../../src/http/exchange.ts';
import { knownAccount, rememberAccount, usernameOf } from '../../../src/outbox/accounts.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { EVA_SAID, JAN_SAID, serviceSaying, userInfo } from '../../support/account-service.ts';
import { ACCOUNT_ID, ADDRESS, asSeenBy, tempOutbox, USERNAME } from '../../support/temp-outbox.ts';

const LENT = { tokenIsLent: true };

function rowOf(outbox: ServiceOutbox, identCely: string): unknown {
  return outbox.sql('select id from accounts where service_id = ? and ident_cely = ?').pluck().get(outbox.serviceId, identCely);
}

describe('the account that signs in with the user name of the profile', () => {
  test('is the one that it was, and what the service says of it now is kept', async () => {
    using outbox = tempOutbox();
    const promoted = { ...EVA_SAID, role: 'archivist' };
    const service = serviceSaying(promoted);
    const identified = await identifyAccount(outbox, service);
    expect(identified).toMatchObject({
      accountId: ACCOUNT_ID,
      account: promoted,
      outbox: { username: USERNAME, address: ADDRESS },
    });
    expect(knownAccount(outbox)).toEqual(promoted);
    expect(service.asked.map(({ method, url }) => `${method} ${url}`)).toEqual([`GET ${ADDRESS}/api/uzivatel-info/`]);
  });

  test('is kept under that name, also where the service knows it by another address', async () => {
    using outbox = tempOutbox();
    const jan = asSeenBy(outbox, { username: 'jan' });
    const { accountId, outbox: bound } = await identifyAccount(jan, serviceSaying(JAN_SAID));
    expect([bound.username, usernameOf(outbox, JAN_SAID.identCely)]).toEqual(['jan', 'jan']);
    expect(accountId).toBe(rowOf(outbox, JAN_SAID.identCely));
    expect(accountId).not.toBe(ACCOUNT_ID);
  });

  test('is refused where it is another than before: most likely another service answers', async () => {
    using outbox = tempOutbox();
    const refused = identifyAccount(outbox, serviceSaying(JAN_SAID));
    await expect(refused).rejects.toThrow(ConfigError);
    await expect(refused).rejects.toThrow(new RegExp(`${ADDRESS}.*${USERNAME}.*U-000002.*U-000001.*Nothing was sent`));
    await expect(refused).rejects.toMatchObject({ hint: expect.stringMatching(/base_url.*pas login/) });
    expect(knownAccount(outbox)).toMatchObject({ identCely: EVA_SAID.identCely });
    expect(rowOf(outbox, JAN_SAID.identCely)).toBeUndefined();
  });

  test('is the new one after signing in with that name anew', async () => {
    using outbox = tempOutbox();
    const anew = { ...JAN_SAID, email: USERNAME };
    rememberAccount(outbox, anew);
    const { accountId } = await identifyAccount(outbox, serviceSaying(anew));
    expect(accountId).toBe(rowOf(outbox, JAN_SAID.identCely));
    expect(usernameOf(outbox, EVA_SAID.identCely)).toBeUndefined();
  });

  test('has its own identity at each service', async () => {
    using outbox = tempOutbox();
    const elsewhere = asSeenBy(outbox, { address: 'https://training.example.org' });
    const { accountId } = await identifyAccount(elsewhere, serviceSaying(JAN_SAID));
    expect(accountId).toBe(rowOf(elsewhere, JAN_SAID.identCely));
    expect(knownAccount(outbox)?.identCely).toBe(EVA_SAID.identCely);
  });

  test('without a user name in the profile is known by the address that the service has of it', async () => {
    using outbox = tempOutbox();
    const nameless = asSeenBy(outbox, { username: '' });
    expect((await identifyAccount(nameless, serviceSaying(JAN_SAID))).outbox.username).toBe(JAN_SAID.email);
    // Another token the next time is no other account under one name.
    expect((await identifyAccount(nameless, serviceSaying(EVA_SAID))).accountId).toBe(ACCOUNT_ID);
  });
});

describe('a token from outside', () => {
  test('may be another account’s than the profile’s, which stays who it was', async () => {
    using outbox = tempOutbox();
    const { outbox: bound, accountId } = await identifyAccount(outbox, serviceSaying(JAN_SAID, LENT));
    expect([bound.username, accountId]).toEqual([JAN_SAID.email, rowOf(outbox, JAN_SAID.identCely)]);
    expect(knownAccount(outbox)?.identCely).toBe(EVA_SAID.identCely);
  });

  test('of an account that has signed in before goes on under the user name of that', async () => {
    using outbox = tempOutbox();
    await identifyAccount(asSeenBy(outbox, { username: 'jan' }), serviceSaying(JAN_SAID));
    expect((await identifyAccount(outbox, serviceSaying(JAN_SAID, LENT))).outbox.username).toBe('jan');
    expect((await identifyAccount(outbox, serviceSaying(EVA_SAID, LENT))).accountId).toBe(ACCOUNT_ID);
  });

  test('of an account that the service has no address of is an account without a user name', async () => {
    using outbox = tempOutbox();
    const robot = { ...JAN_SAID, email: '' };
    const { outbox: bound, accountId } = await identifyAccount(outbox, serviceSaying(robot, LENT));
    expect([bound.username, accountId]).toEqual(['', rowOf(outbox, robot.identCely)]);
    expect(usernameOf(outbox, robot.identCely)).toBeUndefined();
  });

  test('never takes the user name from the account that is known to sign in with it', async () => {
    using outbox = tempOutbox();
    const namesake = { ...JAN_SAID, email: USERNAME };
    await identifyAccount(outbox, serviceSaying(namesake, LENT)).catch((thrown: unknown) =>
      expect(thrown).toBeInstanceOf(ConfigError),
    );
    expect(usernameOf(outbox, EVA_SAID.identCely)).toBe(USERNAME);
  });
});

describe('a service that does not say who the account is', () => {
  const answer = (status: number, body = '') => ({ status, headers: {}, body: Buffer.from(body) });

  test.each([401, 403])('but refuses it (%s), is an account that may not go on', async (status) => {
    using outbox = tempOutbox();
    await expect(identifyAccount(outbox, serviceSaying(answer(status)))).rejects.toThrow(AuthError);
  });

  test.each([
    ['is closed', answer(503)],
    ['cannot be reached', new NoAnswerError('connect', false, 'no route')],
    ['is asked too often', answer(429)],
    ['fails', answer(500)],
    ['is behind something that fails', answer(502, '<html>Bad Gateway</html>')],
  ])('since it %s, is asked again later, with the queue kept', async (_name, said) => {
    using outbox = tempOutbox();
    await expect(identifyAccount(outbox, serviceSaying(said))).rejects.toThrow(UnavailableError);
  });

  test.each([
    ['a page', answer(200, '<html>Welcome</html>')],
    ['a record without an identifier', userInfo({ ...EVA_SAID, identCely: '' })],
  ])('but %s, is none', async (_name, said) => {
    using outbox = tempOutbox();
    await expect(identifyAccount(asSeenBy(outbox, { username: 'new' }), serviceSaying(said))).rejects.toMatchObject({
      hint: expect.stringContaining('base_url'),
    });
  });
});

describe('who signs in with a password', () => {
  const signing = (said: Parameters<typeof serviceSaying>[0]) => {
    const outbox = tempOutbox();
    const { asked, send } = serviceSaying(said);
    const kept: string[] = [];
    const signedIn = signIn(
      {
        ...{ baseUrl: ADDRESS, username: 'jan', password: 'secret', answerTimeoutMs: 1234 },
        send: async (request) => {
          if (!request.url.endsWith('/api/token-auth/')) return send(request);
          asked.push(request);
          return { status: 200, headers: {}, body: Buffer.from('{"token":"0123456789abcdef0123456789abcdef01234567"}') };
        },
      },
      async () => outbox,
      (token) => kept.push(token),
    );
    return { outbox, asked, kept, signedIn };
  };

  test('is known by the user name, and the token is kept once both work', async () => {
    const { outbox, asked, kept, signedIn } = signing(JAN_SAID);
    expect(await signedIn).toEqual(JAN_SAID);
    expect(kept).toEqual(['0123456789abcdef0123456789abcdef01234567']);
    expect([usernameOf(outbox, JAN_SAID.identCely), knownAccount(outbox)?.identCely]).toEqual(['jan', EVA_SAID.identCely]);
    // A token is asked for once, and each request ends.
    expect(asked.map(({ url, answerTimeoutMs }) => [url.slice(ADDRESS.length), answerTimeoutMs])).toEqual([
      ['/api/token-auth/', 1234],
      ['/api/uzivatel-info/', 1234],
    ]);
    expect(asked[1]?.headers?.['authorization']).toContain('0123456789abcdef0123456789abcdef01234567');
  });

  test('and is nobody keeps no token', async () => {
    const { outbox, kept, signedIn } = signing({ status: 403, headers: {}, body: Buffer.alloc(0) });
    await expect(signedIn).rejects.toThrow(AuthError);
    expect([kept, usernameOf(outbox, JAN_SAID.identCely)]).toEqual([[], undefined]);
  });
});
