import { tokenOf } from '../support/contract-requests.ts';
import type { Home, Service } from '../support/run-pas.ts';
import type { Random } from './random.ts';

/** Accounts of the one service that send from one home, each with a profile of its own. */
export const SENDERS = ['first', 'second'] as const;
export type Sender = (typeof SENDERS)[number];

/** The service's identifiers of their accounts. */
export const ACCOUNT_OF: Readonly<Record<Sender, string>> = { first: 'U-000408', second: 'U-000102' };
const USER_OF: Readonly<Record<Sender, string>> = { first: 'archaeologist', second: 'researcher' };

/** What the first is called is the home's default profile. */
export function homeOf(home: Home, sender: Sender): Home {
  return sender === 'first' ? home : home.with({ PAS_PROFILE: 'second', PAS_PASSWORD: 'researcher' });
}

/** By a profile of its own, or in the place of the default profile's account: by user name and password, or by a token. */
export const SIGNED_IN_BY = ['profile', 'profile', 'environment', 'token'] as const;

export async function signedInBy(
  home: Home,
  sender: Sender,
  how: (typeof SIGNED_IN_BY)[number],
  service: Service,
): Promise<Home> {
  const user = USER_OF[sender];
  switch (how) {
    case 'profile':
      return homeOf(home, sender);
    case 'environment':
      return home.with({ PAS_USERNAME: user, PAS_PASSWORD: user });
    case 'token':
      return home.with({ PAS_TOKEN: await tokenOf({ url: service.base_url }, user) });
  }
}

/** Who sends a find in a round of both; a few are imported by both, and belong to whoever was first. */
export function pickSenders(dice: Random): readonly Sender[] {
  return dice.chance(0.2) ? SENDERS : [dice.pick(SENDERS)];
}
