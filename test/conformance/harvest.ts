import { Broken, must, Skipped, shortened, skipUnless } from './check.ts';
import type { Answer } from './line.ts';
import type { Scene } from './scene.ts';
import { at, type Element, listAll, readXml, textAt } from './xml.ts';

export const OAI_NAMESPACE = 'http://www.openarchives.org/OAI/2.0/';
export const REFUSAL = 'HTTP/1.1 403 Forbidden';
export const VERSIONS = ['2.2', '2.1', '2.0'] as const;
export type Version = (typeof VERSIONS)[number];

export type HarvestedRecord = {
  readonly identifier: string;
  readonly datestamp: string;
  readonly sets: readonly string[];
  readonly isDeleted: boolean;
  /** Content of `metadata`; undefined for a header alone. */
  readonly metadata: Element | undefined;
};
export type Token = {
  readonly text: string;
  readonly cursor: number;
  readonly completeListSize: number;
  readonly expirationDate: string;
};
export type Page = {
  readonly records: readonly HarvestedRecord[];
  readonly token: Token | undefined;
  readonly error: string | undefined;
};

export function oaiBase(scene: Scene): string {
  const { oaiBase } = scene.options;
  skipUnless(oaiBase !== undefined, 'needs --oai-base');
  return oaiBase;
}

export function nativeFormat(scene: Scene): string {
  return `oai_${scene.options.prefix}`;
}

/** The bare answer to a query at a versioned endpoint. */
export function askOai(scene: Scene, query: string, version: Version = '2.2'): Promise<Answer> {
  return scene.line.ask({ url: `${oaiBase(scene)}/${version}/oai?${query}` });
}

/** The root of an answer of the protocol. @throws Broken */
export async function oai(scene: Scene, query: string, version: Version = '2.2'): Promise<Element> {
  return readOai(await askOai(scene, query, version));
}

export async function readOai(answer: Answer): Promise<Element> {
  must(answer.status === 200, `${answer.status} ${answer.type}: ${answer.text}`);
  const root = await readXml(answer.text);
  must(
    root.name === 'OAI-PMH' && root.namespace === OAI_NAMESPACE,
    `the root is {${root.namespace}}${root.name}`,
  );
  return root;
}

export function getError(root: Element): string | undefined {
  return at(root, 'error')?.attributes.get('code');
}

/** One page of a list. What the protocol refuses is a page without records. */
export async function fetchPage(
  scene: Scene,
  query: string,
  version: Version = '2.2',
): Promise<Page> {
  return readPage(await oai(scene, query, version));
}

function readPage(root: Element): Page {
  const list = at(root, 'ListRecords') ?? at(root, 'ListIdentifiers') ?? at(root, 'GetRecord');
  const error = getError(root);
  if (list === undefined) {
    must(error !== undefined, `neither a list nor an error: ${root.text}`);
    return { records: [], token: undefined, error };
  }
  // Some wrap the headers of ListIdentifiers in a record, too.
  const records = list.children
    .filter(({ name }) => name === 'record' || name === 'header')
    .map(toRecord);
  const token = at(list, 'resumptionToken');
  return {
    records,
    token: token === undefined || token.text === '' ? undefined : parseToken(token),
    error,
  };
}

function toRecord(element: Element): HarvestedRecord {
  const header = element.name === 'header' ? element : at(element, 'header');
  if (header === undefined)
    throw new Broken(shortened(`a record without a header: ${element.text}`));
  return {
    identifier: textAt(header, 'identifier') ?? '',
    datestamp: textAt(header, 'datestamp') ?? '',
    sets: header.children.filter(({ name }) => name === 'setSpec').map(({ text }) => text),
    isDeleted: header.attributes.get('status') === 'deleted',
    metadata: at(element, 'metadata')?.children[0],
  };
}

function parseToken(element: Element): Token {
  const { attributes, text } = element;
  return {
    text,
    cursor: Number(attributes.get('cursor') ?? Number.NaN),
    completeListSize: Number(attributes.get('completeListSize') ?? Number.NaN),
    expirationDate: attributes.get('expirationDate') ?? '',
  };
}

/**
 * The first page of a set's records, in the native format, asked once in a run.
 * @throws Skipped where it cannot be read
 */
export function firstPage(
  scene: Scene,
  set: string,
  version: Version = '2.2',
  format = nativeFormat(scene),
): Promise<Page> {
  return scene.given(`ListRecords of ${set} in ${format} ${version}`, () =>
    fetchPage(scene, `verb=ListRecords&metadataPrefix=${format}&set=${set}`, version),
  );
}

const MAX_PAGES = 12;

/** All pages of a list that is not too long for a look. @throws Skipped where it is */
export async function wholeList(
  scene: Scene,
  verb: string,
  query: string,
  version: Version = '2.2',
): Promise<Page[]> {
  const pages = [await fetchPage(scene, `verb=${verb}&${query}`, version)];
  for (let token = pages[0]?.token; token !== undefined; token = pages.at(-1)?.token) {
    if (pages.length === MAX_PAGES) throw new Skipped(`the list has more than ${MAX_PAGES} pages`);
    pages.push(
      await fetchPage(
        scene,
        `verb=${verb}&resumptionToken=${encodeURIComponent(token.text)}`,
        version,
      ),
    );
    // Some give a token with the last page, too; it leads to an empty list.
    if (pages.at(-1)?.records.length === 0) break;
  }
  return pages;
}

/** The entity that a record holds; undefined where the refusal stands for it. */
export function getEntity(record: HarvestedRecord): Element | undefined {
  return record.metadata?.children[0];
}

export function isRefused(element: Element | undefined): boolean {
  return element !== undefined && element.children.length === 0 && element.text === REFUSAL;
}

/** The service's own identifier in a header's. */
export function getIdent(record: HarvestedRecord): string {
  return record.identifier.slice(record.identifier.lastIndexOf('/id/') + '/id/'.length);
}

/** Address of the schemas of import documents: as told, or that of the harvest's. */
export async function schemaBase(scene: Scene): Promise<string> {
  return scene.options.schemaBase ?? harvestSchemaBase(scene);
}

/** Address of the schemas that the harvesting interface names. */
export function harvestSchemaBase(scene: Scene): Promise<string> {
  return scene.given('formats', async () => {
    const formats = listAll(await oai(scene, 'verb=ListMetadataFormats'), 'metadataFormat');
    const native = formats.find(
      (format) => textAt(format, 'metadataPrefix') === nativeFormat(scene),
    );
    const namespace = textAt(native, 'metadataNamespace') ?? '';
    if (!namespace.endsWith('/2.2/'))
      throw new Skipped('needs --schema-base: the harvesting interface names no schema');
    return namespace.slice(0, -'/2.2/'.length);
  });
}
