import type { Message } from '../base/message.ts';
import type { ElementName, FindElements } from './fields.ts';
import type { LookupArea, LookupProject, LookupTerm } from './lookup.ts';

/** Data beside the find itself. A check whose data is absent is skipped. */
export type RuleContext = {
  /** Letter (A–E) or name, English or Czech, of the account's role. */
  readonly role?: string;
  /** Name of the account's organisation, as the service writes it. */
  readonly organisation?: string;
  readonly lookupTerm?: LookupTerm;
  readonly lookupArea?: LookupArea;
  readonly lookupProject?: LookupProject;
  /** Local day, YYYY-MM-DD. */
  readonly today: string;
};

/** A violation of a rule: the fault, then the remedy. */
export type Finding = {
  readonly element?: ElementName;
  readonly message: Message;
  readonly warning?: true;
  /** Name of the issue where it differs from the rule's. */
  readonly rule?: string;
};

export type Rule = {
  /** Stable, kebab-case; the `rule` of the issues. */
  readonly name: string;
  readonly judge: (elements: FindElements, context: RuleContext) => readonly Finding[];
};

/** Rule of the warning that an identifier could not be checked, because its set was not harvested. */
export const NOT_HARVESTED = 'not-harvested';

const ROLES = {
  researcher: ['b', 'researcher', 'badatel'],
  archaeologist: ['c', 'archaeologist', 'archeolog'],
  archivist: ['d', 'archivist', 'archivář', 'e', 'administrator', 'administrátor'],
} as const;

/** Returns the permissions of a role; administrators have those of archivists. Undefined where the role is not known. */
export function rankOf({ role = '' }: RuleContext): keyof typeof ROLES | undefined {
  const name = role.trim().toLowerCase();
  return (Object.keys(ROLES) as (keyof typeof ROLES)[]).find((rank) => ROLES[rank].some((known) => known === name));
}
