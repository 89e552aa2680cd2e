import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { AuthError, type PasError } from '../../../src/base/errors.ts';
import {
  findKnownAccount,
  storeKnownAccount,
  updateHeader,
} from '../../../src/outbox/open-outbox.ts';

import {
  fetchAccountOfOutbox,
  type ProfileUser,
  type Signer,
  signIn,
} from '../../../src/push/account.ts';
import type { Account } from '../../../src/service/session.ts';
import { ADDRESS, EVA, tempOutbox, USERNAME } from '../../support/temp-outbox.ts';
import { ANYONE, JAN_SAID, serviceSaying } from './account-service.ts';

function unboundOutbox() {
  const outbox = tempOutbox();
  updateHeader(outbox, { account: null });
  return outbox;
}

describe('the signed-in account', () => {
  test('may be any before anything was sent, so a wrong sign-in does no harm', async () => {
    using outbox = unboundOutbox();
    for (const account of [JAN_SAID, EVA]) {
      await fetchAccountOfOutbox(outbox, serviceSaying(account));
      expect(findKnownAccount(outbox)?.identCely).toBe(account.identCely);
    }
  });

  test('with a token from outside has a user name only if it has signed in with that before', async () => {
    using outbox = unboundOutbox();
    const known = () => {
      const { identCely, username } = findKnownAccount(outbox) ?? {};
      return [identCely, username];
    };
    await fetchAccountOfOutbox(outbox, serviceSaying(EVA, { usesExternalToken: true }));
    expect(known()).toEqual([EVA.identCely, USERNAME]);
    await fetchAccountOfOutbox(outbox, serviceSaying(JAN_SAID, { usesExternalToken: true }));
    expect(known()).toEqual([JAN_SAID.identCely, '']);
  });
});

/** The profile `dig` of a user. */
const profileOf = (username: string | undefined): ProfileUser => ({
  name: 'dig',
  username,
});

describe('an account that is not the one of the outbox', () => {
  const JAN_EMAIL = 'jan@example.org';
  const LOGIN = 'pas login';
  const separate = (user: string) =>
    `If ${user} is to send from an outbox of its own, make a profile for it: pas init ${ADDRESS} --username ${user} --name NAME`;
  const signIn = `To send as U-000001, sign in with that account, without PAS_TOKEN, PAS_USERNAME and PAS_PASSWORD: ${LOGIN}.`;
  test.each<[string, Partial<Signer>, string, Account?]>([
    [
      'with a token from outside',
      { usesExternalToken: true, profile: profileOf(USERNAME) },
      `${signIn} ${separate(JAN_EMAIL)}`,
    ],
    [
      'with a token of an account without an address',
      { usesExternalToken: true, profile: profileOf(USERNAME) },
      `${signIn} ${separate('U-000002')}`,
      { ...JAN_SAID, email: '' },
    ],
    [
      'with the user of a variable',
      { username: 'jan', profile: profileOf(USERNAME) },
      `${signIn} ${separate('jan')}`,
    ],
    [
      'with the user that the profile got since',
      { username: 'jan', profile: profileOf('jan') },
      `To send as U-000001, set that user in the profile: pas profile set --profile dig username=${USERNAME}. ${separate('jan')}`,
    ],
    ['with a wrong password', { profile: profileOf(USERNAME) }, `${signIn} ${separate(USERNAME)}`],
    [
      'for a profile without a user',
      { username: 'jan', profile: profileOf(undefined) },
      `${signIn} ${separate('jan')}`,
    ],
    [
      'without any user name',
      { username: undefined, profile: profileOf(undefined) },
      `${signIn} ${separate(JAN_EMAIL)}`,
    ],
  ])('%s is refused with the ways out', async (_, signer, hint, said = JAN_SAID) => {
    using outbox = tempOutbox();
    const refused = fetchAccountOfOutbox(outbox, { ...serviceSaying(said), ...signer });
    await expect(refused).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringContaining('U-000002'),
    });
    expect(`${((await refused.catch((thrown: PasError) => thrown)) as PasError).hint}`).toBe(hint);
  });

  test('is named by the user of the profile where no user name is known', async () => {
    using outbox = tempOutbox();
    storeKnownAccount(outbox, { ...EVA, username: '' });
    const refused = fetchAccountOfOutbox(outbox, {
      ...serviceSaying(JAN_SAID),
      username: 'jan',
      profile: profileOf('jan'),
    });
    await expect(refused).rejects.toMatchObject({
      message: expect.stringContaining('Nothing was sent'),
    });
    expect(`${((await refused.catch((thrown: PasError) => thrown)) as PasError).hint}`).toBe(
      `${signIn} ${separate('jan')}`,
    );
  });
});

