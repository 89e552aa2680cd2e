import { type Check, harvests, must, mustBeSame, skipUnless } from '../check.ts';
import {
  askOai,
  getError,
  harvestSchemaBase,
  nativeFormat,
  oai,
  oaiBase,
  readOai,
  VERSIONS,
  type Version,
} from '../harvest.ts';
import { isRedirect } from '../line.ts';
import type { Scene } from '../scene.ts';
import { fetchSchema } from '../schema.ts';
import { at, type Element, listAll, readXml, textAt } from '../xml.ts';

// Self-description of the harvesting interface: B-VERB, B-SET and B-ERROR.

const PLAIN_SETS =
  'projekt archeologicky_zaznam archeologicky_zaznam:akce archeologicky_zaznam:lokalita let adb dokument dokument:3d ext_zdroj pian ' +
  'samostatny_nalez uzivatel heslo ruian_kraj ruian_okres ruian_katastr organizace osoba';
const VOCABULARIES =
  'adb_podnet adb_typ akce_typ akce_typ_kat aktivita areal areal_kat datum_specifikace dohlednost dok_jednotka_typ dokument_format ' +
  'dokument_licence dokument_material dokument_nahrada dokument_rada dokument_typ dokument_ulozeni dokument_zachovalost ext_zdroj_typ ' +
  'jazyk jistota_urceni letfoto_tvar letiste lokalita_druh lokalita_druh_kat lokalita_typ nalez_typ nalezove_okolnosti obdobi obdobi_kat ' +
  'objekt_druh objekt_druh_kat objekt_specifikace objekt_specifikace_kat organizace_typ pamatkova_ochrana pian_presnost pian_typ pocasi ' +
  'posudek_typ posudek_typ_kat predmet_druh predmet_druh_kat predmet_specifikace pristupnost projekt_typ stav_dochovani udalost_typ ' +
  'vyskovy_bod_typ zeme';
const ALL_SETS = [
  ...PLAIN_SETS.split(' '),
  ...VOCABULARIES.split(' ').map((name) => `heslo:${name}`),
];
const SETS_OF_2_0 = PLAIN_SETS.split(' ').filter((name) => name !== 'dokument:3d');
const DC = 'http://www.openarchives.org/OAI/2.0/oai_dc/';

/** The answer to Identify, whose parts several checks look at. */
function identify(scene: Scene): Promise<Element> {
  return scene.given('Identify', async () => {
    const element = at(await oai(scene, 'verb=Identify'), 'Identify');
    must(element !== undefined, 'no Identify element');
    return element;
  });
}

function identifySays(name: string, expected: string | RegExp): Check {
  return harvests(
    `identify-${name}`,
    'B-VERB-2',
    `Identify has ${name}${typeof expected === 'string' ? ` ${expected}` : ''}`,
    async (scene) => {
      const seen = textAt(await identify(scene), name);
      must(
        seen !== undefined &&
          (typeof expected === 'string' ? seen === expected : expected.test(seen)),
        `${name}: ${seen ?? 'none'}`,
      );
    },
  );
}

/** All sets, however many pages they fill. */
async function fetchSets(scene: Scene, version: Version): Promise<Element[]> {
  return scene.given(`ListSets ${version}`, async () => {
    const sets: Element[] = [];
    for (let query = 'verb=ListSets', page = 1; ; page += 1) {
      const list = at(await oai(scene, query, version), 'ListSets');
      must(list !== undefined && page < 20, 'no end to the list of sets');
      sets.push(...listAll(list, 'set'));
      const token = textAt(list, 'resumptionToken') ?? '';
      if (token === '') return sets;
      query = `verb=ListSets&resumptionToken=${encodeURIComponent(token)}`;
    }
  });
}

async function fetchSpecs(scene: Scene, version: Version): Promise<string[]> {
  return (await fetchSets(scene, version)).map((set) => textAt(set, 'setSpec') ?? '');
}

