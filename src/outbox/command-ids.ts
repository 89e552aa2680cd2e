import { makeUuid } from './facts.ts';

/**
 * Makes the id of a person's command: its words joined by hyphens, a blank, and a UUID that begins
 * with the time, such as `photo-add 0193…`.
 * @param words for an undo, what {@link makeUndoWords} made
 * @param now wall clock, in milliseconds since 1970 UTC
 */
export function makeCommandId(words: string, now: number): string {
  return `${words.replaceAll(' ', '-')} ${makeUuid(now)}`;
}

const UNDO = /^undo:(.+)$/;

/**
 * Makes the words of an undo, for {@link makeCommandId}.
 * @param command id of the command that is taken back, or the UUID at its end
 */
export function makeUndoWords(command: string): string {
  return `undo:${command.split(' ').at(-1)}`;
}

/**
 * Parses what {@link makeCommandId} made. `at`: its time, in milliseconds since 1970 UTC; `words`:
 * `undo` for an undo; `undoes`: UUID of the command that an undo takes back, else undefined.
 */
export function parseCommandId(command: string): {
  readonly words: string;
  readonly at: number;
  readonly undoes: string | undefined;
} {
  const [words = '', uuid = ''] = command.split(' ');
  const [, undoes] = UNDO.exec(words) ?? [];
  const at = Number.parseInt(uuid.replace('-', '').slice(0, 12), 16);
  return { words: undoes === undefined ? words.replaceAll('-', ' ') : 'undo', at, undoes };
}

/** Query of the 50 commands that changed something last, newest first: their contents are kept. */
export const LAST_COMMANDS =
  'select command from facts where command is not null group by command order by max(seq) desc limit 50';
