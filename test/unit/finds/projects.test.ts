import { expect, test } from 'vitest';
import { parseXml } from '../../../src/base/xml/parse.ts';
import { parseTerm } from '../../../src/finds/vocabulary/term.ts';
import { makeProjectLookup } from '../../../src/finds/vocabulary/term-lookup.ts';
import { storeHiddenTerm, storeTerm, storeTombstone } from '../../../src/finds/vocabulary/terms.ts';
import {
  aTerm,
  fill,
  markHarvested,
  tempSource,
  tempVocabulary,
} from '../../support/temp-vocabulary.ts';

const projectXml = (ident: string, type: string): string =>
  `<projekt xmlns="urn:s"><ident_cely>${ident}</ident_cely><stav>3</stav>${type}<organizace id="ORG-000091" xml:lang="cs">Muzeum</organizace><oznamovatel>HTTP/1.1 403 Forbidden</oznamovatel></projekt>`;

function project(ident: string, type: string) {
  const draft = parseTerm(parseXml(Buffer.from(projectXml(ident, type))).root, 'projekt');
  if (draft === undefined) throw new Error('it was not read');
  return draft;
}

test('a project is known as a survey by its type', () => {
  using store = tempVocabulary();
  const vocabulary = fill(
    store,
    project('C-202400101', '<typ_projektu id="HES-001138" xml:lang="cs">průzkum</typ_projektu>'),
    project('C-202400102', '<typ_projektu id="HES-001136" xml:lang="cs">záchranný</typ_projektu>'),
    aTerm('HES-000001', 'spona'),
  );
  const lookup = makeProjectLookup(vocabulary);
  expect(lookup('C-202400101')).toEqual({
    kind: 'found',
    survey: true,
    type: 'průzkum',
    stav: 3,
    organisation: 'Muzeum',
  });
  expect(lookup('C-202400102')).toEqual({
    kind: 'found',
    survey: false,
    type: 'záchranný',
    stav: 3,
    organisation: 'Muzeum',
  });
  expect([lookup('C-202400999'), lookup('HES-000001')]).toEqual([
    { kind: 'not-harvested' },
    { kind: 'not-harvested' },
  ]);
});

test('hidden, deleted, inaccessible and missing projects are distinguished', () => {
  using vocabulary = tempSource();
  const survey = '<typ_projektu id="HES-001138" xml:lang="cs">průzkum</typ_projektu>';
  vocabulary.change(() => {
    storeHiddenTerm(vocabulary, 'C-202400101', 'projekt', 1);
    for (const ident of ['C-202400102', 'C-202400103', 'C-202400104'])
      storeTerm(vocabulary, project(ident, survey), 1);
    storeTombstone(vocabulary, {
      ident: 'C-202400102',
      setSpec: 'projekt',
      goneAtMs: 2,
      why: 'deleted',
    });
    storeTombstone(vocabulary, {
      ident: 'C-202400103',
      setSpec: 'projekt',
      goneAtMs: 2,
      why: 'vanished',
    });
    // Harvested again by an account that may see less.
    storeHiddenTerm(vocabulary, 'C-202400104', 'projekt', 2);
    markHarvested(vocabulary, 'projekt');
  });
  const lookup = makeProjectLookup(vocabulary);
  const kinds = ['C-202400101', 'C-202400102', 'C-202400103', 'C-202400104', 'C-202400105'].map(
    (ident) => lookup(ident).kind,
  );
  expect(kinds).toEqual(['hidden', 'deleted', 'unknown', 'found', 'unknown']);
});
