import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../base/package-root.ts';
import { renderAttribute } from '../xml/write-xml.ts';

type Value = string | number | boolean | undefined | View | readonly View[];

/** Values of a template by their names. */
export type View = { readonly [name: string]: Value };

const PLACEHOLDER = /\{#(\w+)\}(.*?)\{\/\1\}|\{(&?)(\w+)\}/gs;

/**
 * Fills a file of `schemas/qgis`. `{name}` is a value, `{&name}` is XML, and `{#name}…{/name}` is
 * repeated for each item of a list, with the item's values; it is left out for a value that is
 * absent or false.
 */
export function fillTemplate(file: string, view: View): string {
  return fill(readFileSync(join(packageRoot, 'schemas', 'qgis', file), 'utf8'), view);
}

function fill(template: string, view: View): string {
  return template.replace(PLACEHOLDER, (_, section, inner, mark, name) => {
    if (section !== undefined) {
      const items = listItems(view[section]);
      return items.map((item) => fill(inner, { ...view, ...item })).join('');
    }
    const value = view[name];
    if (typeof value === 'boolean') return value ? '1' : '0';
    const text = String(value ?? '');
    return mark === '&' ? text : renderAttribute(name, text);
  });
}

function listItems(value: Value): readonly View[] {
  if (value === undefined || value === false) return [];
  if (typeof value !== 'object') return [{}];
  return Array.isArray(value) ? value : [value as View];
}

/** A value of QGIS settings. */
export type OptionValue =
  | string
  | number
  | boolean
  | readonly OptionValue[]
  | { readonly [name: string]: OptionValue };

/**
 * Writes a value as QGIS 3 does: `<Option type="Map">` with an `<Option name="…">` for each member.
 */
export function renderOption(value: OptionValue, name?: string): string {
  const named = name === undefined ? '' : ` name="${renderAttribute('Option', name)}"`;
  if (typeof value !== 'object') {
    const text = renderAttribute('Option', String(value));
    return `<Option${named} value="${text}" type="${getQgisType(value)}"/>`;
  }
  const isList = Array.isArray(value);
  const members = Object.entries(value).map(([key, each]) =>
    renderOption(each, isList ? undefined : key),
  );
  return `<Option${named} type="${isList ? 'List' : 'Map'}">${members.join('')}</Option>`;
}

function getQgisType(value: string | number | boolean): string {
  if (typeof value === 'number') return 'int';
  return typeof value === 'boolean' ? 'bool' : 'QString';
}
