import type { Archive } from '../state/records/archive.ts';
import {
  type ArchiveRecord,
  type Body,
  ENTITIES,
  type Entity,
  getChild,
  getId,
  getList,
  getText,
} from '../state/records/record.ts';
import { FORBIDDEN } from '../state/records/render.ts';
import type { Viewer, VisibilityCode } from './viewer.ts';

/** One cell of the tables; one of several conditions suffices. */
type Rule =
  | 'yes'
  | 'hidden'
  | ReadonlyArray<{ readonly stav: number } | { readonly stavOver: number } | 'mine' | 'ours'>;

type Row = Readonly<Record<VisibilityCode, Rule>>;
const always: Row = { A: 'yes', B: 'yes', C: 'yes', D: 'yes' };
const forAnonymousInState = (stav: number): Row => ({ ...always, A: [{ stav }] });

/**
 * Visibility of whole records (B-SEE-3 to B-SEE-18). `mine`: created by the user; `ours`: by the
 * user's organisation.
 */
const RECORD_RULES: Readonly<Record<Entity, Row>> = {
  projekt: { A: [{ stav: 6 }], B: [{ stav: 6 }], C: [{ stavOver: 0 }], D: 'yes' },
  archeologicky_zaznam: forAnonymousInState(3),
  let: always,
  adb: forAnonymousInState(3),
  dokument: forAnonymousInState(3),
  ext_zdroj: forAnonymousInState(3),
  pian: forAnonymousInState(2),
  samostatny_nalez: {
    A: [{ stav: 4 }],
    B: [{ stav: 4 }, 'mine'],
    C: [{ stav: 4 }, 'ours'],
    D: 'yes',
  },
  uzivatel: { A: 'hidden', B: ['mine'], C: ['mine'], D: 'yes' },
  heslo: always,
  ruian_kraj: always,
  ruian_okres: always,
  ruian_katastr: always,
  organizace: always,
  osoba: always,
};
/** The same table, row `projekt/oznamovatel`. */
const ANNOUNCER_RULE: Row = { A: 'hidden', B: 'hidden', C: [{ stav: 1 }, 'ours'], D: 'yes' };

/** Elements that govern the protected elements, and their position (B-MASK-2 to B-MASK-6). */
const GOVERNING: Partial<Record<Entity, string>> = {
  projekt: 'pristupnost_pom',
  archeologicky_zaznam: 'pristupnost',
  adb: 'pristupnost_pom',
  pian: 'pristupnost_pom',
  samostatny_nalez: 'pristupnost',
};

/** Tells if the viewer is shown the record at all, by the rule of its entity. */
export function isVisible(record: ArchiveRecord, viewer: Viewer): boolean {
  return evaluate(RECORD_RULES[record.entity][viewer.letter], record, viewer);
}

function evaluate(rule: Rule, record: ArchiveRecord, viewer: Viewer): boolean {
  if (rule === 'yes' || rule === 'hidden') return rule === 'yes';
  return rule.some((condition) => {
    if (condition === 'mine') return viewer.user !== null && record.creator === viewer.user;
    if (condition === 'ours')
      return viewer.organisation !== null && record.organisation === viewer.organisation;
    if ('stav' in condition) return record.stav === condition.stav;
    return record.stav !== null && record.stav > condition.stavOver;
  });
}

/**
 * Tells if records are hidden from the viewer's role, as if they did not exist. Others may have the
 * refusal as content.
 */
export function isHidden({ entity }: ArchiveRecord, { letter }: Viewer): boolean {
  return RECORD_RULES[entity][letter] === 'hidden';
}

/** Returns the entities that are hidden from the viewer's role. */
export function listHiddenEntities({ letter }: Viewer): Entity[] {
  return ENTITIES.filter((entity) => RECORD_RULES[entity][letter] === 'hidden');
}

type MaskContext = {
  readonly getVisibilityCode: (entry: string) => VisibilityCode;
  readonly deployed: boolean;
};

/**
 * Masks protected elements with the refusal. An announcer hidden from the role is omitted; on the
 * deployed service it has the refusal, too.
 * @param context `getVisibilityCode`: role letter of an accessibility entry, by its identifier
 */
export function maskBody(record: ArchiveRecord, viewer: Viewer, context: MaskContext): Body {
  const { entity, body } = record;
  const governing = GOVERNING[entity];
  const entry = governing === undefined ? undefined : getId(body[governing]);
  const mayReadProtected = entry === undefined || context.getVisibilityCode(entry) <= viewer.letter;
  const masked = mayReadProtected ? body : withProtectedMasked(body);
  const rule = ANNOUNCER_RULE[viewer.letter];
  if (entity !== 'projekt' || body['oznamovatel'] === undefined || evaluate(rule, record, viewer))
    return masked;
  if (context.deployed || rule !== 'hidden') return { ...masked, oznamovatel: FORBIDDEN };
  const { oznamovatel: _omitted, ...rest } = masked;
  return rest;
}

/**
 * Masks all protected elements of a record, also inside a fieldwork event or a site; an empty one
 * stays empty.
 */
function withProtectedMasked(body: Body): Body {
  const masked: Record<string, Body[string]> = { ...body };
  if (!isEmpty(body['chranene_udaje'])) masked['chranene_udaje'] = FORBIDDEN;
  for (const name of ['akce', 'lokalita']) {
    const part = getChild(body[name]);
    if (!isEmpty(part?.['chranene_udaje'])) masked[name] = { ...part, chranene_udaje: FORBIDDEN };
  }
  return masked;
}

function isEmpty(value: Body[string] | undefined): boolean {
  return value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);
}

/**
 * Returns the role letter of an accessibility entry: its abbreviation (S-ACCESS-2); D for an
 * unknown one.
 */
export function getCodeOfTerm(term: Body | undefined): VisibilityCode {
  const short = getText(term?.['zkratka']);
  return short === 'A' || short === 'B' || short === 'C' ? short : 'D';
}

/**
 * Tells if a record is visible by the deployed service's rule (B-SEE-11), which differs for finds.
 */
export function isVisibleAsDeployed(
  archive: Archive,
  record: ArchiveRecord,
  viewer: Viewer,
): boolean {
  if (record.entity !== 'samostatny_nalez' || viewer.letter === 'D' || record.stav === 4)
    return isVisible(record, viewer);
  if (viewer.user === null) return false;
  if (isRegisteredLastBy(record, viewer.user)) return true;
  return (
    viewer.letter === 'C' &&
    viewer.organisation !== null &&
    listOrganisations(archive, record).includes(viewer.organisation)
  );
}

/**
 * Tells if registration is the last entry by the user: an own find disappears once another entry
 * follows.
 */
function isRegisteredLastBy({ body }: ArchiveRecord, user: string): boolean {
  const latest = getChild(getList(body['historie']).at(-1));
  return getText(latest?.['typ_zmeny']) === 'SN01' && getId(latest?.['uzivatel']) === user;
}

function listOrganisations(archive: Archive, { body }: ArchiveRecord): Array<string | undefined> {
  const project = archive.findLive('projekt', getId(body['projekt']) ?? '');
  return [getId(project?.body['organizace']), getId(body['predano_organizace'])];
}
