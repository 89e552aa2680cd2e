import { readFileSync } from 'node:fs';
import { NEWEST_VERSION, type SchemaVersion } from '../../base/addresses.ts';
import { getPackagePath } from '../../base/package-files.ts';
import type { Body, Entity } from './record.ts';

/** Children of a type in the order of its schema, each with its own type. */
export type Children = ReadonlyMap<string, string>;

const typesByVersion = new Map<SchemaVersion, ReadonlyMap<string, Children>>();

/** Returns the types of a schema that have children of ours, by their names. */
export function readTypes(version: SchemaVersion): ReadonlyMap<string, Children> {
  const present = typesByVersion.get(version);
  if (present !== undefined) return present;
  const schema = readFileSync(getPackagePath('schemas', 'svc', version, 'svc.xsd'), 'utf8');
  const types = new Map<string, Children>();
  for (const [, type = '', content = ''] of schema.matchAll(
    /<xs:complexType name="([^"]+)"[^>]*>(.*?)<\/xs:complexType>/gs,
  )) {
    const children = [...content.matchAll(/<xs:element name="([^"]+)" type="([^"]+)"/g)];
    if (children.length > 0)
      types.set(type, new Map(children.map(([, name = '', childType = '']) => [name, childType])));
  }
  typesByVersion.set(version, types);
  return types;
}

/** Returns the children of an entity in the order in which the newest schema declares them. */
export function listChildNames(entity: Entity): string[] {
  return [...(readTypes(NEWEST_VERSION).get(`${entity}Type`)?.keys() ?? [])];
}

/** Orders children by the schema, and omits those without a value. */
export function orderChildren(
  entity: Entity,
  children: Readonly<Record<string, Body[string] | undefined>>,
): Body {
  return withoutAbsent(
    Object.fromEntries(listChildNames(entity).map((name) => [name, children[name]])),
  );
}

/** Omits children without a value. */
export function withoutAbsent(children: Readonly<Record<string, Body[string] | undefined>>): Body {
  const present: Record<string, Body[string]> = {};
  for (const [name, value] of Object.entries(children))
    if (value !== undefined) present[name] = value;
  return present;
}
