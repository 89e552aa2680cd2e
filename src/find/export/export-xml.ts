import { elementText, replaceIllegalCharacters } from '../../xml/build.ts';
import { documentNode } from '../document.ts';
import type { DocumentProfile } from '../find.ts';
import type { ExportedFind } from './exported-find.ts';
import { FINDS_NAMESPACE } from './finds-namespace.ts';

/** The import document of each find, in an element that adds what the document has no place for: local id and photographs. */
export function* exportXml(finds: Iterable<ExportedFind>, profile: DocumentProfile): Generator<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<finds xmlns="${FINDS_NAMESPACE}">\n`;
  for (const { localId, identCely, elements, photos } of finds) {
    const attributes = {
      local_id: replaceIllegalCharacters(localId),
      ...(identCely === undefined ? {} : { ident_cely: identCely }),
      ...(photos.length === 0 ? {} : { photos: replaceIllegalCharacters(photos.join(';')) }),
    };
    yield elementText({ name: 'find', attributes, content: [documentNode({ elements }, profile)] }, 1);
  }
  yield '</finds>\n';
}
