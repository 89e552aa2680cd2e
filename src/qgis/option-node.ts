import type { XmlNode } from '../xml/write-xml.ts';

/** A value of QGIS settings. */
export type OptionValue = string | number | boolean | readonly OptionValue[] | { readonly [name: string]: OptionValue };

/** Writes a value as QGIS 3 does: `<Option type="Map">` with an `<Option name="…">` for each member. */
export function optionNode(value: OptionValue, name?: string): XmlNode {
  const named = name === undefined ? {} : { name };
  if (typeof value !== 'object') return { name: 'Option', attributes: { ...named, value: String(value), type: typeOf(value) } };
  if (Array.isArray(value)) {
    return {
      name: 'Option',
      attributes: { ...named, type: 'List' },
      content: value.map((each: OptionValue) => optionNode(each)),
    };
  }
  const content = Object.entries(value).map(([key, each]) => optionNode(each as OptionValue, key));
  return { name: 'Option', attributes: { ...named, type: 'Map' }, content };
}

function typeOf(value: string | number | boolean): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'double';
  return typeof value === 'boolean' ? 'bool' : 'QString';
}
