import { join } from 'node:path';
import { systemClock } from '../dist/src/base/clock.js';
import { searchTerms } from '../dist/src/vocabulary/search.js';
import { putTerm } from '../dist/src/vocabulary/terms.js';
import { openVocabulary } from '../dist/src/vocabulary/vocabulary-store.js';
import { median } from './measure.mjs';

export const title = 'search among 100,000 terms';

const TERMS = 100_000;
const LIMIT_MS = 50;
const TYPED = ['spona', 'SPÓNA', 'brooch', 'spna', 'na', 'kole', 'mispas kruhy'];
const SYLLABLES = [
  'spo',
  'na',
  'ko',
  'le',
  'mis',
  'ka',
  'vo',
  'pas',
  'ha',
  'kru',
  'hy',
  'pře',
  'zka',
  'žík',
  'men',
  'ti',
  'ra',
  'lo',
];

export async function run(bench) {
  const store = openVocabulary(join(bench.folder, 'vocabulary.sqlite'), systemClock);
  const vocabulary = store.source('https://harvest.example.org');
  fill(vocabulary);
  for (const typed of TYPED) {
    const times = Array.from({ length: 7 }, () => {
      const startedMs = performance.now();
      searchTerms(vocabulary, typed, { limit: 20 });
      return performance.now() - startedMs;
    });
    const ms = median(times);
    bench.verdict(`vocab search "${typed}"`, {
      figure: `${ms.toFixed(1)} ms`,
      against: `${LIMIT_MS} ms`,
      ratio: ms / LIMIT_MS,
      target: 1,
      better: 'less',
    });
  }
  store.close();
}

function fill(vocabulary) {
  let seed = 7;
  const random = (below) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  const word = () => Array.from({ length: 3 + random(3) }, () => SYLLABLES[random(SYLLABLES.length)]).join('');
  vocabulary.change(() => {
    for (let n = 1; n < TERMS; n++) putTerm(vocabulary, term(`HES-${n}`, `${word()} ${word()}`, word(), `heslo:s${n % 40}`), 1);
    putTerm(vocabulary, term('HES-000000', 'spona', 'brooch', 'heslo:predmet_druh'), 1);
  });
}

function term(ident, label, labelEn, setSpec) {
  const empty = { abbreviation: null, description: null, descriptionEn: null, sortOrder: null, boundary: null };
  return { ident, setSpec, label, labelEn, otherNames: [], superiors: [], details: {}, ...empty };
}
