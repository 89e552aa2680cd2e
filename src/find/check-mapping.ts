import { errorIssue, type Issue, warningIssue } from '../base/issue.ts';
import { t } from '../base/language.ts';
import type { LookupTerm, TermCandidate } from './lookup.ts';
import type { Mapping, MappingRow } from './mapping.ts';
import { mappedAstrayMessage } from './resolve-reference.ts';

type Astray = { readonly kind: 'unknown' } | { readonly kind: 'deleted' | 'wrong-set'; readonly entry: TermCandidate };

/** Where a confirmed row leads. */
type Standing =
  | Astray
  | { readonly kind: 'not-harvested' }
  | { readonly kind: 'good' | 'other-label'; readonly entry: TermCandidate };

/** @param lookupTerm the vocabulary's own, without the mapping */
export function standingOf({ set, id, label }: MappingRow, lookupTerm: LookupTerm): Standing {
  const found = lookupTerm(set, id === '' ? label : id);
  switch (found.kind) {
    case 'found': {
      const { term: entry } = found;
      const named = label === '' || [entry.label, entry.labelEn ?? ''].some((name) => sameName(name, label));
      return { kind: named ? 'good' : 'other-label', entry };
    }
    case 'deleted':
    case 'wrong-set':
      return { kind: found.kind, entry: found.term };
    case 'not-harvested':
      return { kind: 'not-harvested' };
    case 'ambiguous':
    case 'unknown':
    case 'mapped-astray':
      return { kind: 'unknown' };
  }
}

function sameName(one: string, other: string): boolean {
  const plain = (text: string): string => text.normalize('NFC').trim().toLowerCase();
  return plain(one) === plain(other);
}

/** What has become of the entries that terms are mapped to: deleted, moved to another set, renamed, or never there. */
export function checkMapping({ file, rows, issues }: Mapping, lookupTerm: LookupTerm): Issue[] {
  const found = rows
    .filter(({ confirmed }) => confirmed)
    .flatMap((row) => issueOf(row, standingOf(row, lookupTerm)).map((issue) => ({ ...issue, file, row: row.row })));
  return [...issues, ...found];
}

function issueOf(row: MappingRow, standing: Standing): Issue[] {
  const { set, term: own, label } = row;
  switch (standing.kind) {
    case 'good':
      return [];
    case 'other-label': {
      const { entry } = standing;
      const message = t`"${own}" is mapped to ${entry.id} as "${label}", which is called "${entry.label}" now. See that it still means the same, then: pas vocab map set ${set} "${own}" ${entry.id}`;
      return [warningIssue('mapping-renamed', message)];
    }
    case 'not-harvested': {
      const message = t`"${own}" cannot be checked: ${set} was not harvested. Run pas harvest-vocab.`;
      return [warningIssue('mapping-unchecked', message)];
    }
    default:
      return [astrayIssue(row, standing)];
  }
}

const ASTRAY_RULES = { deleted: 'mapping-deleted', 'wrong-set': 'mapping-moved', unknown: 'mapping-unknown' } as const;

/** Of a row that leads to no entry that could be used. */
export function astrayIssue({ set, term: own, id, label }: MappingRow, standing: Astray): Issue {
  const astray = { kind: 'mapped-astray', own, target: id === '' ? label : id } as const;
  const gone = standing.kind === 'unknown' ? {} : { term: standing.entry, because: standing.kind };
  return errorIssue(ASTRAY_RULES[standing.kind], mappedAstrayMessage({ ...astray, ...gone }, set));
}
