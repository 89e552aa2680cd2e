import { type Check, harvests, must, mustBeSame, skipUnless } from '../check.ts';
import {
  askOai,
  fetchPage,
  firstPage,
  getEntity,
  getError,
  getIdent,
  type HarvestedRecord,
  harvestSchemaBase,
  isRefused,
  nativeFormat,
  oai,
  oaiBase,
  type Page,
  readOai,
  VERSIONS,
  type Version,
  wholeList,
} from '../harvest.ts';
import { isRedirect } from '../line.ts';
import type { Scene } from '../scene.ts';
import { fetchSchema, mustBeValid } from '../schema.ts';
import { at, listAll, textAt, writeXml } from '../xml.ts';

// Lists, pages and records of an anonymous reader: B-RECORD, B-TOKEN and B-DATE.

const ENTITY_SETS = (
  'projekt archeologicky_zaznam let adb dokument ext_zdroj pian samostatny_nalez ' +
  'heslo ruian_kraj ruian_okres ruian_katastr organizace osoba'
).split(' ');
const DC_FIELDS =
  'title creator subject description publisher contributor date type format identifier source language relation coverage rights'.split(
    ' ',
  );
const DC_NAMESPACE = 'http://purl.org/dc/elements/1.1/';
/** Sets that are long enough for several pages in most deployments, the longest last. */
const LONG_SETS = ['ruian_katastr', 'heslo', 'osoba'];
const DATESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

async function fetchReadable(
  scene: Scene,
  set: string,
  version: Version = '2.2',
): Promise<HarvestedRecord[]> {
  const { records } = await firstPage(scene, set, version);
  return records.filter((record) => getEntity(record) !== undefined);
}

/** A set whose list has several pages, but not too many to be read as a whole. */
function longList(scene: Scene): Promise<readonly Page[]> {
  return scene.given('a list of several pages', async () => {
    for (const set of LONG_SETS) {
      const query = `metadataPrefix=oai_dc&set=${set}`;
      const first = await fetchPage(scene, `verb=ListIdentifiers&${query}`);
      const { length } = first.records;
      if (first.token !== undefined && first.token.completeListSize <= length * 10)
        return wholeList(scene, 'ListIdentifiers', query);
    }
    skipUnless(false, 'no list has more than one page and less than ten');
    return [];
  });
}

function ofDay(datestamp: string): string {
  return datestamp.slice(0, 'YYYY-MM-DD'.length);
}

function toSecond(datestamp: string): string {
  return `${datestamp.slice(0, 'YYYY-MM-DDThh:mm:ss'.length)}Z`;
}

/** A record of a vocabulary that does not change during the test. */
async function someTerm(scene: Scene): Promise<HarvestedRecord> {
  const [record] = await fetchReadable(scene, 'heslo');
  skipUnless(record !== undefined, 'no vocabulary entry can be read');
  return record;
}

