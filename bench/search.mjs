import { join } from 'node:path';
import { systemClock } from '../dist/src/base/clock.js';
import { openSqlite } from '../dist/src/base/disk/database.js';
import { searchTerms } from '../dist/src/finds/vocabulary/search.js';
import { openVocabulary } from '../dist/src/finds/vocabulary/term-lookup.js';
import { storeTerm } from '../dist/src/finds/vocabulary/terms.js';
import { median } from './measure.mjs';

export const title = 'search among 100,000 terms';

const TERMS = 100_000;
const ROUNDS = 7;
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
  const vocabulary = store.openSource('https://harvest.example.org');
  const askSqlite = trigramQuery(fill(vocabulary));
  let ownMs = 0;
  let sqliteMs = 0;
  for (const typed of TYPED) {
    const times = [];
    const sqliteTimes = [];
    for (let round = 0; round < ROUNDS; round++) {
      times.push(timeMs(() => searchTerms(vocabulary, typed, { limit: 20 })));
      sqliteTimes.push(timeMs(() => askSqlite(typed)));
    }
    const ms = median(times);
    const otherMs = median(sqliteTimes);
    bench.say(`  "${typed}": ${ms.toFixed(1)} ms, SQLite's own ${otherMs.toFixed(1)} ms`);
    ownMs += ms;
    sqliteMs += otherMs;
  }
  // One word alone says little: SQLite has nothing to rank where few labels share a group.
  bench.verdict(`vocab search, ${TYPED.length} texts together`, {
    figure: `${ownMs.toFixed(0)} ms`,
    against: `SQLite's own ${sqliteMs.toFixed(0)} ms`,
    ratio: ownMs / sqliteMs,
    target: 1,
    better: 'less',
  });
  store.close();
}

/**
 * The same labels in SQLite's own index of groups of three letters: those that share most of them
 * with what was typed. A text of two letters has no such group, so all labels are looked through
 * for it.
 */
function trigramQuery(labels) {
  const database = openSqlite(':memory:');
  database.exec(
    "create virtual table labels using fts5 (label, tokenize = 'trigram remove_diacritics 1')",
  );
  const insert = database.prepare('insert into labels (label) values (?)');
  database.transaction(() => {
    for (const label of labels) insert.run(label);
  })();
  const sharing = database.prepare(
    'select label from labels where labels match ? order by rank limit 20',
  );
  const containing = database.prepare('select label from labels where label like ?');
  return (typed) => {
    const groups = typed
      .split(' ')
      .flatMap((word) => Array.from(word.slice(2), (_, at) => `"${word.slice(at, at + 3)}"`));
    return groups.length === 0
      ? containing.all(`%${typed}%`)
      : sharing.all(groups.join(' or ').toUpperCase());
  };
}

function timeMs(work) {
  const startedMs = performance.now();
  work();
  return performance.now() - startedMs;
}

function fill(vocabulary) {
  let seed = 7;
  const random = (below) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  const labels = [];
  const put = (added) => {
    storeTerm(vocabulary, added, 1);
    labels.push(`${added.label} ${added.labelEn}`);
  };
  const word = () =>
    Array.from({ length: 3 + random(3) }, () => SYLLABLES[random(SYLLABLES.length)]).join('');
  vocabulary.change(() => {
    for (let n = 1; n < TERMS; n++)
      put(term(`HES-${n}`, `${word()} ${word()}`, word(), `heslo:s${n % 40}`));
    put(term('HES-000000', 'spona', 'brooch', 'heslo:predmet_druh'));
  });
  return labels;
}

function term(ident, label, labelEn, setSpec) {
  const empty = {
    abbreviation: null,
    description: null,
    descriptionEn: null,
    sortOrder: null,
    boundary: null,
  };
  return { ident, setSpec, label, labelEn, otherNames: [], superiors: [], details: {}, ...empty };
}
