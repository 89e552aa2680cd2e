import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../base/package-root.ts';
import { attributeOf, childOf, descendantsOf, type XmlDocument, type XmlElement } from '../xml/element.ts';
import { parseXml } from '../xml/parse.ts';

/** Children that may be repeated in their parent; local names, by that of the parent. */
export type RepeatedElements = ReadonlyMap<string, ReadonlySet<string>>;

const XSD = 'http://www.w3.org/2001/XMLSchema';
const NEWEST_VERSION = '2.2';

/** @param version schema version of the records; for one that pas does not know, its newest serves */
export function repeatedElementsOf(version: string): RepeatedElements {
  const pathOf = (known: string): string => join(packageRoot, 'schemas', 'svc', known, 'svc.xsd');
  const isKnown = /^\d+\.\d+$/.test(version) && existsSync(pathOf(version));
  return repeatedElements(parseXml(readFileSync(pathOf(isKnown ? version : NEWEST_VERSION))));
}

/**
 * Reads out of a schema of the service what may repeat, so that a child that may is a list in JSON even where a record has
 * just one.
 */
function repeatedElements({ root }: XmlDocument): RepeatedElements {
  const types = new Map<string, readonly Declaration[]>();
  for (const type of root.children) types.set(attributeOf(type, 'name') ?? '', declarationsIn(type));
  const repeated = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const visit = (parent: string, declarations: readonly Declaration[] = []): void => {
    for (const { name, type, isRepeated } of declarations) {
      if (isRepeated) repeated.set(parent, (repeated.get(parent) ?? new Set()).add(name));
      if (seen.size !== seen.add(`${parent}/${name}`).size) visit(name, types.get(type));
    }
  };
  const entities = childOf(root, 'element');
  if (entities !== undefined) visit('', declarationsIn(entities));
  return repeated;
}

type Declaration = { readonly name: string; readonly type: string; readonly isRepeated: boolean };

function declarationsIn(type: XmlElement): Declaration[] {
  return [...descendantsOf(type, 'element', XSD)].map((child) => ({
    name: attributeOf(child, 'name') ?? '',
    type: attributeOf(child, 'type') ?? '',
    isRepeated: attributeOf(child, 'maxOccurs') === 'unbounded',
  }));
}
