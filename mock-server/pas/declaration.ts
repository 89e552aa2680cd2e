import type { XmlDocument } from 'libxml2-wasm';
import { NEWEST_VERSION, namespaceOf, xsdAddressOf } from '../addresses.ts';
import type { Say } from '../messages.ts';
import type { Mock } from '../mock.ts';
import { namespaceOnRoot } from '../xml-tree.ts';
import { refusal } from './refusal.ts';

const XSI = 'http://www.w3.org/2001/XMLSchema-instance';

/**
 * The declared schema must be the supported one, in the spelling that the service knows: its prefix bound on the root,
 * and the exact pair in `xsi:schemaLocation` (A-DECLARE-2, A-DECLARE-3). Pairs of other namespaces may stand beside it.
 * @throws AnswerNow 422
 */
export function checkDeclaration(mock: Mock, document: XmlDocument, say: Say): void {
  const { prefix } = mock.addresses;
  const namespace = namespaceOf(mock.addresses, NEWEST_VERSION);
  const xsd = xsdAddressOf(mock.addresses, NEWEST_VERSION);
  if (namespaceOnRoot(document, prefix) !== namespace) throw refusal(422, say('schema-prefix', prefix, namespace));
  const location = document.root.attrs.find(
    (attribute) => attribute.name === 'schemaLocation' && attribute.namespaceUri === XSI,
  )?.value;
  const tokens = (location ?? '').split(/\s+/).filter((token) => token !== '');
  if (tokens.length === 0) throw refusal(422, say('schema-location-missing'));
  if (tokens.length % 2 === 1) throw refusal(422, say('schema-location-odd'));
  const pairs = tokens.flatMap((token, index) => (index % 2 === 0 ? [[token, tokens[index + 1]]] : []));
  const declared = pairs.find(([name]) => name === namespace)?.[1];
  if (declared !== xsd) throw refusal(422, say('schema-location-wrong', xsd));
  const allowed = mock.settings.allowed_schema_versions;
  if (allowed !== null && !allowed.includes(NEWEST_VERSION)) throw refusal(422, say('schema-version', NEWEST_VERSION));
}
