import { t } from '../../base/language.ts';
import { withColumnMap } from '../../columns/apply-column-map.ts';
import type { ColumnMap } from '../../columns/column-rule.ts';
import { readColumns } from '../../columns/columns.ts';
import { asFinds } from '../../columns/form-return.ts';
import { type MappingRow, withMapping } from '../../columns/mapping.ts';
import { parseSetting } from '../../columns/settings.ts';
import { withConstants } from '../../columns/with-constants.ts';
import type { LookupTerm, TermCandidate } from '../../find/lookup.ts';
import { resolveFinder } from '../../find/resolve-finder.ts';
import type { Table } from '../../tables/table.ts';
import { choose, type Prompt } from '../../ui/prompt.ts';
import { printable } from '../../ui/terminal.ts';
import type { NewPerson } from '../finds/new-people.ts';

/** Where finders are named: in `element=value`, or in a table that these are said of as well. */
export type FinderSource = {
  readonly set?: readonly string[] | undefined;
  readonly table?: Table;
  readonly map?: ColumnMap | undefined;
};

/** Each different finder, as it is read. */
export async function findersIn({ set = [], table: read, map }: FinderSource): Promise<Set<string>> {
  const constants = set.map(parseSetting).flatMap((setting) => ('value' in setting ? [setting] : []));
  if (read === undefined) return new Set(constants.filter(({ name }) => name === 'nalezce').map(({ value }) => value));
  const own = await asFinds(read, map !== undefined);
  const table = withConstants(map === undefined ? own : withColumnMap(own, map), constants);
  const { columns } = readColumns(table);
  const finders = columns.has('nalezce') ? [...table.rows].map((row) => columns.cell(row, 'nalezce')) : [];
  return new Set(finders.filter((finder) => finder !== ''));
}

/**
 * Asks who is meant wherever several people may be.
 * @returns the lookup with the answers, which count for this command alone
 */
export async function chooseFinders(finders: Iterable<string>, lookupTerm: LookupTerm, prompt: Prompt): Promise<LookupTerm> {
  const chosen: MappingRow[] = [];
  for (const finder of finders) {
    const read = resolveFinder(finder, lookupTerm);
    if (!('candidates' in read) || read.candidates === undefined || !ASKED.includes(read.rule)) continue;
    const name = printable(finder);
    const person = await choose<TermCandidate | 'none'>(prompt, t`Who is the finder "${name}"?`, [
      ...read.candidates.map((each) => ({ value: each, name: printable(nameOf(each)) })),
      { value: 'none', name: t`none of them; leave it as an error` },
    ]);
    if (person === 'none') continue;
    chosen.push({ row: 0, set: person.setSpec, term: finder, id: person.id, label: person.label, note: '', confirmed: true });
  }
  return withMapping(lookupTerm, { file: '', rows: chosen, issues: [] });
}

/**
 * Asks if a finder whom the service does not know is one of the nearest people.
 * @returns that person, or that a new one is to be made, or that nothing is to be sent
 */
export function askAboutNewPerson({ name, finds, nearest }: NewPerson, prompt: Prompt): Promise<TermCandidate | 'new' | 'stop'> {
  const [written, count] = [printable(name), finds.length];
  return choose<TermCandidate | 'new' | 'stop'>(
    prompt,
    t`The service knows no finder "${written}" (finds: ${count}). Who is it?`,
    [
      ...nearest.map((person) => ({ value: person, name: printable(nameOf(person)) })),
      { value: 'new', name: t`a new person; the service is to make one` },
      { value: 'stop', name: t`send nothing now` },
    ],
  );
}

const ASKED: readonly string[] = ['term-ambiguous', 'finder-unsure'];

function nameOf({ id, label, about }: TermCandidate): string {
  return [label, about ?? '', id].filter((part) => part !== '').join(', ');
}
