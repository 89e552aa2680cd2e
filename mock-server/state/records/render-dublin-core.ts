import type { Addresses } from '../../base/addresses.ts';
import { type Body, type Entity, getIdent, getList } from './record.ts';
import { escapeAttribute, escapeText, FORBIDDEN } from './render.ts';
import { DUBLIN_CORE, type Mapping } from './render-dublin-core-table.ts';

/** Licence of all records (B-VERB-2). */
export const RIGHTS = 'https://creativecommons.org/licenses/by-nc/4.0/';
const PUBLISHER = 'Archeologický informační systém (mock)';

type DublinCoreOptions = {
  /**
   * As the deployed service: one `oai_dc:dc` inside another, its own spelling, gaps where something
   * is masked.
   */
  readonly deployed: boolean;
};

/** Renders a record in unqualified Dublin Core (B-DC-1 to B-DC-3), without absent values. */
export function renderDublinCore(
  body: Body,
  entity: Entity,
  addresses: Addresses,
  options: DublinCoreOptions,
): string {
  const { title, subject, mappings } = DUBLIN_CORE[entity];
  const ident = getIdent(entity, body) ?? '';
  const getAddress = (id: string): string => `${addresses.idBase}/${id}`;
  const elements = [
    renderElement('title', `${title} ${ident}`, 'cs'),
    renderElement('identifier', ident),
    renderElement('subject', subject, 'cs'),
    ...mappings.flatMap((mapping) => mapElements(body, mapping, getAddress, options)),
    ...(options.deployed && entity === 'projekt' && body['chranene_udaje'] === FORBIDDEN
      ? [renderElement('coverage', getAddress(''))]
      : []),
    renderElement('format', 'application/xml'),
    renderElement('rights', RIGHTS),
    renderElement('publisher', PUBLISHER, 'cs'),
    renderElement('source', getAddress(ident)),
  ];
  return renderContainer(elements.join(''), options).replaceAll('{file_base}', addresses.fileBase);
}

/** Renders the placeholder of a record that the caller may not see. */
export function renderForbiddenDublinCore(options: DublinCoreOptions): string {
  return renderContainer(options.deployed ? FORBIDDEN : renderElement('type', FORBIDDEN), options);
}

/** Renders the Dublin Core description of a repository or a set. */
export function renderDescription(
  elements: ReadonlyArray<readonly [name: string, text: string, language?: 'cs' | 'en']>,
): string {
  return renderContainer(
    elements.map(([name, text, language]) => renderElement(name, text, language)).join(''),
    {
      deployed: false,
    },
  );
}

function renderContainer(content: string, { deployed }: DublinCoreOptions): string {
  const start =
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/"' +
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/oai_dc/' +
    ' http://www.openarchives.org/OAI/2.0/oai_dc.xsd">';
  return deployed
    ? `${start}${start}${content}</oai_dc:dc></oai_dc:dc>`
    : `${start}${content}</oai_dc:dc>`;
}

function renderElement(name: string, text: string, language?: string): string {
  const attribute = language === undefined ? '' : ` xml:lang="${escapeAttribute(language)}"`;
  return `<dc:${name}${attribute}>${escapeText(text)}</dc:${name}>`;
}

function mapElements(
  body: Body,
  mapping: Mapping,
  address: (id: string) => string,
  { deployed }: DublinCoreOptions,
): string[] {
  const label = deployed ? (mapping.deployedLabel ?? mapping.label) : mapping.label;
  return collectValuesAt(body, mapping.path.split('/')).flatMap((value) => {
    if (mapping.as === 'coordinates')
      return collectCoordinates(value).map((text) => renderElement(mapping.to, text));
    if (mapping.as === 'address') {
      const id = typeof value === 'string' ? undefined : value['@id'];
      return typeof id === 'string' && id !== '' ? [renderElement(mapping.to, address(id))] : [];
    }
    const text = typeof value === 'string' ? value : value['#'];
    if (typeof text !== 'string' || text === '') return [];
    const language = typeof value === 'string' ? undefined : value['@lang'];
    const code = typeof language === 'string' ? language : undefined;
    return [
      renderElement(
        mapping.to,
        label === undefined ? text : label + text,
        label === undefined ? code : (code ?? detectLanguage(label)),
      ),
    ];
  });
}

/**
 * Returns the language of a label: Czech words before a colon; undefined for a prefix such as
 * `doi:`.
 */
function detectLanguage(label: string): string | undefined {
  return label.endsWith(': ') ? 'cs' : undefined;
}

/** Collects all values of a path; a masked part has none. */
function collectValuesAt(
  body: Body,
  [name, ...rest]: readonly string[],
): ReadonlyArray<string | Body> {
  const values = name === undefined ? [] : getList(body[name]);
  if (rest.length === 0) return values;
  return values.flatMap((value) => (typeof value === 'string' ? [] : collectValuesAt(value, rest)));
}

function collectCoordinates(value: string | Body): string[] {
  if (typeof value === 'string') return [];
  return Object.entries(value).flatMap(([name, child]) =>
    name === 'gml:coordinates' && typeof child === 'string'
      ? [child]
      : getList(child).flatMap(collectCoordinates),
  );
}