export const REPOSITORY_CHECKS: readonly Check[] = [
  harvests(
    'identify-answers',
    'B-VERB-1',
    'Identify answers with an Identify element',
    async (scene) => {
      const root = await oai(scene, 'verb=Identify');
      must(at(root, 'Identify') !== undefined, `error ${getError(root) ?? 'none'}`);
    },
  ),
  harvests(
    'answers-are-xml',
    'S-SERVICE-6',
    'every verb answers with an XML media type',
    async (scene) => {
      for (const query of [
        'verb=Identify',
        'verb=ListSets',
        'verb=ListMetadataFormats',
        'verb=Nonsense',
      ]) {
        const { type } = await askOai(scene, query);
        must(type === 'text/xml' || type === 'application/xml', `${query}: ${type}`);
      }
    },
  ),
  identifySays('repositoryName', /\S/),
  identifySays('baseURL', /^https?:\/\/\S+\/oai$/),
  identifySays('protocolVersion', '2.0'),
  identifySays('adminEmail', /\S@\S/),
  identifySays('earliestDatestamp', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/),
  identifySays('deletedRecord', 'persistent'),
  identifySays('granularity', 'YYYY-MM-DDThh:mm:ssZ'),
  harvests(
    'identify-rights',
    'B-VERB-2',
    'a rights manifest that points to a non-commercial attribution licence',
    async (scene) => {
      const [manifest] = listAll(await identify(scene), 'rightsManifest');
      const references =
        manifest === undefined
          ? []
          : listAll(manifest, 'rightsReference').map((each) => each.attributes.get('ref') ?? '');
      must(
        references.some((ref) => /by-nc/.test(ref)),
        `rights: ${references.join(' ') || 'none'}`,
      );
    },
  ),
  harvests(
    'identify-languages',
    'B-VERB-2',
    'Dublin Core title and identifier in cs and en',
    async (scene) => {
      const described = listAll(await identify(scene), 'description');
      for (const name of ['title', 'identifier']) {
        const languages = described
          .flatMap((each) => listAll(each, name))
          .map((each) => each.attributes.get('xml:lang') ?? '');
        must(
          ['cs', 'en'].every((language) => languages.includes(language)),
          `${name} in: ${languages.join(' ') || 'no language'}`,
        );
      }
    },
  ),
  ...VERSIONS.map((version) =>
    harvests(
      `formats-${version}`,
      'B-VERB-3',
      `oai_dc and the native format, with the schema of ${version}`,
      async (scene) => {
        const formats = listAll(
          await oai(scene, 'verb=ListMetadataFormats', version),
          'metadataFormat',
        );
        const seen = formats.map((each) =>
          ['metadataPrefix', 'schema', 'metadataNamespace']
            .map((name) => textAt(each, name))
            .join(' '),
        );
        const base = `${await harvestSchemaBase(scene)}/${version}`;
        const native = `${nativeFormat(scene)} ${base}/${scene.options.prefix}.xsd ${base}/`;
        mustBeSame(
          seen,
          [`oai_dc http://www.openarchives.org/OAI/2.0/oai_dc.xsd ${DC}`, native],
          'formats',
        );
      },
    ),
  ),
  ...(['2.2', '2.1'] as const).map((version) =>
    harvests(
      `sets-${version}`,
      'B-SET-1',
      'every set of the contract, and no other',
      async (scene) => mustBeSame(await fetchSpecs(scene, version), ALL_SETS, 'sets'),
    ),
  ),
  harvests(
    'sets-2.0',
    'B-SET-4',
    'one set for all vocabularies, and no dokument:3d',
    async (scene) => mustBeSame(await fetchSpecs(scene, '2.0'), SETS_OF_2_0, 'sets'),
  ),
  harvests(
    'set-names',
    'B-SET-2',
    'each set has one setSpec and a name "cs / en"',
    async (scene) => {
      const specs = await fetchSpecs(scene, '2.2');
      must(new Set(specs).size === specs.length, 'a setSpec appears twice');
      const bare = (await fetchSets(scene, '2.2'))
        .map((set) => textAt(set, 'setName') ?? '')
        .filter((name) => !/^\S.* \/ .*\S$/.test(name));
      must(bare.length === 0, `names: ${bare.slice(0, 3).join('; ')}`);
    },
  ),
  harvests(
    'set-descriptions',
    'B-SET-2',
    'a description of a set stands in cs and en',
    async (scene) => {
      const described = (await fetchSets(scene, '2.2')).filter(
        (set) => at(set, 'setDescription') !== undefined,
      );
      skipUnless(described.length > 0, 'no set has a description');
      for (const set of described) {
        const languages = listAll(set, 'description').map(
          (each) => each.attributes.get('xml:lang') ?? '',
        );
        mustBeSame(languages, ['cs', 'en'], `languages of ${textAt(set, 'setSpec')}`);
      }
    },
  ),
  ...VERSIONS.map((version) =>
    harvests(
      `endpoint-${version}`,
      'S-VERSION-4',
      `the endpoint and the schema file of ${version} are there`,
      async (scene) => {
        const base =
          textAt(await oai(scene, 'verb=Identify', version), 'Identify', 'baseURL') ?? '';
        must(base.endsWith(`/${version}/oai`) || base.endsWith('/oai'), `baseURL ${base}`);
        const root = await harvestSchemaBase(scene);
        const { text } = await fetchSchema(
          scene.line,
          `${root}/${version}/${scene.options.prefix}.xsd`,
        );
        const target = (await readXml(text)).attributes.get('targetNamespace');
        must(target === `${root}/${version}/`, `targetNamespace ${target}`);
      },
    ),
  ),
  harvests(
    'generic-endpoint',
    'S-VERSION-5',
    'the generic endpoint redirects to the newest version, with its query',
    async (scene) => {
      const url = `${oaiBase(scene)}/oai?verb=ListMetadataFormats`;
      const answer = await scene.line.ask({ url });
      must(isRedirect(answer.status), `${answer.status}: ${answer.text}`);
      const target = new URL(answer.headers.get('location') ?? '', url).href;
      must(target === `${oaiBase(scene)}/2.2/oai?verb=ListMetadataFormats`, `leads to ${target}`);
    },
  ),
  ...(
    [
      ['verb-absent', '', 'badVerb'],
      ['verb-unknown', 'verb=identify', 'badVerb'],
      ['prefix-absent', 'verb=ListRecords&set=osoba', 'badArgument'],
      ['prefix-unknown', 'verb=ListRecords&metadataPrefix=marc21', 'cannotDisseminateFormat'],
      ['identifier-absent', 'verb=GetRecord&metadataPrefix=oai_dc', 'badArgument'],
      [
        'identifier-unknown',
        'verb=GetRecord&metadataPrefix=oai_dc&identifier={oai_base}/id/HES-999999999',
        'idDoesNotExist',
      ],
      [
        'token-unknown',
        'verb=ListRecords&resumptionToken=0123456789ABCDEF0123456789ABCDEF',
        'badResumptionToken',
      ],
      ['argument-unknown', 'verb=ListRecords&metadataPrefix=oai_dc&colour=red', 'badArgument'],
      ['month-alone', 'verb=ListIdentifiers&metadataPrefix=oai_dc&from=2024-05', 'badArgument'],
    ] as const
  ).map(([id, query, code]) =>
    harvests(
      `protocol-${id}`,
      'B-ERROR-1',
      `200 with the protocol's error ${code}`,
      async (scene) => {
        const answer = await askOai(
          scene,
          query.replace('{oai_base}', encodeURIComponent(oaiBase(scene))),
        );
        const seen = getError(await readOai(answer));
        must(seen === code, `error ${seen ?? 'none'}`);
      },
    ),
  ),
  harvests('response-date', 'B-ADDRESS-4', 'responseDate is UTC to the second', async (scene) => {
    const seen = textAt(await oai(scene, 'verb=Identify'), 'responseDate') ?? '';
    must(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(seen), seen);
  }),
];
