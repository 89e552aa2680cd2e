import { UsageError } from '../base/errors.ts';
import type { Issue } from '../base/issue.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context } from '../context/context.ts';
import { readStandardInput, STANDARD_INPUT } from '../context/own-files.ts';
import type { ColumnMap } from '../find/column-map/column-rule.ts';
import { readColumnMap } from '../find/column-map/read-column-map.ts';
import { readInputFile } from '../find/input-file.ts';
import type { LookupTerm } from '../find/lookup.ts';
import { rememberReferences } from '../find/resolve-reference.ts';
import { readSettings, type Setting } from '../find/settings.ts';
import { requireUtf8 } from '../find/table-text.ts';
import { printIssues } from '../ui/issues.ts';

/**
 * The column map of `--map`.
 * @throws UsageError where it cannot be used; all that is wrong with it is printed before
 */
export async function readColumnMapFile(context: Context, given: string, lookupTerm: LookupTerm): Promise<ColumnMap> {
  const [file, bytes] = given === '-' ? [STANDARD_INPUT, await readStandardInput(context)] : [given, await readInputFile(given)];
  const { map, issues } = readColumnMap(file, requireUtf8(file, bytes).toString('utf8'));
  const all = [
    ...issues,
    ...(map === undefined ? [] : fixedProblems(map.fixed, lookupTerm).map((issue) => ({ ...issue, file }))),
  ];
  if (map !== undefined && all.length === 0) return map;
  printIssues(context.terminal, all, context.terminal.warn);
  const faults = all.length;
  throw new UsageError(
    ngettext(
      msgid`${file} has ${faults} fault. Nothing was imported.`,
      `${file} has ${faults} faults. Nothing was imported.`,
      faults,
    ),
    { hint: t`Mend the file, or make it anew: pas import TABLE --wizard` },
  );
}

/** What is wrong with values that every find would have: said once, not for every row. */
export function fixedProblems(fixed: readonly Setting[], lookupTerm: LookupTerm): Issue[] {
  const context = {
    resolveReference: rememberReferences(lookupTerm),
    resolvePhoto: () => ({ rule: 'photo-path', problem: '' }),
  };
  return [...readSettings(fixed, '', context).issues];
}
