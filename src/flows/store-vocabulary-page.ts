import { entityOf, identOf, type OaiRecord } from '../oai/record.ts';
import { readTerm } from '../vocabulary/read-term.ts';
import { putHidden, putTerm, putTombstone } from '../vocabulary/terms.ts';
import type { Vocabulary } from '../vocabulary/vocabulary.ts';

type StoredPage = {
  /** Of every record on the page. */
  readonly idents: string[];
  readonly deleted: number;
  /** Identifiers of records that are no usable terms: of another kind, without a name. */
  readonly unreadable: string[];
};

/** Puts the records of one page into the vocabulary: terms as they are now, tombstones for the deleted. */
export function storePage(vocabulary: Vocabulary, harvestedSet: string, records: readonly OaiRecord[]): StoredPage {
  const stored: StoredPage = { idents: [], deleted: 0, unreadable: [] };
  let deleted = 0;
  for (const record of records) {
    const { header } = record;
    const ident = identOf(header.identifier);
    stored.idents.push(ident);
    const setSpec = mostSpecific(header.setSpecs);
    if (header.deleted) {
      putTombstone(vocabulary, { ident, setSpec: setSpec ?? harvestedSet, goneAtMs: header.datestampMs, why: 'deleted' });
      deleted++;
      continue;
    }
    if (record.refused) {
      putHidden(vocabulary, ident, setSpec ?? harvestedSet, header.datestampMs);
      continue;
    }
    const entity = entityOf(record);
    const draft = entity === undefined ? undefined : readTerm(entity, setSpec);
    if (draft === undefined) stored.unreadable.push(ident);
    else putTerm(vocabulary, draft, header.datestampMs);
  }
  return { ...stored, deleted };
}

/** Some services repeat the parents of a set, some do not. */
function mostSpecific(setSpecs: readonly string[]): string | undefined {
  return setSpecs.reduce<string | undefined>(
    (best, set) => (best === undefined || set.length > best.length ? set : best),
    undefined,
  );
}
