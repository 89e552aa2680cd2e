import type { Home } from './run-pas.ts';

/** The state of each find, by its name, as `pas list` says it. */
export async function findStates(home: Home): Promise<Record<string, string>> {
  const listed = await home.json('list');
  return Object.fromEntries(listed.map(({ local_id, state }) => [local_id, state]));
}
