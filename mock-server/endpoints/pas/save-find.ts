import type { Say } from '../../base/messages.ts';
import type { FindDocument } from '../../rules/find-document.ts';
import { rewriteProject } from '../../rules/project-record.ts';
import type { References } from '../../rules/references.ts';
import { makeRefusal } from '../../rules/refusal.ts';
import type { Placement } from '../../state/areas.ts';
import type { Mock } from '../../state/mock.ts';
import { orderChildren, withoutAbsent } from '../../state/records/child-order.ts';
import { makeGeometryElements } from '../../state/records/geometry.ts';
import { makeHistoryEntry } from '../../state/records/history.ts';
import type { ArchiveRecord, Body, RecordInput } from '../../state/records/record.ts';

const HIGHEST_NUMBER = 99_999;
/** Characters of a surname or a given name that can be stored (A-FINDER-4). */
const MAX_NAME_CHARACTERS = 100;

/**
 * Returns the next identifier of a project: one more than the highest (A-ASSIGN-2). It is not
 * reserved, so two simultaneous imports may get the same one.
 * @throws HttpError 500 when the project is full
 */
export function makeNextFindIdent(mock: Mock, project: string, say: Say): string {
  const highest = mock.archive.findHighestFindOfProject(project);
  const number = Number(/(\d{5})$/.exec(highest ?? '')?.[1] ?? 0) + 1;
  if (number > HIGHEST_NUMBER) throw makeRefusal(500, say('numbers-exhausted', project));
  return `${project}-${findLetter(mock.seedNumber)}${String(number).padStart(5, '0')}`;
}

/**
 * Returns the letter before the number. The contract leaves the form open (A-ASSIGN-1); only the
 * default is the deployed service's. It never precedes the `N` of the seed's finds, since the next
 * number follows the lexically highest.
 */
function findLetter(seedNumber: number): string {
  return seedNumber === 0 ? 'N' : (['N', 'P', 'SN'][seedNumber % 3] ?? 'N');
}

/** All that an import has found out about its find before it saves it. */
export type PlannedFind = {
  readonly ident: string;
  readonly find: FindDocument;
  readonly references: References;
  readonly placement: Placement | undefined;
  readonly creator: string;
};

/**
 * Saves the find, its history, a new person and the project's list in one transaction.
 * @throws HttpError 422 when another import took the identifier or created the same person
 * meanwhile (A-ASSIGN-4)
 */
export function saveFind(mock: Mock, planned: PlannedFind, say: Say): ArchiveRecord {
  const { ident, references } = planned;
  if (planned.find.geometry?.storable === false || hasOverlongName(references.newPerson))
    throw makeRefusal(500, say('storage-failed'));
  return mock.database.transaction(() => {
    if (isTaken(mock, ident, references.newPerson)) throw makeRefusal(422, say('collision'));
    if (references.newPerson !== undefined) mock.archive.put(references.newPerson);
    const saved = mock.archive.put({
      entity: 'samostatny_nalez',
      body: makeBody(mock, planned, say),
      creator: planned.creator,
    });
    rewriteProject(mock.archive, planned.find.projekt);
    return saved;
  })();
}

function hasOverlongName(person: RecordInput | undefined): boolean {
  return [person?.body['prijmeni'], person?.body['jmeno']].some(
    (name) => Array.from(String(name ?? '')).length > MAX_NAME_CHARACTERS,
  );
}

function isTaken(mock: Mock, ident: string, newPerson: RecordInput | undefined): boolean {
  if (mock.archive.findLive('samostatny_nalez', ident) !== undefined) return true;
  if (newPerson === undefined) return false;
  const { ident_cely, prijmeni, jmeno } = newPerson.body;
  return (
    mock.archive.get(String(ident_cely)) !== undefined ||
    mock.archive.withTexts('osoba', { prijmeni: String(prijmeni), jmeno: String(jmeno) }).length > 0
  );
}

function makeBody(
  mock: Mock,
  { ident, find, references, placement, creator }: PlannedFind,
  say: Say,
): Body {
  const atMs = mock.clock.now();
  const passed = (['SN01', 'SN12', 'SN23'] as const).slice(0, find.stav);
  const guarded = withoutAbsent({
    katastr: placement?.katastr,
    lokalizace: find.lokalizace,
    ...(find.geometry && makeGeometryElements(find.geometry)),
  });
  return orderChildren('samostatny_nalez', {
    ...references.elements,
    ident_cely: ident,
    evidencni_cislo: find.evidencni_cislo,
    projekt: { '@id': find.projekt, '#': find.projekt },
    okres: placement?.okres,
    hloubka: find.hloubka === undefined ? undefined : String(Number(find.hloubka)),
    presna_datace: find.presna_datace,
    pocet: find.pocet,
    poznamka: find.poznamka,
    datum_nalezu: find.datum_nalezu,
    stav: String(find.stav),
    predano: String(find.predano),
    geom_system: find.geom_system,
    chranene_udaje: guarded,
    historie: passed.map((code) =>
      makeHistoryEntry(mock.counters, code, creator, atMs, say('imported-note')),
    ),
  });
}
