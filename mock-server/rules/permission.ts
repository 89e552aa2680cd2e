import { type Account, getRoleRank, type Role } from '../state/accounts.ts';
import type { Mock } from '../state/mock.ts';
import { type ArchiveRecord, getId, getStav } from '../state/records/record.ts';

/** The project type that finds may be imported into (A-PROJECT-3). */
const SURVEY_PROJECT = 'HES-001138';

/** An active account without any role group counts as a Researcher here (S-ROLE-4). */
export function getRole(account: Account): Role {
  return account.role ?? 'researcher';
}

/** Tells if the account has this role or a higher one. */
export function isAtLeast(account: Account, role: Role): boolean {
  return getRoleRank(getRole(account)) >= getRoleRank(role);
}

/**
 * Tells if the project is a survey project that the account may import into (A-PROJECT-4 to
 * A-PROJECT-6).
 */
export function mayImportInto(mock: Mock, account: Account, project: ArchiveRecord): boolean {
  if (getId(project.body['typ_projektu']) !== SURVEY_PROJECT) return false;
  const stav = getStav(project.body) ?? -1;
  const role = getRole(account);
  if (getRoleRank(role) >= getRoleRank('archivist')) return stav >= 0 && stav <= 8;
  if (stav !== 3 && stav !== 4) return false;
  const organisation = getId(project.body['organizace']);
  if (
    role === 'archaeologist' &&
    organisation !== undefined &&
    organisation === account.organisation
  )
    return true;
  const partners = listCooperatingArchaeologists(mock, account);
  if (role === 'researcher' && account.projects !== undefined) {
    return partners.length > 0 && account.projects.includes(project.ident);
  }
  return partners.some(
    (partner) => partner.organisation !== null && partner.organisation === organisation,
  );
}

function listCooperatingArchaeologists(mock: Mock, account: Account): Account[] {
  return account.cooperatesWith
    .map((user) => mock.accounts.findByUser(user))
    .filter((partner) => partner !== undefined)
    .filter((partner) => isAtLeast(partner, 'archaeologist'));
}

/**
 * Tells if the account may change the number (A-NUMBER-18): Archaeologists of finds that they
 * created or their organisation holds; Archivists of any; Researchers of none.
 */
export function mayEditNumber(mock: Mock, account: Account, find: ArchiveRecord): boolean {
  if (isAtLeast(account, 'archivist')) return true;
  return isAtLeast(account, 'archaeologist') && isOwnOrOfOrganisation(mock, account, find);
}

/**
 * Tells who may add photographs (A-PHOTO-18): Researchers to own finds in state 1, Archaeologists
 * in any state, Archivists to any.
 */
export function mayAttachPhotograph(mock: Mock, account: Account, find: ArchiveRecord): boolean {
  if (isAtLeast(account, 'archivist')) return true;
  if (isAtLeast(account, 'archaeologist')) return isOwnOrOfOrganisation(mock, account, find);
  return find.creator === account.user && find.stav === 1;
}

/**
 * Tells if the account created the find, or its organisation runs the project or received the find.
 */
function isOwnOrOfOrganisation(mock: Mock, account: Account, find: ArchiveRecord): boolean {
  if (find.creator === account.user) return true;
  if (account.organisation === null) return false;
  const project =
    find.project === null ? undefined : mock.archive.findLive('projekt', find.project);
  return (
    getId(project?.body['organizace']) === account.organisation ||
    getId(find.body['predano_organizace']) === account.organisation
  );
}
