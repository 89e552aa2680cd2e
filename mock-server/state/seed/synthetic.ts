import { makeSeededRandom } from '../../base/random.ts';
import { withoutAbsent } from '../records/child-order.ts';
import { makeGeometryElements, parseFindPoint } from '../records/geometry.ts';
import { type Body, type Entity, getId, getText } from '../records/record.ts';
import type { SeedContent } from '../seed-content.ts';
import { SeedError } from './seed-files.ts';

/** One row of the archive's table, with the names of its columns. */
export type SyntheticRow = {
  readonly ident: string;
  readonly entity: Entity;
  readonly set_spec: string;
  readonly datestamp_ms: number;
  readonly deleted: 0;
  readonly stav: number;
  readonly pristupnost: string;
  readonly creator: string;
  readonly organisation: string;
  readonly project: string | null;
  /** JSON. */
  readonly body: string;
};

const FINDS_PER_PROJECT = 100;
const FIRST_CHANGE_MS = Date.UTC(2010, 0, 4, 8);
const LAST_CHANGE_MS = Date.UTC(2023, 11, 22, 16);
/** About 150 metres: less than the distance of any demo place from the border of its area. */
const SCATTER_DEGREES = 0.002;

/**
 * Yields synthetic finds, each after its project (100 finds a project), oldest first. The same
 * `seedNumber` gives the same rows. Terms, areas, people and users are those of `content`.
 */
export function* makeSyntheticFinds(
  count: number,
  seedNumber: number,
  content: SeedContent,
): Generator<SyntheticRow, void> {
  const random = makeSeededRandom(seedNumber);
  const stock = makeStock(content);
  const stepMs = (LAST_CHANGE_MS - FIRST_CHANGE_MS) / Math.max(1, count);
  for (let index = 0; index < count; index += 1) {
    const project = `C-${2010 + (Math.floor(index / FINDS_PER_PROJECT / 1000) % 14)}${String(Math.floor(index / FINDS_PER_PROJECT) + 80_000).padStart(5, '0')}`;
    const ordinal = index % FINDS_PER_PROJECT;
    const changedMs =
      Math.floor((FIRST_CHANGE_MS + index * stepMs) / 1000) * 1000 +
      (index % 4 === 0 ? index % 1000 : 0);
    if (ordinal === 0)
      yield makeProjectRow(project, Math.min(FINDS_PER_PROJECT, count - index), changedMs, stock);
    yield findRow(
      `${project}-N${String(ordinal + 1).padStart(5, '0')}`,
      project,
      changedMs,
      stock,
      random,
    );
  }
}

type Place = {
  readonly katastr: Body;
  readonly okres: Body;
  readonly longitude: number;
  readonly latitude: number;
};
type Stock = {
  readonly terms: Readonly<
    Record<
      'nalezove_okolnosti' | 'obdobi' | 'predmet_druh' | 'predmet_specifikace',
      readonly Body[]
    >
  >;
  readonly accessibilities: readonly Body[];
  readonly places: readonly Place[];
  readonly people: readonly Body[];
  readonly organisation: Body;
  readonly user: string;
};

/**
 * Collects the values of synthetic rows.
 * @throws Error where the seed has none of a kind
 */
function makeStock(content: SeedContent): Stock {
  const live = content.records.filter((record) => record.deleted !== true);
  const listTerms = (vocabulary: string): Body[] =>
    live
      .filter(
        ({ entity, body }) => entity === 'heslo' && getText(body['nazev_heslare']) === vocabulary,
      )
      .map(({ body }) => ({
        '@lang': 'cs',
        '@id': getText(body['ident_cely']) ?? '',
        '#': getText(body['heslo']) ?? '',
      }));
  const organisation = live.find(({ entity }) => entity === 'organizace')?.body;
  const user = live.find(({ entity }) => entity === 'uzivatel')?.body;
  const stock = {
    terms: {
      nalezove_okolnosti: listTerms('nalezove_okolnosti'),
      obdobi: listTerms('obdobi'),
      predmet_druh: listTerms('predmet_druh'),
      predmet_specifikace: listTerms('predmet_specifikace'),
    },
    accessibilities: listTerms('pristupnost'),
    places: live
      .filter(({ entity }) => entity === 'ruian_katastr')
      .map(({ body }) => findPlace(body)),
    people: live
      .filter(({ entity }) => entity === 'osoba')
      .map(({ body }) => ({
        '@id': getText(body['ident_cely']) ?? '',
        '#': getText(body['vypis_cely']) ?? '',
      })),
    organisation: makeVocabReference(organisation, 'ident_cely', 'nazev'),
    user: getText(user?.['ident_cely']) ?? '',
  };
  const missing = [...Object.entries(stock.terms), ...Object.entries(stock)].find(
    ([, list]) => Array.isArray(list) && list.length === 0,
  );
  if (missing !== undefined)
    throw new SeedError('the seed', '', `synthetic finds need ${missing[0]}: use the seed demo`);
  return stock;
}

