import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context } from '../context/context.ts';
import { harvestBaseOf } from '../context/harvesting.ts';
import { editDistance } from '../vocabulary/fold.ts';
import { isHarvested } from '../vocabulary/harvests.ts';
import type { Term } from '../vocabulary/term.ts';
import { countBySet } from '../vocabulary/terms.ts';
import type { Vocabulary } from '../vocabulary/vocabulary.ts';

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

export async function openProfileVocabulary(context: Context): Promise<Vocabulary> {
  return (await context.vocabulary()).source(harvestBaseOf(context.profile()));
}

/** @throws UsageError for a set of which nothing is here, so that a typing error does not look like an empty set */
export function requireSet(vocabulary: Vocabulary, set: string): void {
  if (
    isHarvested(vocabulary, set) &&
    countBySet(vocabulary).some(({ setSpec }) => setSpec === set || setSpec.startsWith(`${set}:`))
  ) {
    return;
  }
  const nearest = nearestSet(vocabulary, set);
  throw new UsageError(t`Nothing was harvested of the set ${set}.`, {
    hint:
      nearest === undefined
        ? t`\`pas vocab sets\` lists what is here; \`pas harvest-vocab\` brings the rest.`
        : t`Did you mean ${nearest}?`,
  });
}

const MOST_TYPING_ERRORS = 2;

/** A set whose name, or its part behind the colon, is almost what was typed. */
function nearestSet(vocabulary: Vocabulary, typed: string): string | undefined {
  const own = typed.slice(typed.indexOf(':') + 1).toLowerCase();
  const near = countBySet(vocabulary)
    .map(({ setSpec }) => ({
      setSpec,
      errors: editDistance(own, setSpec.slice(setSpec.indexOf(':') + 1), MOST_TYPING_ERRORS),
    }))
    .filter(({ errors }) => errors <= MOST_TYPING_ERRORS)
    .sort((one, other) => one.errors - other.errors);
  return near[0]?.setSpec;
}

/** What became of an entry that is no longer there. */
export const GONE_WORDS: Readonly<Record<NonNullable<Term['gone']>, string>> = { deleted: t`deleted`, vanished: t`vanished` };

export function termAsJson(term: Term): object {
  return {
    id: term.ident,
    set: term.setSpec,
    label: term.label,
    label_en: term.labelEn,
    abbreviation: term.abbreviation,
    description: term.description,
    description_en: term.descriptionEn,
    order: term.sortOrder,
    ...term.details,
    changed_at: new Date(term.datestampMs).toISOString(),
    gone: term.gone,
    gone_at: isoOrNull(term.goneAtMs),
  };
}
