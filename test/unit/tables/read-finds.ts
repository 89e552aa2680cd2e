import { readFileSync } from 'node:fs';
import type { Issue } from '../../../src/base/issue.ts';
import type { Find } from '../../../src/finds/find.ts';
import { checkFindByRules } from '../../../src/finds/rules.ts';
import { mapTableToFinds } from '../../../src/tables/columns/map-table.ts';
import { parseFixedValues } from '../../../src/tables/columns/settings.ts';
import { parseTableBytes } from '../../../src/tables/readers.ts';

export type FindsRead = { readonly finds: readonly Find[]; readonly issues: readonly Issue[] };

export type ReadFindsOptions = {
  readonly sheet?: string;
  readonly constants?: readonly string[];
  readonly checked?: boolean;
};

const TODAY = '2025-01-01';

/** Finds and issues of `pas import` for a file, where nothing was harvested. */
export async function readFinds(
  file: string,
  bytes: Buffer = readFileSync(file),
  options: ReadFindsOptions = {},
): Promise<FindsRead> {
  const { sheet, constants = [], checked = false } = options;
  const { issues, rows } = mapTableToFinds(await parseTableBytes(file, bytes, { sheet }), {
    fixed: parseFixedValues(constants),
    lookupTerm: () => ({ kind: 'not-harvested' }),
    today: checked ? TODAY : undefined,
    resolvePhoto: (name) => ({ value: `/season/${name}` }),
  });
  const walked = [...rows];
  const finds = walked.flatMap(({ find }) => (find === undefined ? [] : [find]));
  const judged = checked ? finds.flatMap((find) => checkFindByRules(find, { today: TODAY })) : [];
  return { finds, issues: [...issues, ...walked.flatMap((row) => row.issues), ...judged] };
}
