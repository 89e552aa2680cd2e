import type { FindElements } from '../../find/fields.ts';
import type { Entry, EntryState } from '../../outbox/entry.ts';
import type { StoredFind } from '../../outbox/stored-finds.ts';
import { foldName } from '../../text/names.ts';
import { labelledTexts } from './find-texts.ts';

/** Which finds are meant; what is absent chooses all. */
export type FindChoice = {
  /** Of the import; a find that is not queued for the service has none. */
  readonly state?: readonly EntryState[];
  readonly project?: string;
  /** Found on this day (YYYY-MM-DD) or later. */
  readonly since?: string;
  readonly until?: string;
  /** Somewhere in what the find says, whatever its case and accents. */
  readonly text?: string;
};

/** @param made the find's import, where it has one */
export function isChosen(choice: FindChoice, find: StoredFind, made: Entry | undefined): boolean {
  const elements = find.elements as FindElements;
  const { state, project, since, until, text } = choice;
  const day = elements.datum_nalezu;
  if (state !== undefined && (made === undefined || !state.includes(made.state))) return false;
  if (project !== undefined && elements.projekt?.id !== project) return false;
  if (since !== undefined && (day === undefined || day < since)) return false;
  if (until !== undefined && (day === undefined || day > until)) return false;
  if (text === undefined) return true;
  const said = [find.localId, made?.identCely ?? '', ...labelledTexts(elements).map(([, value]) => value)].join(' ');
  return foldName(said).includes(foldName(text));
}
