import type { Message } from '../base/message.ts';
import type { ElementName, FindElements } from './fields.ts';
import type { LookupArea, LookupProject, LookupTerm } from './lookup.ts';

/** What is known beside the find itself. What is absent is not checked. */
export type RuleContext = {
  /** Letter (A–E) or name, English or Czech, of the account's role. */
  readonly role?: string;
  /** Name of the account's organisation, as the service writes it. */
  readonly organisation?: string;
  readonly lookupTerm?: LookupTerm;
  readonly lookupArea?: LookupArea;
  readonly lookupProject?: LookupProject;
  /** YYYY-MM-DD where the user is. */
  readonly today: string;
};

/** What a rule has against a find: what is wrong, and then what to do. */
export type Finding = {
  readonly element?: ElementName;
  readonly message: Message;
  readonly warning?: true;
  /** Named where it says something else than the rule that found it. */
  readonly rule?: string;
};

export type Rule = {
  /** Stable, kebab-case; the `rule` of the issues. */
  readonly name: string;
  readonly judge: (elements: FindElements, context: RuleContext) => readonly Finding[];
};

/** The rule of the warning that an identifier could not be checked, because its set was never harvested. */
export const NOT_HARVESTED = 'not-harvested';

const ROLES = {
  researcher: ['b', 'researcher', 'badatel'],
  archaeologist: ['c', 'archaeologist', 'archeolog'],
  archivist: ['d', 'archivist', 'archivář', 'e', 'administrator', 'administrátor'],
} as const;

/** What a role may do to finds; administrators may do what archivists may. Undefined where the role is not known. */
export function rankOf({ role = '' }: RuleContext): keyof typeof ROLES | undefined {
  const name = role.trim().toLowerCase();
  return (Object.keys(ROLES) as (keyof typeof ROLES)[]).find((rank) => ROLES[rank].some((known) => known === name));
}
