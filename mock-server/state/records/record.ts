/**
 * Model of a record for both interfaces, visibility and control. A body is the content of the
 * entity element in compact notation, in the order of the 2.2 schema: an object of child element
 * names with text, an object, or an array where the element repeats. Keys with `@` are attributes
 * (`@id`, `@lang` for xml:lang, `@EPSG`, `@poradi`); `#` is text beside attributes. GML children
 * are keys such as `gml:Point`.
 */
export type Body = { readonly [name: string]: BodyValue };
export type BodyValue = string | Body | ReadonlyArray<string | Body>;

/** The children that the schema's root allows, one per record. */
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
/** Kind of a record: the name of its element. */
export type Entity = (typeof ENTITIES)[number];

/** Facts of a record that a harvest lists, even of a deleted one. */
export type RecordHeader = {
  /** `ident_cely`; for the three ruian entities `kod`. */
  readonly ident: string;
  /** The most specific set, such as `heslo:obdobi`. */
  readonly setSpec: string;
  readonly datestampMs: number;
  readonly deleted: boolean;
};

/** A record with its body, and with what permissions, visibility and lists need of it. */
export type ArchiveRecord = RecordHeader & {
  readonly entity: Entity;
  /** `stav` (of an adb: `stav_pom`), where the entity has one. */
  readonly stav: number | null;
  /**
   * Identifier of the accessibility entry that governs the protected parts (`pristupnost`,
   * `pristupnost_pom`).
   */
  readonly pristupnost: string | null;
  /** Identifier of the user who created the record; of a `uzivatel` record: that user. */
  readonly creator: string | null;
  /** Identifier of the organisation to which the record counts as `ours`. */
  readonly organisation: string | null;
  /** Identifier of the project that a find belongs to. */
  readonly project: string | null;
  readonly body: Body;
};

/** Values given by a writer; all others are read from the body. */
export type RecordInput = {
  readonly entity: Entity;
  readonly body: Body;
  /** Default: what {@link getSetSpec} reads from the body. */
  readonly setSpec?: string;
  /** Default: user of the oldest history entry. */
  readonly creator?: string;
  /** Default: the creator's organisation, else the body's `organizace`. */
  readonly organisation?: string;
  /** Default: now, and always later than the record's last change. Given for seeds. */
  readonly datestampMs?: number;
};

/** Returns the text of a value, or of the first one of a repeated element. */
export function getText(value: BodyValue | undefined): string | undefined {
  const first = getList(value)[0];
  if (first === undefined || typeof first === 'string') return first;
  const text = first['#'];
  return typeof text === 'string' ? text : undefined;
}

/** Returns the attribute `id` of a value, or of the first one of a repeated element. */
export function getId(value: BodyValue | undefined): string | undefined {
  return getAttribute(value, 'id');
}

function getAttribute(value: BodyValue | undefined, name: string): string | undefined {
  const first = getList(value)[0];
  if (first === undefined || typeof first === 'string') return undefined;
  const attribute = first[`@${name}`];
  return typeof attribute === 'string' ? attribute : undefined;
}

/** Returns all occurrences of an element. */
export function getList(value: BodyValue | undefined): ReadonlyArray<string | Body> {
  if (value === undefined) return [];
  return isList(value) ? value : [value];
}

/** Tells if an element occurs more than once, or once in a list. */
export function isList(value: BodyValue): value is ReadonlyArray<string | Body> {
  return Array.isArray(value);
}

/** Returns the element as an object with children; undefined where it is absent or text only. */
export function getChild(value: BodyValue | undefined): Body | undefined {
  const first = getList(value)[0];
  return typeof first === 'object' ? first : undefined;
}

/** Returns `kod` of a RÚIAN unit, else `ident_cely`; undefined where it is absent. */
export function getIdent(entity: Entity, body: Body): string | undefined {
  return getText(entity.startsWith('ruian_') ? body['kod'] : body['ident_cely']);
}

/** Returns the most specific set of a record. */
export function getSetSpec(entity: Entity, body: Body): string {
  switch (entity) {
    case 'heslo':
      return `heslo:${getText(body['nazev_heslare']) ?? ''}`;
    case 'archeologicky_zaznam':
      return body['lokalita'] === undefined
        ? 'archeologicky_zaznam:akce'
        : 'archeologicky_zaznam:lokalita';
    case 'dokument':
      return /^(X-)?[CM]-3D-/.test(getText(body['ident_cely']) ?? '') ? 'dokument:3d' : 'dokument';
    default:
      return entity;
  }
}

/** Returns `stav`, else `stav_pom`; null where the record has neither. */
export function getStav(body: Body): number | null {
  const text = getText(body['stav'] ?? body['stav_pom']);
  return text === undefined ? null : Number(text);
}

/**
 * Returns the account of the first history entry, for a user record itself; null where there is
 * none.
 */
export function getCreator(entity: Entity, body: Body): string | null {
  if (entity === 'uzivatel') return getText(body['ident_cely']) ?? null;
  const oldest = getChild(body['historie']);
  return getId(oldest?.['uzivatel']) ?? null;
}
