/** Tells if the disk is full, broken or read-only. */
export function isStorageFailure(thrown: unknown): boolean {
  const code: unknown = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' && /^(E(NOSPC|DQUOT|FBIG|IO|ROFS)$|SQLITE_(FULL|IOERR|READONLY|CANTOPEN))/.test(code);
}

/** Returns the message of a thrown value of any type. */
export function getErrorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