describe('before anything was sent, the account of a profile', () => {
  const outside = { usesExternalToken: true };
  test.each<[string, Partial<Signer>, boolean]>([
    ['has the user name of the profile', { profile: profileOf(' Eva@example.org') }, true],
    [
      'has its e-mail address as user name',
      { ...outside, profile: profileOf('jan@example.org') },
      true,
    ],
    ['has the part before the @ as user name', { ...outside, profile: profileOf('jan') }, true],
    ['is any where the profile has no user', { ...outside, profile: profileOf(undefined) }, true],
    [
      'is not another one than that of its user name',
      { ...outside, profile: profileOf(USERNAME) },
      false,
    ],
    ['is not one of another user name', { username: 'jan', profile: profileOf('petr') }, false],
    ['is not unknown', { username: undefined, profile: profileOf('petr') }, false],
  ])('%s', async (_, signer, isTaken) => {
    using outbox = unboundOutbox();
    const resolved = fetchAccountOfOutbox(outbox, { ...serviceSaying(JAN_SAID), ...signer }).catch(
      (thrown: PasError) => thrown,
    );
    const { profile } = signer;
    if (isTaken) expect(await resolved).toMatchObject({ identCely: 'U-000002' });
    else
      expect(await resolved).toMatchObject({
        message: `Profile dig is for the user ${profile?.username}, but ${ADDRESS} says that you are signed in as U-000002. Nothing was sent.`,
      });
    expect(findKnownAccount(outbox)?.identCely).toBe(isTaken ? 'U-000002' : EVA.identCely);
  });
});

describe('an account with a password', () => {
  const signing = (reply: Parameters<typeof serviceSaying>[0], outbox = unboundOutbox()) => {
    const { asked, send } = serviceSaying(reply);
    const keptNames: string[] = [];
    const signedIn = signIn(
      {
        baseUrl: ADDRESS,
        username: 'jan',
        password: 'secret',
        answerTimeoutMs: 1234,
        usesExternalToken: false,
        profile: ANYONE,
        clock: systemClock,
        send: async (request) => {
          if (!request.url.endsWith('/api/token-auth/')) return send(request);
          asked.push(request);
          return {
            status: 200,
            headers: {},
            body: Buffer.from('{"token":"0123456789abcdef0123456789abcdef01234567"}'),
          };
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
    expect(findKnownAccount(outbox)).toMatchObject({
      username: 'jan',
      identCely: JAN_SAID.identCely,
    });
    // A token is asked for once, and each request ends.
    expect(
      asked.map(({ url, answerTimeoutMs }) => [url.slice(ADDRESS.length), answerTimeoutMs]),
    ).toEqual([
      ['/api/token-auth/', 1234],
      ['/api/uzivatel-info/', 1234],
    ]);
    expect(asked[1]?.headers?.['authorization']).toContain(
      '0123456789abcdef0123456789abcdef01234567',
    );
  });

  test('that is refused stores no token', async () => {
    const {
      outbox,
      kept: keptNames,
      signedIn,
    } = signing({ status: 403, headers: {}, body: Buffer.alloc(0) });
    await expect(signedIn).rejects.toThrow(AuthError);
    expect([keptNames, findKnownAccount(outbox)?.username]).toEqual([[], USERNAME]);
  });
});
