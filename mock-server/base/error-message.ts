/** Tells if the disk is full, broken or read-only. */
export function isStorageFailure(thrown: unknown): boolean {
  const code: unknown = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' && /^(E(NOSPC|DQUOT|FBIG|IO|ROFS)$|SQLITE_(FULL|IOERR|READONLY|CANTOPEN))/.test(code);
}

/** Tells if the disk is full, by the error or by its cause. */
export function isDiskFull(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const isFull = 'code' in thrown && ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'].some((code) => code === thrown.code);
  return isFull || isDiskFull(thrown.cause);
}

/** Returns the message of a thrown value of any type. */
export function getErrorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
