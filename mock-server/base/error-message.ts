function hasCode(thrown: unknown, pattern: RegExp): boolean {
  return (
    thrown instanceof Error &&
    'code' in thrown &&
    typeof thrown.code === 'string' &&
    pattern.test(thrown.code)
  );
}

/** Tells if the disk is full, broken or read-only. */
export function isStorageFailure(thrown: unknown): boolean {
  return hasCode(thrown, /^(E(NOSPC|DQUOT|FBIG|IO|ROFS)$|SQLITE_(FULL|IOERR|READONLY|CANTOPEN))/);
}

/** Tells if another process has the lock of an SQLite file. */
export function isLockedFile(thrown: unknown): boolean {
  return hasCode(thrown, /^SQLITE_BUSY/);
}

/** Tells if the disk is full or another process has the file, by the error or by its cause. */
export function isPassing(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return (
    hasCode(thrown, /^(ENOSPC|EDQUOT|SQLITE_FULL)$/) ||
    isLockedFile(thrown) ||
    isPassing(thrown.cause)
  );
}

/** Returns the message of a thrown value of any type. */
export function getErrorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
