import { t } from '../base/language.ts';
import { type Command, cmd } from '../base/message.ts';
import type { Context } from '../context/context.ts';
import { looksLikeIdent } from '../flows/queue/find-lookup.ts';
import type { Entry } from '../outbox/entry.ts';

/** Prints the next commands after entries were queued. */
export function printNextStep({ terminal }: Context): void {
  terminal.note(t`Next: \`${cmd`pas status`}\`, then \`${cmd`pas push`}\` when you are online.`);
}

/** Returns the command that settles an entry which waits for a person. Each photograph is decided separately. */
export function commandFor({ id, kind, state, held, localId, identCely }: Entry): Command {
  const find = localId ?? identCely ?? '';
  const resolve = kind === 'import' ? cmd`pas resolve ${find}` : cmd`pas resolve ${find} --entry ${id}`;
  if (held !== null) return resolve;
  switch (state) {
    case 'uncertain':
      return resolve;
    case 'refused':
      return kind === 'import' ? cmd`pas edit ${find}` : cmd`pas resolve ${find} --entry ${id}`;
    case 'draft':
      return cmd`pas edit ${find}`;
    default:
      return cmd`pas show ${find}`;
  }
}

/** Returns the answers about a held entry: it is one of the candidates, it is another one, or it is not to be sent. */
export function answersFor(entry: Entry): Command[] {
  const { id, kind, localId, identCely } = entry;
  const find = localId ?? identCely ?? '';
  const records = recordsMeant(entry);
  if (kind === 'import') {
    const created = records.map((ident) => cmd`pas resolve ${find} --created ${ident}`);
    return [...created, cmd`pas resolve ${find} --resend`, cmd`pas resolve ${find} --drop`];
  }
  const created = records.map((ident) => cmd`pas resolve ${find} --entry ${id} --created ${ident}`);
  return [...created, cmd`pas resolve ${find} --entry ${id} --resend`, cmd`pas resolve ${find} --entry ${id} --drop`];
}

/** Returns records that may be the held entry. A number has none: it changes its record. */
function recordsMeant({ kind, held, identCely }: Entry): string[] {
  if (held === null || kind === 'number') return [];
  if (kind === 'photo') return identCely === null ? [] : [identCely];
  return held.candidates.filter(looksLikeIdent);
}

/** Returns the question of a held entry for programs. */
export function heldValue({ held }: Entry): { readonly held?: Record<string, unknown> } {
  if (held === null) return {};
  const { question, basis, candidates } = held;
  return { held: { question: String(question), basis, candidates } };
}
