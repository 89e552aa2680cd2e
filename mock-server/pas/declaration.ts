import type { XmlDocument } from 'libxml2-wasm';
import { type Addresses, NEWEST_VERSION, namespaceOf, xsdAddressOf } from '../addresses.ts';
import type { Say } from '../messages.ts';
import type { Mock } from '../mock.ts';
import { namespaceOnRoot } from '../xml-tree.ts';
import { refusal } from './refusal.ts';

const XSI = 'http://www.w3.org/2001/XMLSchema-instance';

/**
 * The declared schema must be the supported one, in the spelling that the service knows: its prefix bound on the root,
 * and the exact pair in `xsi:schemaLocation` (A-DECLARE-2, A-DECLARE-3). Pairs of other namespaces may stand beside it.
 * @param used the addresses by which the client reached the server; a document may name the server's own as well
 * @returns those that the document names
 * @throws HttpError 422
 */
export function checkDeclaration(mock: Mock, used: Addresses, document: XmlDocument, say: Say): Addresses {
  const { prefix } = used;
  const bound = namespaceOnRoot(document, prefix);
  const named = [used, mock.addresses].find((addresses) => namespaceOf(addresses, NEWEST_VERSION) === bound);
  if (named === undefined) throw refusal(422, say('schema-prefix', prefix, namespaceOf(used, NEWEST_VERSION)));
  const xsd = xsdAddressOf(named, NEWEST_VERSION);
  const location = document.root.attrs.find(
    (attribute) => attribute.name === 'schemaLocation' && attribute.namespaceUri === XSI,
  )?.value;
  const tokens = (location ?? '').split(/\s+/).filter((token) => token !== '');
  if (tokens.length === 0) throw refusal(422, say('schema-location-missing'));
  if (tokens.length % 2 === 1) throw refusal(422, say('schema-location-odd'));
  const pairs = tokens.flatMap((token, index) => (index % 2 === 0 ? [[token, tokens[index + 1]]] : []));
  // Of a namespace that stands there twice the last pair counts.
  const declared = pairs.findLast(([name]) => name === bound)?.[1];
  if (declared !== xsd) throw refusal(422, say('schema-location-wrong', xsd));
  const allowed = mock.settings.allowed_schema_versions;
  // An empty list restricts as little as none.
  const isRefused = allowed !== null && allowed.length > 0 && !allowed.includes(NEWEST_VERSION);
  if (isRefused) throw refusal(422, say('schema-version', NEWEST_VERSION));
  return named;
}
