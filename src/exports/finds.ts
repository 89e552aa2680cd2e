import { dirname } from 'node:path';
import { systemClock } from '../base/clock.ts';
import type { Issue } from '../base/issue.ts';
import { localDate } from '../base/local-date.ts';
import { checkDocument } from '../find/check-document.ts';
import type { DocumentProfile, Find } from '../find/find.ts';
import type { LookupTerm } from '../find/lookup.ts';
import { mapTable } from '../find/map-table.ts';
import { photoResolver } from '../find/photo-path.ts';
import { readTable } from '../find/read-table.ts';
import { openFindSchema } from '../find/schema.ts';
import { validateFind } from '../find/validate.ts';
import type { Role } from '../pas-api/account.ts';
import { checkAddress } from './connection.ts';

export { PasError } from '../base/errors.ts';
export type { Issue } from '../base/issue.ts';
export type { ElementName, Find, FindElements, FindSource, GeomSystem, Reference, TargetState } from '../find/find.ts';
export type { Role } from '../pas-api/account.ts';

export type CheckOptions = {
  /** `{schema_base}`: the address that the documents name their schema by. */
  readonly schemaBase: string;
  /** Default `svc`; a deployment may have its own. */
  readonly prefix?: string;
  /** Default `2.2`. */
  readonly schemaVersion?: string;
  /** Of the account that will send; some rules depend on it. Without it those are not checked. */
  readonly role?: Role;
  /** Name of that account's organisation, as the service writes it. */
  readonly organisation?: string;
  /** What `pas harvest-vocab` harvested. Without it, terms and places are taken unchecked. */
  readonly vocabulary?: { readonly file: string; readonly oaiBase: string };
};

/** Finds as the service would judge them, without a network. What is wrong comes back as issues, all of it at once. */
export type FindChecks = Disposable & {
  /**
   * The import document of a find, and what speaks against it. The document may be sent if, and only if, no issue has the
   * severity `error`; its exact bytes are those to send.
   */
  check(find: Find): { readonly document: Buffer; readonly issues: readonly Issue[] };
  /** A document that was made elsewhere. @param name stands in the issues as `file` */
  checkDocument(document: Uint8Array, name?: string): readonly Issue[];
  /**
   * A table with the columns that README.md lists: the finds of its readable rows, and issues with row and column.
   * @throws PasError where it cannot be read at all
   */
  readTable(path: string): Promise<{ readonly finds: readonly Find[]; readonly issues: readonly Issue[] }>;
};

/**
 * ```ts
 * using finds = await checkFinds({ schemaBase });
 * const { document, issues } = finds.check({ localId: 'K-017', elements: { stav: 1, projekt: { id: 'C-202400101', text: '' } }, photos: [] });
 * ```
 * @throws ConfigError where pas has no schema of that version
 */
export async function checkFinds(options: CheckOptions): Promise<FindChecks> {
  const schema = await openFindSchema(documentProfileOf(options));
  const vocabulary = await openLookups(options.vocabulary);
  const { role, organisation } = options;
  const context = () => ({
    schema,
    today: localDate(systemClock.now()),
    ...(role === undefined ? {} : { role }),
    ...(organisation === undefined ? {} : { organisation }),
    ...vocabulary.lookups,
  });
  return {
    check: (find) => validateFind(find, context()),
    checkDocument: (document, name = 'document') => checkDocument(name, Buffer.from(document), context()),
    readTable: async (path) => {
      const { issues, rows } = mapTable(await readTable(path), {
        lookupTerm: vocabulary.lookups?.lookupTerm ?? notHarvested,
        resolvePhoto: photoResolver(dirname(path)),
      });
      const walked = [...rows];
      return {
        finds: walked.flatMap(({ find }) => (find === undefined ? [] : [find])),
        issues: [...issues, ...walked.flatMap((row) => row.issues)],
      };
    },
    [Symbol.dispose]: () => {
      schema[Symbol.dispose]();
      vocabulary.close();
    },
  };
}

function documentProfileOf(options: CheckOptions): DocumentProfile {
  return {
    prefix: options.prefix ?? 'svc',
    // A name, not a place to send anything to.
    schemaBase: checkAddress('schemaBase', options.schemaBase, true),
    schemaVersion: options.schemaVersion ?? '2.2',
  };
}

const notHarvested: LookupTerm = () => ({ kind: 'not-harvested' });

async function openLookups(from: CheckOptions['vocabulary']) {
  if (from === undefined) return { lookups: undefined, close: () => {} };
  const { openVocabulary } = await import('../vocabulary/vocabulary-store.ts');
  const store = openVocabulary(from.file, systemClock);
  return { lookups: store.lookups(from.oaiBase), close: () => store.close() };
}
