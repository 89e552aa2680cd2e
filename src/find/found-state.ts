import { hash } from 'node:crypto';
import { trimText } from '../text/characters.ts';
import { type ElementName, FIELDS, type Field, type FindElements, pointElement } from './fields.ts';
import { type HarvestedElements, nameKey } from './harvested-find.ts';
import { NEW_PERSON } from './resolve-reference.ts';

/** Elements that describe what happened to a find since, not the find itself. */
const SINCE_FOUND: readonly ElementName[] = ['evidencni_cislo', 'stav', 'predano', 'predano_organizace'];

/** Tells if an element describes the find itself. */
export function isAsFound(element: ElementName): boolean {
  return !SINCE_FOUND.includes(element);
}

const FIELDS_AS_FOUND = FIELDS.filter(({ name }) => isAsFound(name));

/** `open`: without protected elements, for records that the reader sees without them. */
type AsFoundForm = 'full' | 'open';

type Elements = FindElements | HarvestedElements;
type Value = Elements[ElementName];

/**
 * Returns the digest of a find as it was found, equal for a find and for the service's record of it: hexadecimal SHA-256 of
 * canonical JSON. A finder given by name has an identifier only in the record, so the caller compares also with the record's
 * digest by name.
 */
export function asFoundDigest(elements: Elements, form: AsFoundForm): string {
  const values: unknown[] = [];
  for (const field of FIELDS_AS_FOUND) {
    if (form === 'open' && field.parent !== undefined) continue;
    const value = canonicalValue(field, elements);
    if (value !== null) values.push([field.name, value]);
  }
  return hash('sha256', JSON.stringify(values), 'hex');
}

/** Returns the canonical value; null where the element is absent, or has the value that stands for absence. */
function canonicalValue(field: Field, elements: Elements): string | number | readonly number[] | true | null {
  const value = elements[field.name];
  switch (field.kind) {
    case 'reference':
    case 'term':
      return canonicalReference(value);
    case 'boolean':
      return value === true || value === 'true' || value === '1' ? true : null;
    case 'integer':
    case 'state':
      return canonicalInteger(value);
    case 'point': {
      const { geom_system: system } = elements;
      const isCounted = (system === '4326' || system === '5514') && pointElement(system) === field.name;
      return isCounted ? numbersIn(canonicalText(value)) : null;
    }
    case 'text':
    case 'date':
    case 'geom-system':
      return canonicalText(value);
  }
}

function canonicalReference(value: Value): string | null {
  if (typeof value !== 'object') return canonicalText(value);
  return value.id === NEW_PERSON ? `${NEW_PERSON} ${nameKey(value.text.normalize('NFC'))}` : canonicalText(value.id);
}

function canonicalInteger(value: Value): number | string | null {
  const text = canonicalText(value);
  const number = Number(text);
  return text === null || Number.isNaN(number) ? text : number;
}

function canonicalText(value: Value): string | null {
  if (value === undefined || typeof value === 'object') return null;
  const text = trimText(String(value).normalize('NFC').replace(/\r\n?/g, '\n'));
  return text === '' ? null : text;
}

function numbersIn(wkt: string | null): readonly number[] | null {
  return (wkt ?? '').match(/-?\d+(?:\.\d+)?/g)?.map(Number) ?? null;
}
