import { dirname } from 'node:path';
import type { Issue } from '../base/issue.ts';
import { mapTable } from '../columns/map-table.ts';
import { checkDocument } from '../find/check-document.ts';
import type { Find } from '../find/find.ts';
import { validateFind } from '../find/rules.ts';
import { makePhotoResolver } from '../photo/photograph.ts';
import { readTable } from '../tables/readers.ts';
import { type CheckOptions, openKnowledge } from './knowledge.ts';

export { PasError } from '../base/errors.ts';
export type { Issue } from '../base/issue.ts';
export type { Reference, TargetState } from '../find/field.ts';
export type { ElementName, FindElements } from '../find/fields.ts';
export type { Find, FindSource } from '../find/find.ts';
export type { Role } from '../pas-api/session.ts';
export type { GeomSystem } from '../place/geometry.ts';
export type { CheckOptions } from './knowledge.ts';

/**
 * Checks of finds by the service's rules, without a network. All findings are returned as issues.
 */
export type FindChecks = Disposable & {
  /**
   * Returns the import document of a find, and its issues. The document may be sent if, and only
   * if, no issue has the severity `error`; send its exact bytes.
   */
  check(find: Find): { readonly document: Buffer; readonly issues: readonly Issue[] };
  /** Checks a document from another program. @param name used as `file` in the issues */
  checkDocument(document: Uint8Array, name?: string): readonly Issue[];
  /**
   * Reads a table with the columns that README.md lists: the finds of its readable rows, and issues
   * with row and column. Photographs in an archive (KMZ) are not unpacked, and give warnings.
   * @throws PasError where the table cannot be read at all
   */
  readTable(
    path: string,
  ): Promise<{ readonly finds: readonly Find[]; readonly issues: readonly Issue[] }>;
};

/**
 * ```ts
 * using finds = await checkFinds({ schemaBase });
 * const { document, issues } = finds.check({ localId: 'K-017', elements: { stav: 1, projekt: { id:
 * 'C-202400101', text: '' } }, photos: [] });
 * ```
 * @throws ConfigError where pas has no schema of that version
 */
export async function checkFinds(options: CheckOptions): Promise<FindChecks> {
  const { makeRuleContext, close } = await openKnowledge(options);
  return {
    check: (find) => validateFind(find, makeRuleContext()),
    checkDocument: (document, name = 'document') =>
      checkDocument(name, Buffer.from(document), makeRuleContext()),
    readTable: async (path) => {
      const table = await readTable(path);
      const { issues, rows } = mapTable(table, {
        lookupTerm: makeRuleContext().lookupTerm,
        resolvePhoto: makePhotoResolver(dirname(path)),
        photosMayMiss: table.attachments !== undefined,
      });
      const walked = [...rows];
      return {
        finds: walked.flatMap(({ find }) => (find === undefined ? [] : [find])),
        issues: [...issues, ...walked.flatMap((row) => row.issues)],
      };
    },
    [Symbol.dispose]: close,
  };
}
