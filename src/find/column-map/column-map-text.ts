import { t } from '../../base/language.ts';
import { tomlString } from '../../store/toml.ts';
import type { ColumnMap, ColumnRule } from './column-rule.ts';
import { MAP_VERSION } from './read-column-map.ts';

/** What stands above the lines of a column map, for whoever edits it. */
type MapRemarks = {
  /** The table that the map was made for. */
  readonly table: string;
  /** By the key of the column. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  readonly fixed: ReadonlyMap<string, readonly string[]>;
  /** Elements that still need a value for all finds. */
  readonly undecided: readonly string[];
};

/** A column map as a file that a person reads and edits. Reading it again gives the same map. */
export function columnMapText(map: ColumnMap, remarks: MapRemarks): string {
  const { table } = remarks;
  const lines = [
    comment(t`How pas reads the columns of ${table}: pas import FILE --map THIS-FILE`),
    comment(t`Made by pas import --wizard. Change what is wrong; a line with # is not read.`),
    `version = ${MAP_VERSION}`,
    ...(map.localId === undefined ? [] : [`local_id = ${tomlString(map.localId)}`]),
    '',
    comment(t`For every find whose own cell is empty.`),
    '[fixed]',
  ];
  for (const element of remarks.undecided) {
    lines.push(...(remarks.fixed.get(element) ?? []).map(comment), `# ${element} = ""`);
  }
  for (const { name: element, value: text } of map.fixed) {
    lines.push(...(remarks.fixed.get(element) ?? []).map(comment), `${element} = ${tomlString(text)}`);
  }
  lines.push('', comment(t`Columns of the table, and the elements that they are; "ignore" leaves one out.`), '[columns]');
  for (const [key, rule] of map.columns) {
    lines.push(...(remarks.columns.get(key) ?? []).map(comment), `${tomlString(key)} = ${ruleText(rule)}`);
  }
  return `${lines.join('\n')}\n`;
}

function ruleText(rule: ColumnRule): string {
  if (rule.kind === 'ignored') return tomlString('ignore');
  const { kind: _kind, element, yearOnly, values, ...rest } = rule;
  const options = Object.entries({ ...rest, ...(yearOnly === undefined ? {} : { year_only: yearOnly }) });
  const parts = options.map(([name, text]) => `${name} = ${tomlString(text)}`);
  if (values !== undefined) {
    const pairs = Object.entries(values).map(([own, meant]) => `${tomlString(own)} = ${tomlString(meant)}`);
    parts.push(`values = { ${pairs.join(', ')} }`);
  }
  return parts.length === 0 ? tomlString(element) : `{ element = ${tomlString(element)}, ${parts.join(', ')} }`;
}

/** Whatever stands in a cell, a comment is one line without control characters. */
function comment(text: string): string {
  return `# ${text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()}`;
}
