import { editDistance } from '../text/names.ts';
import { compoundParts, type Word } from './own-term.ts';

/** Similarity of a museum's word to a word of the vocabulary. */
export type Similarity = {
  /** 1 is the same word. */
  readonly closeness: number;
  readonly by: 'same' | 'form' | 'beginning' | 'related' | 'part' | 'typing-error';
};

/** Similarities below are ignored. */
const MIN_CLOSENESS = 0.5;

const MIN_PREFIX_STEM_CHARACTERS = 4;

/** Returns the best of several kinds of similarity; undefined where there is none. */
export function similarity(own: Word, entry: Word): Similarity | undefined {
  if (own.folded === entry.folded) return { closeness: 1, by: 'same' };
  if (own.stem === entry.stem && own.stem.length > 2) return { closeness: 0.96, by: 'form' };
  const best = [begun(own, entry), related(own, entry), part(own, entry), mistyped(own, entry)].reduce((a, b) =>
    (b?.closeness ?? 0) > (a?.closeness ?? 0) ? b : a,
  );
  return best !== undefined && best.closeness >= MIN_CLOSENESS ? best : undefined;
}

/** Compares prefixes: `náram.`; and `laten`, which a longer word continues. */
function begun(own: Word, entry: Word): Similarity | undefined {
  if (own.cut && entry.folded.startsWith(own.folded)) {
    return { closeness: own.folded.length === 1 ? 0.6 : Math.min(0.94, 0.78 + 0.04 * own.folded.length), by: 'beginning' };
  }
  const pairs = [
    [own.stem, entry.stem],
    [own.folded, entry.folded],
    [entry.stem, own.stem],
  ];
  const ratios = pairs.map(([short = '', long = '']) =>
    short.length >= MIN_PREFIX_STEM_CHARACTERS && long.startsWith(short) ? short.length / long.length : 0,
  );
  const ratio = Math.max(...ratios);
  return ratio === 0 ? undefined : { closeness: 0.55 + 0.35 * ratio, by: 'beginning' };
}

/** Compares roots: `kovový` and `kov`, `nádobka` and `nádoba`. */
function related(own: Word, entry: Word): Similarity | undefined {
  if (own.root !== entry.root || own.root.length < 3) return undefined;
  return { closeness: own.root.length === 3 ? 0.74 : 0.86, by: 'related' };
}

/** Compares parts of compounds: `mlat` in `sekeromlat`. */
function part(own: Word, entry: Word): Similarity | undefined {
  const whole = compoundParts(entry).some(
    ([head = '', tail = '']) => own.folded === tail || own.stem === head || own.stem === tail,
  );
  const begun = compoundParts(entry).some(
    ([head = '', tail = '']) =>
      own.stem.length >= MIN_PREFIX_STEM_CHARACTERS && (head.startsWith(own.stem) || tail.startsWith(own.stem)),
  );
  return whole || begun ? { closeness: whole ? 0.78 : 0.7, by: 'part' } : undefined;
}

function mistyped(own: Word, entry: Word): Similarity | undefined {
  const { length } = own.folded;
  const limit = length < 4 ? 0 : length < 7 ? 1 : length < 11 ? 2 : 3;
  if (own.cut || limit === 0) return undefined;
  const errors = editDistance(own.folded, entry.folded, limit);
  if (errors <= limit) return { closeness: 0.92 - 0.08 * errors - (0.4 * errors) / length, by: 'typing-error' };
  // A typing error in an inflected form.
  const stemErrors = own.stem.length < 5 ? 2 : editDistance(own.stem, entry.stem, 1);
  return stemErrors <= 1 ? { closeness: 0.66, by: 'typing-error' } : undefined;
}
