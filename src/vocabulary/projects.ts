import { isHarvested } from './harvests.ts';
import { termByIdent } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';

/** What harvesting says of a project. Not every account is shown every project, so `unknown` proves nothing. */
type ProjectAnswer =
  | {
      readonly kind: 'found';
      readonly survey: boolean;
      readonly type: string;
      readonly stav: number | null;
      readonly organisation: string;
    }
  /** It is there, but this account is shown nothing of it. */
  | { readonly kind: 'hidden' }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'not-harvested' };

export type LookupProject = (ident: string) => ProjectAnswer;

const PROJECT_SET = 'projekt';

export function makeProjectLookup(vocabulary: Vocabulary): LookupProject {
  return (ident) => {
    const term = termByIdent(vocabulary, ident.trim());
    // What has vanished may merely be out of sight for the account that harvested last.
    if (term === undefined || term.setSpec !== PROJECT_SET || term.gone === 'vanished') {
      return { kind: isHarvested(vocabulary, PROJECT_SET) ? 'unknown' : 'not-harvested' };
    }
    if (term.gone === 'deleted') return { kind: 'deleted' };
    const { hidden, survey, facts = {} } = term.details;
    if (hidden === true || survey === undefined) return { kind: 'hidden' };
    return {
      kind: 'found',
      survey,
      type: facts['typ_projektu'] ?? '',
      stav: facts['stav'] === undefined ? null : Number(facts['stav']),
      organisation: facts['organizace'] ?? '',
    };
  };
}
