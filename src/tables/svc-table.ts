import { errorIssue, type Issue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { FIELDS, type Field } from '../find/fields.ts';
import { FORBIDDEN_TEXT } from '../find/harvested-find.ts';
import { NEW_PERSON } from '../find/resolve-reference.ts';
import { attributeOf, childOf, childText, lineCounter, type XmlElement } from '../xml/element.ts';
import type { XmlWalk } from '../xml/parse.ts';
import { strayTextMessage, strayTextsIn } from '../xml/source-text.ts';
import { FINDS_NAMESPACE } from './export-text.ts';
import { type NamedValues, tableOfRecords } from './record-table.ts';
import type { Table } from './table.ts';

/** `{schema_base}/<x.y>/`; the base differs per deployment. */
const SERVICE_NAMESPACE = /\/\d+\.\d+\/$/;

const FINDS = new Set(['samostatny_nalez']);

/**
 * Reads finds in the service's own form anywhere in a document: an import document, a page of a harvest, a file of harvested
 * records, or the output of `pas export`, which adds local id and photographs.
 * @returns undefined where the document has no finds of the service
 * @throws XmlSyntaxError
 */
export function readFindRecords(file: string, document: XmlWalk): Table | undefined {
  const place = { file, unit: 'find' } as const;
  const records = function* (): Generator<NamedValues | Issue> {
    const lineOf = lineCounter(document);
    let row = 0;
    for (const { element: find, around } of document.parts(FINDS)) {
      if (!SERVICE_NAMESPACE.test(find.namespace) || around.at(-1)?.namespace !== find.namespace) continue;
      row += 1;
      const where = { row, line: lineOf(find.start) };
      const guarded = childOf(find, 'chranene_udaje');
      const parts = [find, ...find.children, ...(guarded?.children ?? [])];
      const [stray] = parts.flatMap((part) => [...strayTextsIn(document, part)]);
      if (guarded?.text.trim() === FORBIDDEN_TEXT) {
        const message = msg`The location of the find is hidden in the harvested record, so the find is not read.`;
        yield errorIssue('place-withheld', message, { ...place, ...where });
      } else if (stray !== undefined) {
        yield errorIssue('stray-text', strayTextMessage(stray), { ...place, ...where, line: lineOf(stray.start) });
      } else {
        const wrapper = around.findLast(({ name, namespace }) => namespace === FINDS_NAMESPACE && name === 'find');
        yield { ...where, values: valuesOf(find, guarded, wrapper) };
      }
    }
  };
  const table = tableOfRecords(place, { [Symbol.iterator]: records }, []);
  return table.rowCount > 0 || table.issues.length > 0 ? table : undefined;
}

function valuesOf(find: XmlElement, guarded: XmlElement | undefined, wrapper: XmlElement | undefined): Map<string, string> {
  const values = new Map<string, string>();
  const take = (name: string, text: string | undefined): void => {
    if (text !== undefined && text !== '') values.set(name, text);
  };
  const added = (name: string): string | undefined => (wrapper === undefined ? undefined : attributeOf(wrapper, name));
  take('local_id', added('local_id'));
  // The import document itself always requests a new identifier.
  take('ident_cely', added('ident_cely') ?? childText(find, 'ident_cely'));
  for (const field of FIELDS) {
    const parent = field.parent === undefined ? find : guarded;
    const element = parent === undefined ? undefined : childOf(parent, field.name);
    if (element !== undefined) take(field.name, textOf(field, element));
  }
  take('photos', added('photos'));
  return values;
}

/** Returns the identifier of a reference, or the name of a new person. */
function textOf(field: Field, element: XmlElement): string {
  if (field.kind !== 'reference' && field.kind !== 'term') return element.text.trim();
  const id = attributeOf(element, 'id')?.trim() ?? '';
  return id === NEW_PERSON ? element.text.trim() : id;
}
