import { shellWord } from '../base/shell-word.ts';
import type { Entry } from '../outbox/entry.ts';

/**
 * The command that takes an entry on that waits for a person. A record may have several photographs, of which some are
 * there and some are not: each is decided by itself.
 */
export function commandFor(entry: Entry): string {
  const find = shellWord(entry.localId ?? entry.identCely ?? '');
  const only = entry.kind === 'import' ? '' : ` --entry ${entry.id}`;
  switch (entry.state) {
    case 'uncertain':
      return `pas resolve ${find}${only} --created ${entry.kind === 'import' ? 'IDENT' : entry.identCely} | --resend | --drop`;
    case 'refused':
      return entry.kind === 'import' ? `pas edit ${find}` : `pas resolve ${find}${only} --resend | --drop`;
    case 'draft':
      return `pas edit ${find}`;
    default:
      return `pas show ${find}`;
  }
}
