import { join } from 'node:path';
import type { TermDraft, Vocabulary } from '../../src/finds/vocabulary/term.ts';
import { openVocabulary, type VocabularyStore } from '../../src/finds/vocabulary/term-lookup.ts';
import { beginVocabularyHarvest, storeTerm } from '../../src/finds/vocabulary/terms.ts';
import { makeStoredState } from '../../src/harvest/harvest-state.ts';
import { completePass } from '../unit/harvest/begun-pass.ts';
import { manualClock } from './manual-clock.ts';
import { OAI_BASE } from './scripted-oai.ts';
import { tempFolder } from './temp-folder.ts';

/** A vocabulary file of its own. `using` closes it. */
export function tempVocabulary(
  clock = manualClock(),
): VocabularyStore & { readonly [Symbol.dispose]: () => void } {
  const store = openVocabulary(join(tempFolder(), 'vocabulary.sqlite'), clock);
  return { ...store, [Symbol.dispose]: () => store.close() };
}

/** An empty vocabulary of one service, in a file of its own. `using` closes it. */
export function tempSource(): Vocabulary & { readonly [Symbol.dispose]: () => void } {
  const store = tempVocabulary();
  return { ...store.openSource(OAI_BASE), [Symbol.dispose]: store[Symbol.dispose] };
}

/** A term with a label; the rest by choice. */
export function aTerm(ident: string, label: string, more: Partial<TermDraft> = {}): TermDraft {
  return {
    ident,
    setSpec: 'heslo:predmet_druh',
    label,
    labelEn: null,
    otherNames: [],
    abbreviation: null,
    description: null,
    descriptionEn: null,
    sortOrder: null,
    superiors: [],
    details: {},
    boundary: null,
    ...more,
  };
}

export function fill(store: VocabularyStore, ...drafts: readonly TermDraft[]): Vocabulary {
  const vocabulary = store.openSource(OAI_BASE);
  vocabulary.change(() => {
    for (const draft of drafts) storeTerm(vocabulary, draft, Date.UTC(2025, 0, 1));
  });
  return vocabulary;
}

/** As after a harvest of these sets that found what is there. */
export function markHarvested(vocabulary: Vocabulary, ...sets: readonly string[]): Vocabulary {
  vocabulary.change(() => {
    for (const set of sets) {
      const state = makeStoredState(vocabulary, beginVocabularyHarvest(vocabulary, set, '').id);
      completePass(state, 1);
    }
  });
  return vocabulary;
}
