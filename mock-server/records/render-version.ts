import type { SchemaVersion } from '../addresses.ts';
import type { Body, BodyValue, Entity } from './record.ts';

/** What each version added to the one before (S-DIFF-1, S-DIFF-3), as paths below the entity. */
const ADDED: Readonly<Record<Exclude<SchemaVersion, '2.0'>, Partial<Record<Entity, readonly string[]>>>> = {
  '2.1': {
    projekt: ['geom_system', 'chranene_udaje/geom_sjtsk_gml', 'chranene_udaje/geom_sjtsk_wkt'],
    dokument: ['doi', 'extra_data/geom_system', 'extra_data/geom_sjtsk_gml', 'extra_data/geom_sjtsk_wkt'],
    ext_zdroj: ['doi'],
    samostatny_nalez: ['igsn'],
    archeologicky_zaznam: ['lokalita/igsn'],
    uzivatel: ['orcid'],
    organizace: ['ror'],
    osoba: ['orcid', 'wikidata'],
    heslo: ['odkaz/scheme_uri'],
  },
  '2.2': { ruian_kraj: ['email'] },
};

/** The versions whose additions a version does not know. */
const UNKNOWN_TO: Readonly<Record<SchemaVersion, ReadonlyArray<keyof typeof ADDED>>> = {
  '2.0': ['2.1', '2.2'],
  '2.1': ['2.2'],
  '2.2': [],
};

const DROPPED = new Map<string, readonly (readonly string[])[]>(
  Object.entries(UNKNOWN_TO).flatMap(([version, later]) => {
    const paths = new Map<string, (readonly string[])[]>();
    for (const added of later) {
      for (const [entity, names] of Object.entries(ADDED[added])) {
        paths.set(entity, [...(paths.get(entity) ?? []), ...names.map((name) => name.split('/'))]);
      }
    }
    return [...paths].map(([entity, list]) => [`${version} ${entity}`, list] as const);
  }),
);

/** The body as an older version has it; of the newest version: the body itself. */
export function inVersion(entity: Entity, body: Body, version: SchemaVersion): Body {
  const paths = DROPPED.get(`${version} ${entity}`);
  return paths === undefined ? body : paths.reduce(without, body);
}

/** The body less one path; what does not change is shared with the original. */
function without(body: Body, path: readonly string[]): Body {
  const [name, ...rest] = path;
  const value = name === undefined ? undefined : body[name];
  if (name === undefined || value === undefined) return body;
  const { [name]: _, ...others } = body;
  if (rest.length === 0) return others;
  const copy: Record<string, BodyValue> = { ...body };
  copy[name] = Array.isArray(value) ? value.map((one) => withoutIn(one, rest)) : withoutIn(value as string | Body, rest);
  return copy;
}

function withoutIn(value: string | Body, path: readonly string[]): string | Body {
  return typeof value === 'string' ? value : without(value, path);
}
