import type { OaiRecord } from '../../oai/record.ts';
import { type NamedContent, safeFileName, writeFiles } from '../../store/file-folder.ts';
import { sourceOf, type XmlDocument } from '../../xml/element.ts';
import { listElement } from './list-element.ts';
import type { RecordOutput } from './record-output.ts';

/**
 * A file for each record, as it is now and as it came, in a `ListRecords` that declares what it needs.
 * @param identifierPrefix what all identifiers of the service begin with; the rest names the file
 */
export function filesOutput(folder: string, identifierPrefix: string): RecordOutput {
  return {
    write: ({ document, records }) =>
      writeFiles(
        folder,
        records.map((record) => toFile(document, record, identifierPrefix)),
      ),
    commit: () => {},
    close: async () => {},
  };
}

function toFile(document: XmlDocument, { element, header }: OaiRecord, identifierPrefix: string): NamedContent {
  const { identifier } = header;
  const ident = identifier.startsWith(identifierPrefix) ? identifier.slice(identifierPrefix.length) : identifier;
  return {
    name: safeFileName(ident, '.xml'),
    content: `<?xml version="1.0" encoding="UTF-8"?>\n${listElement(document, `\n${sourceOf(document, element)}\n`)}\n`,
  };
}
