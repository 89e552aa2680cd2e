import { describe, expect, test } from 'vitest';
import { AuthError, ConfigError, UnavailableError } from '../../../src/base/errors.ts';
import { resolveAccount, signIn } from '../../../src/flows/push/resolve-account.ts';
import { TransportError } from '../../../src/http/exchange.ts';
import { findKnownAccount, findKnownUsername } from '../../../src/outbox/bound-account.ts';
import { updateHeader } from '../../../src/outbox/open-outbox.ts';
import { EVA_SAID, JAN_SAID, serviceSaying } from '../../support/account-service.ts';
import { ADDRESS, tempOutbox, USERNAME } from '../../support/temp-outbox.ts';

function unboundOutbox() {
  const outbox = tempOutbox();
  updateHeader(outbox, { account: null });
  return outbox;
}

describe('the signed-in account', () => {
  test('is recognised, and its current data are stored', async () => {
    using outbox = tempOutbox();
    const promoted = { ...EVA_SAID, role: 'archivist' };
    const service = serviceSaying(promoted);
    expect(await resolveAccount(outbox, service)).toMatchObject(promoted);
    expect([findKnownAccount(outbox), findKnownUsername(outbox)]).toEqual([promoted, USERNAME]);
    expect(service.asked.map(({ method, url }) => `${method} ${url}`)).toEqual([`GET ${ADDRESS}/api/uzivatel-info/`]);
  });

  test.each([{}, { usesExternalToken: true }])(
    'is refused if the outbox belongs to another account, and nothing is stored: %j',
    async (token) => {
      using outbox = tempOutbox();
      const refused = resolveAccount(outbox, serviceSaying(JAN_SAID, token));
      await expect(refused).rejects.toThrow(ConfigError);
      await expect(refused).rejects.toThrow(/U-000001.*finds\.example\.org.*U-000002.*Nothing was sent/);
      await expect(refused).rejects.toMatchObject({ hint: expect.stringMatching(/pas login.*pas init/) });
      expect(findKnownAccount(outbox)?.identCely).toBe(EVA_SAID.identCely);
    },
  );

  test('may be any before anything was sent, so a wrong sign-in does no harm', async () => {
    using outbox = unboundOutbox();
    for (const account of [JAN_SAID, EVA_SAID]) {
      await resolveAccount(outbox, serviceSaying(account));
      expect(findKnownAccount(outbox)?.identCely).toBe(account.identCely);
    }
  });

  test('with a token from outside has a user name only if it has signed in with that before', async () => {
    using outbox = unboundOutbox();
    const known = () => [findKnownAccount(outbox)?.identCely, findKnownUsername(outbox)];
    await resolveAccount(outbox, serviceSaying(EVA_SAID, { usesExternalToken: true }));
    expect(known()).toEqual([EVA_SAID.identCely, USERNAME]);
    await resolveAccount(outbox, serviceSaying(JAN_SAID, { usesExternalToken: true }));
    expect(known()).toEqual([JAN_SAID.identCely, undefined]);
  });
});

describe('a service that does not identify the account', () => {
  const answer = (status: number, body = '') => ({ status, headers: {}, body: Buffer.from(body) });

  test.each([
    ['is closed', answer(503)],
    ['cannot be reached', new TransportError('connect', false, 'no route')],
    ['is asked too often', answer(429)],
    ['fails', answer(500)],
    ['is behind something that fails', answer(502, '<html>Bad Gateway</html>')],
  ])('because it %s is asked again later, with the queue kept', async (_name, reply) => {
    using outbox = tempOutbox();
    await expect(resolveAccount(outbox, serviceSaying(reply))).rejects.toThrow(UnavailableError);
  });
});

describe('an account with a password', () => {
  const signing = (reply: Parameters<typeof serviceSaying>[0], outbox = unboundOutbox()) => {
    const { asked, send } = serviceSaying(reply);
    const keptNames: string[] = [];
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
      (token) => keptNames.push(token),
    );
    return { outbox, asked, kept: keptNames, signedIn };
  };

  test('is known by the user name, and the token is stored once both work', async () => {
    const { outbox, asked, kept: keptNames, signedIn } = signing(JAN_SAID);
    expect(await signedIn).toEqual(JAN_SAID);
    expect(keptNames).toEqual(['0123456789abcdef0123456789abcdef01234567']);
    expect([findKnownUsername(outbox), findKnownAccount(outbox)?.identCely]).toEqual(['jan', JAN_SAID.identCely]);
    // A token is asked for once, and each request ends.
    expect(asked.map(({ url, answerTimeoutMs }) => [url.slice(ADDRESS.length), answerTimeoutMs])).toEqual([
      ['/api/token-auth/', 1234],
      ['/api/uzivatel-info/', 1234],
    ]);
    expect(asked[1]?.headers?.['authorization']).toContain('0123456789abcdef0123456789abcdef01234567');
  });

  test('that is refused stores no token', async () => {
    const { outbox, kept: keptNames, signedIn } = signing({ status: 403, headers: {}, body: Buffer.alloc(0) });
    await expect(signedIn).rejects.toThrow(AuthError);
    expect([keptNames, findKnownUsername(outbox)]).toEqual([[], USERNAME]);
  });
});
