import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package-root.ts';
import type { SchemaVersion } from './schema-validators.ts';

export const ENTITIES = [
  'projekt',
  'archeologicky_zaznam',
  'let',
  'adb',
  'dokument',
  'ext_zdroj',
  'pian',
  'samostatny_nalez',
  'uzivatel',
  'heslo',
  'ruian_kraj',
  'ruian_okres',
  'ruian_katastr',
  'organizace',
  'osoba',
] as const;
export type Entity = (typeof ENTITIES)[number];

export function record(entity: Entity): string {
  return readFileSync(join(packageRoot, 'test/contract/records', `${entity}.xml`), 'utf8');
}

/** Takes the only element of that name out of a record, with its content. */
export function without(document: string, element: string): string {
  const [found, second] = document.match(new RegExp(`\\s*<svc:${element}[ >].*?</svc:${element}>`, 'gs')) ?? [];
  if (found === undefined || second !== undefined) throw new Error(`${element} does not occur exactly once`);
  return document.replace(found, '');
}

/** The record with another text in the first element of that name. */
export function withText(document: string, element: string, text: string): string {
  const pattern = new RegExp(`(<svc:${element}(?: [^>]*)?>)[^<]*<`);
  if (!pattern.test(document)) throw new Error(`no ${element} with a text`);
  return document.replace(pattern, (_, startTag: string) => `${startTag}${text}<`);
}

/** The record as 2.1 and 2.0 give it: without what was added later. */
export function asVersion(entity: Entity, version: SchemaVersion): string {
  const added = ADDED.filter((difference) => difference.entity === entity && difference.since > version);
  return added.reduce((document, { element }) => without(document, element), record(entity));
}

/** Service facts, section 8.3; lokalita/igsn has its own test. Each of these names occurs once in its record. */
export const ADDED: readonly { entity: Entity; element: string; since: SchemaVersion; required?: true }[] = [
  { entity: 'projekt', element: 'geom_system', since: '2.1', required: true },
  { entity: 'projekt', element: 'geom_sjtsk_gml', since: '2.1' },
  { entity: 'projekt', element: 'geom_sjtsk_wkt', since: '2.1' },
  { entity: 'dokument', element: 'doi', since: '2.1' },
  { entity: 'dokument', element: 'geom_system', since: '2.1', required: true },
  { entity: 'dokument', element: 'geom_sjtsk_gml', since: '2.1' },
  { entity: 'dokument', element: 'geom_sjtsk_wkt', since: '2.1' },
  { entity: 'ext_zdroj', element: 'doi', since: '2.1' },
  { entity: 'samostatny_nalez', element: 'igsn', since: '2.1' },
  { entity: 'uzivatel', element: 'orcid', since: '2.1' },
  { entity: 'organizace', element: 'ror', since: '2.1' },
  { entity: 'osoba', element: 'orcid', since: '2.1' },
  { entity: 'osoba', element: 'wikidata', since: '2.1' },
  { entity: 'heslo', element: 'scheme_uri', since: '2.1' },
  { entity: 'ruian_kraj', element: 'email', since: '2.2' },
];