export const RECORD_CHECKS: readonly Check[] = [
  harvests(
    'headers',
    'B-RECORD-1',
    'each header has its identifier under /id/, a UTC datestamp and a set',
    async (scene) => {
      for (const set of ENTITY_SETS) {
        for (const { identifier, datestamp, sets, isDeleted } of (await firstPage(scene, set))
          .records) {
          must(identifier.startsWith(`${oaiBase(scene)}/id/`), `identifier ${identifier}`);
          must(DATESTAMP.test(datestamp), `${identifier}: datestamp ${datestamp}`);
          must(sets.length > 0 || isDeleted, `${identifier}: no setSpec`);
        }
      }
    },
  ),
  harvests(
    'set-is-kept-to',
    'B-VERB-11',
    'a list of a set holds records of that set or its subsets alone',
    async (scene) => {
      for (const set of [...ENTITY_SETS, 'heslo:obdobi', 'archeologicky_zaznam:akce']) {
        const astray = (await firstPage(scene, set)).records.filter(
          ({ sets }) =>
            sets.length > 0 && !sets.some((each) => each === set || each.startsWith(`${set}:`)),
        );
        must(astray.length === 0, `${set}: ${astray[0]?.identifier} is of ${astray[0]?.sets}`);
      }
    },
  ),
  ...VERSIONS.map((version) =>
    harvests(
      `native-root-${version}`,
      'B-RECORD-3',
      `one entity under the root, in the namespace of ${version}`,
      async (scene) => {
        const namespace = `${await harvestSchemaBase(scene)}/${version}/`;
        for (const set of ENTITY_SETS) {
          for (const { identifier, metadata } of (await firstPage(scene, set, version)).records) {
            if (metadata === undefined || isRefused(metadata)) continue;
            must(
              metadata.name === scene.options.prefix && metadata.namespace === namespace,
              `${identifier}: root {${metadata.namespace}}${metadata.name}`,
            );
            mustBeSame(
              metadata.children.map(({ name }) => name),
              [set],
              `${identifier}: entities`,
            );
            must(
              metadata.children.length === 1,
              `${identifier}: ${metadata.children.length} entities`,
            );
          }
        }
      },
    ),
  ),
  ...VERSIONS.map((version) =>
    harvests(
      `valid-${version}`,
      'S-VERSION-6',
      `records are valid by the schema of ${version}`,
      async (scene) => {
        const schema = await fetchSchema(
          scene.line,
          `${await harvestSchemaBase(scene)}/${version}/${scene.options.prefix}.xsd`,
        );
        const documents = new Map<string, string>();
        for (const set of ENTITY_SETS)
          for (const { identifier, metadata } of (await firstPage(scene, set, version)).records)
            if (metadata !== undefined) documents.set(identifier, writeXml(metadata));
        skipUnless(documents.size > 0, 'no record can be read');
        await mustBeValid(schema, documents);
      },
    ),
  ),
  harvests(
    'newest-schema-behind-the-generic-endpoint',
    'S-VERSION-5',
    'what the generic endpoint leads to are records of the newest schema',
    async (scene) => {
      const term = await someTerm(scene);
      const query = `verb=GetRecord&metadataPrefix=${nativeFormat(scene)}&identifier=${encodeURIComponent(term.identifier)}`;
      const answer = await scene.line.ask({ url: `${oaiBase(scene)}/oai?${query}` });
      must(isRedirect(answer.status), `${answer.status}`);
      const url = new URL(answer.headers.get('location') ?? '', oaiBase(scene)).href;
      const root = await readOai(await scene.line.ask({ url }));
      const namespace = at(root, 'GetRecord', 'record', 'metadata')?.children[0]?.namespace;
      must(namespace === `${await harvestSchemaBase(scene)}/2.2/`, `namespace ${namespace}`);
    },
  ),
  harvests(
    'dublin-core',
    'B-RECORD-3',
    'unqualified Dublin Core with title and identifier',
    async (scene) => {
      for (const set of ['heslo', 'samostatny_nalez', 'osoba']) {
        const readable = new Set(
          (await fetchReadable(scene, set)).map(({ identifier }) => identifier),
        );
        for (const { identifier, metadata } of (await firstPage(scene, set, '2.2', 'oai_dc'))
          .records) {
          if (metadata === undefined || !readable.has(identifier)) continue;
          const fields = DC_FIELDS.concat('dc')
            .flatMap((name) => listAll(metadata, name))
            .filter(({ children }) => children.length === 0);
          must(metadata.name === 'dc', `${identifier}: root ${metadata.name}`);
          must(
            fields.every(({ namespace }) => namespace === DC_NAMESPACE),
            `${identifier}: a field of another namespace`,
          );
          const names = new Set(fields.map(({ name }) => name));
          must(names.has('title') && names.has('identifier'), `${identifier}: only ${[...names]}`);
        }
      }
    },
  ),
  harvests(
    'vocabulary-identifiers',
    'S-SERVICE-4',
    'each vocabulary entry is HES- and digits',
    async (scene) => {
      const odd = (await fetchReadable(scene, 'heslo')).filter(
        (record) =>
          !/^HES-\d+$/.test(textAt(getEntity(record), 'ident_cely') ?? '') ||
          textAt(getEntity(record), 'ident_cely') !== getIdent(record),
      );
      must(
        odd.length === 0,
        `${odd[0]?.identifier} holds ${textAt(odd[0] && getEntity(odd[0]), 'ident_cely')}`,
      );
    },
  ),
  harvests(
    'identifiers-as-records',
    'B-VERB-6',
    'ListIdentifiers lists the headers of ListRecords',
    async (scene) => {
      const getKey = ({ identifier, datestamp }: HarvestedRecord): string =>
        `${identifier} ${datestamp}`;
      for (const set of ['samostatny_nalez', 'organizace']) {
        const page = await fetchPage(
          scene,
          `verb=ListIdentifiers&metadataPrefix=${nativeFormat(scene)}&set=${set}`,
        );
        must(
          page.records.every(({ metadata }) => metadata === undefined),
          `${set}: metadata in a list of headers`,
        );
        mustBeSame(
          page.records.map(getKey),
          (await firstPage(scene, set)).records.map(getKey),
          set,
        );
      }
    },
  ),
  harvests(
    'get-record',
    'B-VERB-8',
    'the record that was asked for, in either format, as it is listed',
    async (scene) => {
      const term = await someTerm(scene);
      for (const format of ['oai_dc', nativeFormat(scene)]) {
        const { records } = await fetchPage(
          scene,
          `verb=GetRecord&metadataPrefix=${format}&identifier=${encodeURIComponent(term.identifier)}`,
        );
        must(
          records.length === 1 && records[0]?.identifier === term.identifier,
          `${records.length} records, ${records[0]?.identifier}`,
        );
        must(
          records[0]?.datestamp === term.datestamp,
          `datestamp ${records[0]?.datestamp}, listed under ${term.datestamp}`,
        );
        must(
          (records[0]?.metadata?.name === 'dc') === (format === 'oai_dc'),
          `${format}: root ${records[0]?.metadata?.name}`,
        );
      }
    },
  ),
  harvests(
    'record-address',
    'B-VERB-9',
    'the address of a record leads to it in the native format',
    async (scene) => {
      const term = await someTerm(scene);
      let answer = await scene.line.ask({ url: term.identifier });
      for (let steps = 0; isRedirect(answer.status) && steps < 3; steps += 1)
        answer = await scene.line.ask({
          url: new URL(answer.headers.get('location') ?? '', oaiBase(scene)).href,
        });
      const root = await readOai(answer);
      must(
        textAt(root, 'GetRecord', 'record', 'header', 'identifier') === term.identifier,
        `error ${getError(root) ?? 'none'}`,
      );
      must(
        at(root, 'GetRecord', 'record', 'metadata')?.children[0]?.name === scene.options.prefix,
        'not in the native format',
      );
    },
  ),
  harvests('formats-of-a-record', 'B-VERB-3', 'a record has both formats', async (scene) => {
    const root = await oai(
      scene,
      `verb=ListMetadataFormats&identifier=${encodeURIComponent((await someTerm(scene)).identifier)}`,
    );
    mustBeSame(
      listAll(root, 'metadataPrefix').map(({ text }) => text),
      ['oai_dc', nativeFormat(scene)],
      'formats',
    );
  }),
  harvests(
    'token-attributes',
    'B-TOKEN-2',
    'a token has completeListSize, an expirationDate to come, and cursor 0 on the first page',
    async (scene) => {
      const token = (await longList(scene))[0]?.token;
      skipUnless(token !== undefined, 'no token');
      must(
        Number.isInteger(token.completeListSize) && token.completeListSize > 0,
        `completeListSize ${token.completeListSize}`,
      );
      must(token.cursor === 0, `cursor ${token.cursor}`);
      must(DATESTAMP.test(token.expirationDate), `expirationDate ${token.expirationDate}`);
      const root = await oai(scene, 'verb=Identify');
      must(
        Date.parse(token.expirationDate) > Date.parse(textAt(root, 'responseDate') ?? ''),
        `expired since ${token.expirationDate}`,
      );
    },
  ),
  harvests(
    'cursor',
    'B-TOKEN-3',
    'cursor is the position of the page in the whole list',
    async (scene) => {
      let position = 0;
      for (const { records, token } of await longList(scene)) {
        must(
          token === undefined || token.cursor === position,
          `cursor ${token?.cursor} after ${position} records`,
        );
        position += records.length;
      }
    },
  ),
  harvests(
    'pages-make-the-list',
    'B-TOKEN-1',
    'the pages together hold completeListSize records, each once',
    async (scene) => {
      const pages = await longList(scene);
      const identifiers = pages.flatMap(({ records }) =>
        records.map(({ identifier }) => identifier),
      );
      const size = pages[0]?.token?.completeListSize ?? 0;
      must(new Set(identifiers).size === identifiers.length, 'a record is on two pages');
      must(identifiers.length === size, `${identifiers.length} records, completeListSize ${size}`);
      must(
        pages.every(({ error }) => error === undefined),
        `error ${pages.find(({ error }) => error !== undefined)?.error}`,
      );
    },
  ),
  harvests(
    'list-size-stays',
    'B-TOKEN-4',
    'completeListSize is the total on each page',
    async (scene) => {
      const sizes = (await longList(scene)).flatMap(({ token }) =>
        token === undefined ? [] : [String(token.completeListSize)],
      );
      must(new Set(sizes).size === 1, `sizes ${[...new Set(sizes)]}`);
    },
  ),
  harvests(
    'from-and-until',
    'B-DATE-1',
    'from and until let through what was changed between them, the bounds included',
    async (scene) => {
      const all = (await firstPage(scene, 'samostatny_nalez')).records.toSorted((a, b) =>
        a.datestamp.localeCompare(b.datestamp),
      );
      const middle = all[Math.floor(all.length / 2)];
      skipUnless(middle !== undefined && all.length > 2, 'fewer than three finds are listed');
      const second = toSecond(middle.datestamp);
      const query = `verb=ListIdentifiers&metadataPrefix=oai_dc&set=samostatny_nalez`;
      const since = await fetchPage(scene, `${query}&from=${second}`);
      const before = await fetchPage(scene, `${query}&until=${second}`);
      must(
        since.records.every(({ datestamp }) => toSecond(datestamp) >= second),
        `from ${second}: ${since.records.at(-1)?.datestamp}`,
      );
      must(
        before.records.every(({ datestamp }) => toSecond(datestamp) <= second),
        `until ${second}: ${before.records[0]?.datestamp}`,
      );
      must(
        since.token !== undefined ||
          since.records.some(({ identifier }) => identifier === middle.identifier),
        `from ${second} leaves out ${middle.identifier}`,
      );
      const later = await fetchPage(
        scene,
        `${query}&until=${toSecond(new Date(Date.parse(second) + 1000).toISOString())}`,
      );
      must(
        later.token !== undefined ||
          later.records.some(({ identifier }) => identifier === middle.identifier),
        `until a second later leaves out ${middle.identifier}`,
      );
    },
  ),
  harvests('plain-dates', 'B-DATE-1', 'a plain date is a whole day', async (scene) => {
    const [term] = (await firstPage(scene, 'organizace')).records;
    skipUnless(term !== undefined, 'no organisation is listed');
    const day = ofDay(term.datestamp);
    const page = await fetchPage(
      scene,
      `verb=ListIdentifiers&metadataPrefix=oai_dc&set=organizace&from=${day}&until=${day}`,
    );
    must(
      page.records.every(({ datestamp }) => ofDay(datestamp) === day),
      `${day}: ${page.records.map(({ datestamp }) => datestamp)}`,
    );
    must(
      page.token !== undefined ||
        page.records.some(({ identifier }) => identifier === term.identifier),
      `${day} leaves out ${term.identifier}`,
    );
  }),
  harvests(
    'nothing-before-the-earliest',
    'B-VERB-2',
    'no record is older than earliestDatestamp',
    async (scene) => {
      const earliest =
        textAt(await oai(scene, 'verb=Identify'), 'Identify', 'earliestDatestamp') ?? '';
      const until = toSecond(new Date(Date.parse(earliest) - 1000).toISOString());
      const page = await fetchPage(
        scene,
        `verb=ListIdentifiers&metadataPrefix=oai_dc&until=${until}`,
      );
      must(
        page.records.length === 0,
        `${page.records[0]?.identifier} of ${page.records[0]?.datestamp}`,
      );
      must(page.error === 'noRecordsMatch', `error ${page.error}`);
    },
  ),
  harvests(
    'deleted-records',
    'B-DATE-3',
    'a deleted record stays listed with status deleted, a datestamp and no metadata',
    async (scene) => {
      const pages = [
        ...(await Promise.all(ENTITY_SETS.map((set) => firstPage(scene, set)))),
        await fetchPage(scene, `verb=ListRecords&metadataPrefix=${nativeFormat(scene)}`),
      ];
      const deleted = pages.flatMap(({ records }) => records).filter(({ isDeleted }) => isDeleted);
      skipUnless(deleted.length > 0, 'no deleted record is listed on the first pages');
      const [first] = deleted;
      must(
        deleted.every(({ metadata }) => metadata === undefined),
        `${deleted.find(({ metadata }) => metadata !== undefined)?.identifier} has metadata`,
      );
      const answer = await askOai(
        scene,
        `verb=GetRecord&metadataPrefix=oai_dc&identifier=${encodeURIComponent(first?.identifier ?? '')}`,
      );
      const record = at(await readOai(answer), 'GetRecord', 'record');
      must(at(record, 'metadata') === undefined, 'GetRecord: metadata');
      const header = at(record, 'header');
      must(
        header?.attributes.get('status') === 'deleted',
        `GetRecord: status ${header?.attributes.get('status')}`,
      );
      must(
        textAt(header, 'datestamp') === first?.datestamp,
        `GetRecord: ${textAt(header, 'datestamp')}, listed under ${first?.datestamp}`,
      );
    },
  ),
];
