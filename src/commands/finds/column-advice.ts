import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { FileError } from '../../base/errors.ts';
import type { Issue } from '../../base/issue.ts';
import { t } from '../../base/language.ts';
import { cmd, composeCommand, msg } from '../../base/message.ts';
import { listReadingFlags, type TableOptions } from '../../context/user-files.ts';
import { collapseUnknownColumns } from '../../flows/queue/collapse-issues.ts';
import { isNumberTable } from '../../flows/queue/enqueue-numbers.ts';
import type { Table } from '../../tables/table.ts';

/** Options of an import that its next command repeats. */
type RepeatedOptions = TableOptions & {
  readonly set?: readonly string[];
  readonly photos?: string;
  readonly idPrefix?: string;
};

/** @throws FileError with the command for a table of registration numbers */
export function assertHasFinds(table: Table, file: string, options: TableOptions): void {
  if (!isNumberTable(table)) return;
  const command = composeCommand('pas number import', [['', file], ...listReadingFlags(options)]);
  throw new FileError(file, msg`${file} has registration numbers and nothing else of finds.`, {
    hint: t`To queue the numbers: ${command}`,
  });
}

/** Names the column map that the wizard writes for a table. */
export function nameColumnMap(file: string): string {
  return `${file.slice(0, file.length - extname(file).length)}.map.toml`;
}

/** Advises the column map beside the table, else the wizard, with the same options of reading. */
export function foldColumns(
  issues: readonly Issue[],
  files: readonly string[],
  options: RepeatedOptions,
) {
  const { set = [], photos, idPrefix } = options;
  return collapseUnknownColumns(issues, (file) => {
    if (files.includes('-'))
      return msg`To let pas propose elements for them: ${cmd`pas import`} TABLE --wizard`;
    const map = nameColumnMap(file);
    const hasMap = existsSync(map);
    const command = composeCommand('pas import', [
      ['', file],
      ['--map', hasMap ? map : undefined],
      ...listReadingFlags(options),
      ...set.map((setting) => ['--set', setting] as const),
      ['--photos', photos],
      ['--id-prefix', idPrefix],
      ['--wizard', !hasMap],
    ]);
    return hasMap
      ? msg`To read them by their column map: ${command}`
      : msg`To let pas propose elements for them: ${command}`;
  });
}
