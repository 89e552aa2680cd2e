import type { Say } from '../base/messages.ts';
import type { Problem } from '../base/problem.ts';
import type { Mock } from '../state/mock.ts';
import type { Archive } from '../state/records/archive.ts';
import { type Body, getIdent, getText, type RecordInput } from '../state/records/record.ts';
import {
  type FindDocument,
  type Finder,
  VOCABULARY_OF_ELEMENT,
  type VocabularyElement,
} from './find-document.ts';
import { makeProblem } from './refusal.ts';

/** Elements that refer to other records, with the service's Czech labels. */
export type References = {
  readonly elements: Readonly<
    Partial<Record<VocabularyElement | 'nalezce' | 'predano_organizace', Body>>
  >;
  /** A person to be created together with the find. */
  readonly newPerson: RecordInput | undefined;
  readonly problems: readonly Problem[];
};

const MAX_DEPTH_CM = 2_147_483_647;

/**
 * Resolves finder, references and value types (A-IMPORT-4, step 16); returns all findings together.
 */
export function resolveReferences(mock: Mock, find: FindDocument, say: Say): References {
  const problems: Problem[] = [];
  const elements: Record<string, Body> = {};
  for (const [element, vocabulary] of listVocabularyElements()) {
    const id = find.entries[element];
    if (id === undefined) {
      if (element === 'pristupnost')
        problems.push(makeProblem(find.line, element, say('entry-unknown', '""', vocabulary)));
      continue;
    }
    const entry = mock.archive.findLive('heslo', id);
    if (entry?.setSpec === `heslo:${vocabulary}`)
      elements[element] = makeLabel(id, getText(entry.body['heslo']));
    else problems.push(makeProblem(find.line, element, say('entry-unknown', id, vocabulary)));
  }
  const receiver = find.predano_organizace;
  if (receiver !== undefined) {
    const organisation = mock.archive.findLive('organizace', receiver);
    if (organisation === undefined)
      problems.push(
        makeProblem(find.line, 'predano_organizace', say('organisation-unknown', receiver)),
      );
    else elements['predano_organizace'] = makeLabel(receiver, getText(organisation.body['nazev']));
  }
  const finder = find.nalezce === undefined ? undefined : resolveFinder(mock.archive, find.nalezce);
  if (finder === 'unknown' && find.nalezce?.kind === 'known') {
    problems.push(
      makeProblem(find.nalezce.line, 'nalezce', say('person-unknown', find.nalezce.id), 1),
    );
  }
  if (typeof finder === 'object') elements['nalezce'] = finder.element;
  problems.push(...checkValues(find, say));
  return {
    elements,
    newPerson: typeof finder === 'object' ? finder.newPerson : undefined,
    problems,
  };
}

function listVocabularyElements(): ReadonlyArray<[VocabularyElement, string]> {
  return Object.entries(VOCABULARY_OF_ELEMENT) as [VocabularyElement, string][];
}

function makeLabel(id: string, text: string | undefined): Body {
  return { '@lang': 'cs', '@id': id, '#': text ?? id };
}

type ResolvedFinder = { readonly element: Body; readonly newPerson: RecordInput | undefined };

/**
 * Resolves a person by identifier, or by surname and given name exactly as written; else the person
 * is new.
 */
function resolveFinder(archive: Archive, finder: Finder): ResolvedFinder | 'unknown' {
  if (finder.kind === 'known') {
    const person = archive.findLive('osoba', finder.id);
    return person === undefined
      ? 'unknown'
      : { element: makePersonElement(person.ident, person.body), newPerson: undefined };
  }
  const existing = archive.withTexts('osoba', {
    prijmeni: finder.surname,
    jmeno: finder.givenName,
  })[0];
  if (existing !== undefined)
    return { element: makePersonElement(existing.ident, existing.body), newPerson: undefined };
  const body: Body = {
    ident_cely: makeNextPersonIdent(archive),
    jmeno: finder.givenName,
    prijmeni: finder.surname,
    vypis: `${finder.surname}, ${makeInitials(finder.givenName)}`,
    vypis_cely: `${finder.surname}, ${finder.givenName}`,
  };
  return {
    element: makePersonElement(getIdent('osoba', body) ?? '', body),
    newPerson: { entity: 'osoba', body },
  };
}

function makePersonElement(ident: string, body: Body): Body {
  return { '@id': ident, '#': getText(body['vypis_cely']) ?? ident };
}

/** `Jan Karel` → `J. K.`, `Jean-Pierre` → `J.-P.` */
function makeInitials(givenName: string): string {
  return givenName
    .split(' ')
    .map((name) =>
      name
        .split('-')
        .map((part) => `${Array.from(part)[0] ?? ''}.`)
        .join('-'),
    )
    .join(' ');
}

function makeNextPersonIdent(archive: Archive): string {
  const highest = Number(/(?<!\d)\d+$/.exec(archive.findHighestIdent('osoba') ?? '')?.[0] ?? 0);
  return `OS-${String(highest + 1).padStart(6, '0')}`;
}

/** Checks values that the schema allows and the service refuses (A-VALUE-3, A-VALUE-6). */
function checkValues(find: FindDocument, say: Say): Problem[] {
  const problems: Problem[] = [];
  const depth = find.hloubka === undefined ? 0 : Number(find.hloubka);
  if (depth < 0 || depth > MAX_DEPTH_CM)
    problems.push(makeProblem(find.line, 'hloubka', say('depth-range')));
  if (find.datum_nalezu !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(find.datum_nalezu)) {
    problems.push(makeProblem(find.line, 'datum_nalezu', say('date-form')));
  }
  return problems;
}
