import { errorIssue, type Issue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { FIELDS, type Field } from '../find/fields.ts';
import { FORBIDDEN_TEXT } from '../find/harvested-find.ts';
import { NEW_PERSON } from '../find/resolve-reference.ts';
import { attributeOf, childOf, childText, lineCounter, type XmlDocument, type XmlElement } from '../xml/element.ts';
import { strayTextMessage, strayTextsIn } from '../xml/stray-text.ts';
import { FINDS_NAMESPACE } from './export-text.ts';
import { type NamedValues, tableOfRecords } from './record-table.ts';
import type { Table } from './table.ts';

/** `{schema_base}/<x.y>/`; the base is each deployment's own. */
const SERVICE_NAMESPACE = /\/\d+\.\d+\/$/;

type Met = { readonly find: XmlElement; readonly wrapper: XmlElement | undefined };

/**
 * Reads finds in the service's own form, wherever in a document they stand: an import document, a page of a harvest, a file of
 * harvested records, or what `pas export` wrote, which adds the local id and the photographs to each.
 *
 * @returns undefined where there are no finds of the service in the document
 */
export function readFindRecords(file: string, document: XmlDocument): Table | undefined {
  const finds = [...findsIn(document.root, undefined, undefined)];
  if (finds.length === 0) return undefined;
  const place = { file, unit: 'find' } as const;
  const lineOf = lineCounter(document);
  const records: (NamedValues | Issue)[] = [];
  finds.forEach(({ find, wrapper }, index) => {
    const where = { row: index + 1, line: lineOf(find.start) };
    const guarded = childOf(find, 'chranene_udaje');
    if (guarded?.text.trim() === FORBIDDEN_TEXT) {
      const message = msg`The place of the find was withheld from whoever harvested the record. It is not read without it.`;
      records.push(errorIssue('place-withheld', message, { ...place, ...where }));
      return;
    }
    const parts = [find, ...find.children, ...(guarded?.children ?? [])];
    const [stray] = parts.flatMap((part) => [...strayTextsIn(document, part)]);
    if (stray !== undefined) {
      records.push(errorIssue('stray-text', strayTextMessage(stray), { ...place, ...where, line: stray.line }));
      return;
    }
    records.push({ ...where, values: valuesOf(find, guarded, wrapper) });
  });
  return tableOfRecords(place, records, []);
}

function* findsIn(element: XmlElement, parent: XmlElement | undefined, wrapper: XmlElement | undefined): Generator<Met> {
  const { name, namespace } = element;
  if (name === 'samostatny_nalez' && SERVICE_NAMESPACE.test(namespace) && parent?.namespace === namespace) {
    yield { find: element, wrapper };
    return;
  }
  const inner = namespace === FINDS_NAMESPACE && name === 'find' ? element : wrapper;
  for (const child of element.children) yield* findsIn(child, element, inner);
}

function valuesOf(find: XmlElement, guarded: XmlElement | undefined, wrapper: XmlElement | undefined): Map<string, string> {
  const values = new Map<string, string>();
  const take = (name: string, text: string | undefined): void => {
    if (text !== undefined && text !== '') values.set(name, text);
  };
  const added = (name: string): string | undefined => (wrapper === undefined ? undefined : attributeOf(wrapper, name));
  take('local_id', added('local_id'));
  // The import document itself always asks for a new identifier.
  take('ident_cely', added('ident_cely') ?? childText(find, 'ident_cely'));
  for (const field of FIELDS) {
    const parent = field.parent === undefined ? find : guarded;
    const element = parent === undefined ? undefined : childOf(parent, field.name);
    if (element !== undefined) take(field.name, textOf(field, element));
  }
  take('photos', added('photos'));
  return values;
}

/** Of what refers to something only the identifier counts, but for a person whom the service may not know. */
function textOf(field: Field, element: XmlElement): string {
  if (field.kind !== 'reference' && field.kind !== 'term') return element.text.trim();
  const id = attributeOf(element, 'id')?.trim() ?? '';
  return id === NEW_PERSON ? element.text.trim() : id;
}
