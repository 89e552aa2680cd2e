import type { Home } from '../support/run-pas.ts';
import type { Random } from './random.ts';

/** Profiles of the one service that send from one home, each with an account of its own. */
export const SENDERS = ['first', 'second'] as const;
export type Sender = (typeof SENDERS)[number];

/** The service's identifiers of their accounts. */
export const ACCOUNT_OF: Readonly<Record<Sender, string>> = { first: 'U-000408', second: 'U-000102' };

/** What the first is called is the home's default profile. */
export function homeOf(home: Home, sender: Sender): Home {
  return sender === 'first' ? home : home.with({ PAS_PROFILE: 'second', PAS_PASSWORD: 'researcher' });
}

/** Who imports a find in a round of both; a few are in the tables of both. */
export function pickSenders(dice: Random): readonly Sender[] {
  return dice.chance(0.2) ? SENDERS : [dice.pick(SENDERS)];
}
