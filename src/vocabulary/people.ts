import { createRowParser, isText, orNull } from '../store/row.ts';
import { canAbbreviate, editDistance, nameKey, nameWords } from '../text/names.ts';
import type { Candidate, TermAnswer } from './candidate.ts';
import { isHarvested } from './harvests.ts';
import type { Vocabulary } from './vocabulary.ts';

type Person = Candidate & {
  readonly isGone: boolean;
  /** Folded name, surname first, for comparisons. */
  readonly plain: string;
  readonly letters: number;
};

type People = {
  readonly all: readonly Person[];
  readonly byName: ReadonlyMap<string, readonly Person[]>;
  /** By each word of the surname, including that at birth. */
  readonly bySurname: ReadonlyMap<string, readonly Person[]>;
};

const parsePerson = createRowParser({
  ...{ id: isText, label: isText, gone: orNull(isText) },
  ...{ bornAs: orNull(isText), born: orNull(isText), died: orNull(isText) },
});
type PersonRow = ReturnType<typeof parsePerson>;

export const PEOPLE_SET = 'osoba';
const MAX_NEAREST = 3;
const MAX_SHORTENED = 10;

/** Makes a lookup of people by name, independent of case, accents and order of the parts. The index is built on first use. */
export function makePeopleLookup(vocabulary: Vocabulary): (name: string) => TermAnswer {
  let made: People | undefined;
  return (name) => {
    made ??= indexPeople(vocabulary);
    const people = made;
    const found = people.byName.get(nameKey(name)) ?? [];
    const alive = found.filter(({ isGone }) => !isGone);
    const written = asLabel(name);
    const exact = alive.filter(({ label }) => [label, ...withoutComma(label)].includes(written));
    const [only, another] = exact.length > 0 ? exact : alive;
    if (only !== undefined && another === undefined) return { kind: 'found', term: candidateFrom(only) };
    if (only !== undefined) return { kind: 'ambiguous', candidates: alive.map(candidateFrom) };
    const [dead] = found;
    if (dead !== undefined) return { kind: 'deleted', term: candidateFrom(dead) };
    if (!isHarvested(vocabulary, PEOPLE_SET)) return { kind: 'not-harvested' };
    return { kind: 'unknown', nearest: nearestPeople(people, name).map(candidateFrom) };
  };
}

function asLabel(name: string): string {
  return name.normalize('NFC').replace(/\s+/g, ' ').replace(/ ?, ?/, ', ').trim();
}

function withoutComma(label: string): string[] {
  const [surname = '', given = ''] = label.split(/,(.*)/).map((part) => part.trim());
  return [`${surname} ${given}`, `${given} ${surname}`];
}

function candidateFrom({ id, label, setSpec, about }: Person): Candidate {
  return { id, label, setSpec, ...(about === undefined ? {} : { about }) };
}

function indexPeople(vocabulary: Vocabulary): People {
  const rows = vocabulary
    .sql(
      `select ident as id, label, gone, details ->> '$.facts.rodne_prijmeni' as bornAs, details ->> '$.facts.rok_narozeni' as born,
         details ->> '$.facts.rok_umrti' as died
       from terms where source = ? and set_spec = '${PEOPLE_SET}' order by ident`,
    )
    .all(vocabulary.source)
    .map(parsePerson);
  const [all, byName, bySurname] = [[] as Person[], new Map<string, Person[]>(), new Map<string, Person[]>()];
  for (const row of rows) {
    const words = nameWords(row.label);
    const plain = words.join(' ');
    const about = aboutOf(row);
    const person = {
      ...{ id: row.id, label: row.label, setSpec: PEOPLE_SET, isGone: row.gone !== null, plain, letters: lettersOf(plain) },
      ...(about === '' ? {} : { about }),
    };
    all.push(person);
    put(byName, words.sort().join(' '), person);
    if (person.isGone) continue;
    for (const word of nameWords(`${row.label.split(',', 1)[0]} ${row.bornAs ?? ''}`)) put(bySurname, word, person);
  }
  return { all, byName, bySurname };
}

function put(index: Map<string, Person[]>, key: string, person: Person): void {
  const before = index.get(key);
  if (before === undefined) index.set(key, [person]);
  else before.push(person);
}

function aboutOf({ bornAs, born, died }: PersonRow): string {
  const years = [born ?? '', died ?? ''].join('–').replace(/–$/, '');
  return [years, ...(bornAs === null ? [] : [`roz. ${bornAs}`])].filter((part) => part !== '').join(', ');
}

/** Returns people with an abbreviated name first, then similar names, then the same surname and initial. */
function nearestPeople({ all, bySurname }: People, name: string): Person[] {
  const words = nameWords(name);
  const namesakes = [...new Set(words.flatMap((word) => bySurname.get(word) ?? []))];
  const shortened = namesakes.filter(({ label }) => canAbbreviate(name, label)).slice(0, MAX_SHORTENED);
  if (shortened.length > 0) return shortened;
  const plain = words.join(' ');
  const letters = lettersOf(plain);
  const limit = Math.max(1, Math.floor(plain.length / 4));
  const close = all
    .filter((person) => !person.isGone && lettersApart(letters, person.letters) <= 2 * limit)
    .map((person) => ({ person, errors: editDistance(plain, person.plain, limit) }))
    .filter(({ errors }) => errors <= limit)
    .sort((a, b) => a.errors - b.errors)
    .map(({ person }) => person);
  const initials = new Set(words.map((word) => word[0]));
  const related = namesakes.filter(
    ({ label }) => words.length === 1 || initials.has(nameWords(label.split(',')[1] ?? '')[0]?.[0] ?? ''),
  );
  return [...new Set([...close, ...related])].slice(0, MAX_NEAREST);
}

/** Returns a bit set of the letters of a text, by which most dissimilar texts are excluded fast. */
function lettersOf(text: string): number {
  let bits = 0;
  for (let index = 0; index < text.length; index++) bits |= 1 << (text.charCodeAt(index) & 31);
  return bits;
}

function lettersApart(one: number, other: number): number {
  let count = 0;
  for (let bits = one ^ other; bits !== 0; bits &= bits - 1) count += 1;
  return count;
}