function makeVocabReference(body: Body | undefined, ident: string, label: string): Body {
  return { '@lang': 'cs', '@id': getText(body?.[ident]) ?? '', '#': getText(body?.[label]) ?? '' };
}

function findPlace(area: Body): Place {
  const [longitude = 0, latitude = 0] = (getText(area['definicni_bod_wkt']) ?? '')
    .replace(/[^\d. ]/g, '')
    .trim()
    .split(/ +/)
    .map(Number);
  const okres = area['okres'];
  const district = typeof okres === 'object' && !Array.isArray(okres) ? (okres as Body) : {};
  return {
    katastr: makeVocabReference(area, 'kod', 'nazev'),
    okres: district,
    longitude,
    latitude,
  };
}

function findRow(
  ident: string,
  project: string,
  changedMs: number,
  stock: Stock,
  random: () => number,
): SyntheticRow {
  const pick = <T>(list: readonly T[]): T => {
    const item = list[Math.floor(random() * list.length)];
    if (item === undefined) throw new Error('nothing to draw from');
    return item;
  };
  const place = pick(stock.places);
  const scatter = (): number => (random() - 0.5) * 2 * SCATTER_DEGREES;
  const geometry = parseFindPoint(
    `POINT(${(place.longitude + scatter()).toFixed(7)} ${(place.latitude + scatter()).toFixed(7)})`,
    '4326',
    false,
  );
  if (typeof geometry === 'string')
    throw new Error(`an area of the seed lies outside the country: ${geometry}`);
  const pristupnost = pick(stock.accessibilities);
  const changed = new Date(changedMs).toISOString();
  const body: Body = {
    ident_cely: ident,
    evidencni_cislo: `S ${ident.slice(-5)}/${changed.slice(0, 4)}`,
    projekt: { '@id': project, '#': project },
    okres: place.okres,
    hloubka: String(Math.floor(random() * 40)),
    okolnosti: pick(stock.terms.nalezove_okolnosti),
    obdobi: pick(stock.terms.obdobi),
    druh_nalezu: pick(stock.terms.predmet_druh),
    specifikace: pick(stock.terms.predmet_specifikace),
    pocet: '1',
    nalezce: pick(stock.people),
    datum_nalezu: changed.slice(0, 10),
    stav: '4',
    predano: 'true',
    predano_organizace: stock.organisation,
    geom_system: '4326',
    pristupnost,
    chranene_udaje: {
      katastr: place.katastr,
      lokalizace: `poloha ${ident.slice(-5)}`,
      ...makeGeometryElements(geometry),
    },
    historie: [
      {
        id: `hist-s${ident}`,
        datum_zmeny: changed,
        uzivatel: { '@id': stock.user, '#': stock.user },
        typ_zmeny: 'SN34',
      },
    ],
  };
  return {
    ...makeRow(ident, 'samostatny_nalez', changedMs, body, stock),
    stav: 4,
    pristupnost: getId(pristupnost) ?? '',
    project,
  };
}

function makeProjectRow(
  ident: string,
  finds: number,
  changedMs: number,
  stock: Stock,
): SyntheticRow {
  const idents = Array.from(
    { length: finds },
    (_, index) => `${ident}-N${String(index + 1).padStart(5, '0')}`,
  );
  const place = stock.places[0];
  const pristupnost = stock.accessibilities[0] ?? {};
  const body: Body = {
    ident_cely: ident,
    stav: '6',
    typ_projektu: { '@lang': 'cs', '@id': 'HES-001138', '#': 'průzkum' },
    organizace: stock.organisation,
    pristupnost_pom: pristupnost,
    geom_system: '5514',
    chranene_udaje: withoutAbsent({ hlavni_katastr: place?.katastr }),
    samostatny_nalez: idents.map((find) => ({ '@id': find, '#': find })),
  };
  return {
    ...makeRow(ident, 'projekt', changedMs, body, stock),
    stav: 6,
    pristupnost: getId(pristupnost) ?? '',
    project: null,
  };
}

function makeRow(ident: string, entity: Entity, changedMs: number, body: Body, stock: Stock) {
  return {
    ident,
    entity,
    set_spec: entity,
    datestamp_ms: changedMs,
    deleted: 0,
    creator: stock.user,
    organisation: getId(stock.organisation) ?? '',
    body: JSON.stringify(body),
  } as const;
}
