/** The roles (S-ROLE-1, S-ROLE-2), weakest first. Names as the service's user information writes them. */
export const ROLES = ['researcher', 'archaeologist', 'archivist', 'administrator'] as const;
export type Role = (typeof ROLES)[number];

const ROLE_OF_GROUP: Readonly<Record<string, Role>> = {
  badatel: 'researcher',
  archeolog: 'archaeologist',
  archivář: 'archivist',
  administrátor: 'administrator',
};

/** Account by the user information of the service (A-USER-2). */
export type Account = {
  readonly identCely: string;
  readonly name: string;
  readonly email: string;
  readonly organisation: string;
  readonly role: Role;
};

/** Returns the strongest role of the groups; without one an account writes as a researcher. */
export function roleOfGroups(groups: readonly string[]): Role {
  const roles = groups.map((group) => ROLE_OF_GROUP[group.trim().toLowerCase()]).filter((role) => role !== undefined);
  return roles.reduce<Role>((best, role) => (ROLES.indexOf(role) > ROLES.indexOf(best) ? role : best), 'researcher');
}
