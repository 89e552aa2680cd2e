import { ShapeError } from '../../base/shape.ts';
import type { Body, BodyValue } from '../records/record.ts';
import { isObject } from './seed-files.ts';

/** Text of a reference to a record. */
type Labels = ReadonlyMap<string, string>;

/** Form of identifiers, by which a value is recognised as a reference. */
const REFERENCE = /^(HES|ORG|OS|U)-\d{6}$|^ruian-\d{2,6}$/;
/** References with the language of their label. */
const WITH_LANGUAGE = /^(HES|ORG|ruian)-/;
/** Elements with the identifier of a record of another kind. */
const REFERRING = new Set([
  'projekt',
  'samostatny_nalez',
  'dokument',
  'archeologicky_zaznam',
  'pian',
  'adb',
  'let',
  'ext_zdroj',
]);
/** Elements with the record's own identifier. */
const IDENTIFYING = new Set(['ident_cely', 'kod', 'id']);
/** Elements whose occurrences are numbered in an attribute. */
const NUMBERED = new Set(['autor', 'editor']);

/**
 * Converts values of a seed file to a record's body: numbers and truth values become text, and an
 * identifier of another record becomes a reference with that record's label.
 */
export class References {
  readonly #labels: Labels;
  readonly #lastNumbers = new Map<string, number>();

  constructor(labels: Labels) {
    this.#labels = labels;
  }

  /** @throws ShapeError where the referenced record does not exist */
  to(ident: string, place: string): Body {
    const label = this.#labels.get(ident);
    if (label === undefined)
      throw new ShapeError(place, `refers to ${ident}, which this seed does not have`);
    return WITH_LANGUAGE.test(ident)
      ? { '@lang': 'cs', '@id': ident, '#': label }
      : { '@id': ident, '#': label };
  }

  /** Returns undefined where there is no identifier. */
  toOptional(ident: string | undefined, place: string): Body | undefined {
    return ident === undefined ? undefined : this.to(ident, place);
  }

  getLabel(ident: string): string {
    return this.#labels.get(ident) ?? ident;
  }

  /**
   * Makes a body in the order of the keys.
   * @throws ShapeError
   */
  makeBody(value: Readonly<Record<string, unknown>>, place = ''): Body {
    const body: Record<string, BodyValue> = {};
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      body[key] = this.makeValue(key, item, place === '' ? key : `${place}.${key}`);
    }
    return body;
  }

  makeValue(key: string, item: unknown, place: string): BodyValue {
    if (key === 'historie') return this.makeHistory(item, place);
    if (Array.isArray(item))
      return item.map((one, index) => this.#makeRepeated(key, one, index, `${place}[${index}]`));
    return this.#makeSingle(key, item, place);
  }

  /** Makes history entries in the schema's order, numbered where they lack an `id`. */
  makeHistory(value: unknown, place: string): Body[] {
    const entries: unknown[] = Array.isArray(value) ? value : [value];
    return entries.map((entry, index) => {
      const where = `${place}[${index}]`;
      if (!isObject(entry))
        throw new ShapeError(where, 'must be an object with typ_zmeny, uzivatel and datum_zmeny');
      const {
        id = this.makeNumberedId('hist'),
        datum_zmeny,
        uzivatel,
        poznamka,
        typ_zmeny,
        ...rest
      } = entry;
      const [unknown] = Object.keys(rest);
      if (unknown !== undefined) throw new ShapeError(where, `has an unknown key "${unknown}"`);
      return this.makeBody({ id, datum_zmeny, uzivatel, poznamka, typ_zmeny }, where);
    });
  }

  /** Returns the next internal identifier of a kind, such as `hist-12`. */
  makeNumberedId(kind: string): string {
    const next = (this.#lastNumbers.get(kind) ?? 0) + 1;
    this.#lastNumbers.set(kind, next);
    return `${kind}-${next}`;
  }

  #makeRepeated(key: string, item: unknown, index: number, place: string): string | Body {
    const single = this.#makeSingle(key, item, place);
    if (typeof single === 'string' || !NUMBERED.has(key)) return single;
    const { '#': text = '', ...attributes } = single;
    return { ...attributes, '@poradi': String(index + 1), '#': text };
  }

  #makeSingle(key: string, item: unknown, place: string): string | Body {
    if (typeof item === 'number' || typeof item === 'boolean') return String(item);
    if (isObject(item)) return this.makeBody(item, place);
    if (typeof item !== 'string')
      throw new ShapeError(place, 'must be a text, a number, true or false, an object or a list');
    if (key.startsWith('@') || key === '#' || IDENTIFYING.has(key)) return item;
    return REFERENCE.test(item) || REFERRING.has(key) ? this.to(item, place) : item;
  }
}

/** Makes a text with its `xml:lang`. */
export function makeLanguageText(language: 'cs' | 'en', text: string): Body {
  return { '@lang': language, '#': text };
}
