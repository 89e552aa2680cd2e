import { FakeRepository, type RepositoryHabits } from './fake-repository.ts';

/** A repository of terms, and the ways in which services list them. */
export const ident = (n: number): string => `HES-${String(n).padStart(6, '0')}`;

export function aRepository(count: number, habits: Partial<RepositoryHabits> = {}): FakeRepository {
  const repository = new FakeRepository(habits);
  for (let n = 1; n <= count; n++) repository.put(ident(n), `věc ${n}`);
  return repository;
}

export const HABITS: readonly (readonly [string, Partial<RepositoryHabits>])[] = [
  [
    'as deployed: newest first, ended by an empty page',
    { order: 'newest-first', end: 'empty-page' },
  ],
  [
    'as the standard has it: oldest first, ended by an empty token',
    { order: 'oldest-first', end: 'empty-token' },
  ],
  ['ended by no token', { order: 'oldest-first', end: 'no-token' }],
  ['that does not count, newest first', { order: 'newest-first', end: 'no-token', counts: false }],
  [
    'that does not count, oldest first',
    { order: 'oldest-first', end: 'empty-token', counts: false },
  ],
];
