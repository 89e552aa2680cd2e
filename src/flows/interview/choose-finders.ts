import { t } from '../../base/language.ts';
import type { ColumnMap } from '../../columns/column-rule.ts';
import { parseColumns } from '../../columns/columns.ts';
import { convertFormRows } from '../../columns/form-return.ts';
import { type MappingRow, withMapping } from '../../columns/mapping.ts';
import { parseSetting, TABLE_OF_ONE } from '../../columns/settings.ts';
import type { LookupTerm, TermCandidate } from '../../find/lookup.ts';
import { resolveFinder } from '../../find/resolve-references.ts';
import type { Table } from '../../tables/table.ts';
import { choose, type Prompt } from '../../ui/prompt.ts';
import type { NewPerson } from '../finds/outbox-status.ts';

/** Sources of finders' names: `element=value`, and a table to which these settings apply. */
export type FinderSource = {
  readonly set?: readonly string[] | undefined;
  readonly table?: Table;
  readonly map?: ColumnMap | undefined;
};

/** Returns each distinct finder in the form in which it is resolved. */
export async function collectFinders({
  set = [],
  table = TABLE_OF_ONE,
  map,
}: FinderSource): Promise<Set<string>> {
  const constants = set.map(parseSetting).filter((setting) => 'value' in setting);
  const findTable = await convertFormRows(table, map !== undefined);
  const { columns } = parseColumns(findTable, map, constants);
  const finders = Array.from(findTable.rows, (row) => columns.getCell(row, 'nalezce'));
  return new Set(finders.filter((finder) => finder !== ''));
}

/**
 * Asks which person is meant wherever several match.
 * @returns the lookup with the answers, which apply to this command
 */
export async function chooseFinders(
  finders: Iterable<string>,
  lookupTerm: LookupTerm,
  prompt: Prompt,
): Promise<LookupTerm> {
  const chosen: MappingRow[] = [];
  for (const finder of finders) {
    const read = resolveFinder(finder, lookupTerm);
    if (!('candidates' in read) || read.candidates === undefined || !ASKED.includes(read.rule))
      continue;
    const person = await choose<TermCandidate | 'none'>(prompt, t`Who is the finder "${finder}"?`, [
      ...read.candidates.map((each) => ({ value: each, name: formatFinder(each) })),
      { value: 'none', name: t`none of them; leave it as an error` },
    ]);
    if (person === 'none') continue;
    chosen.push({
      row: 0,
      set: person.setSpec,
      term: finder,
      id: person.id,
      label: person.label,
      note: '',
      confirmed: true,
    });
  }
  return withMapping(lookupTerm, { file: '', rows: chosen, issues: [] });
}

/**
 * Asks if an unknown finder is a known person.
 * @returns that person, `new` for a new one, or `stop` to send nothing
 */
export function askAboutNewPerson(
  { name, finds, nearest, similar }: NewPerson,
  prompt: Prompt,
): Promise<TermCandidate | 'new' | 'stop'> {
  const count = finds.length;
  const others = similar.join('; ');
  return choose<TermCandidate | 'new' | 'stop'>(
    prompt,
    others === ''
      ? t`The service does not know the finder "${name}" (finds: ${count}). Who is it?`
      : t`The service does not know the finder "${name}" (finds: ${count}), perhaps the same person as ${others}. Who is it?`,
    [
      ...nearest.map((person) => ({ value: person, name: formatFinder(person) })),
      { value: 'new', name: t`a new person; let the service create one` },
      { value: 'stop', name: t`send nothing now` },
    ],
  );
}

const ASKED: readonly string[] = ['term-ambiguous', 'finder-unsure'];

function formatFinder({ id, label, about }: TermCandidate): string {
  return [label, about ?? '', id].filter((part) => part !== '').join(', ');
}
