import { addressFlags, expectDone, type Home, type Service } from '../support/run-pas.ts';
import type { Random } from './random.ts';
import { PROFILE_FLAGS, runs, type Stage } from './stage.ts';

/** The same address in other words. */
const SPELLINGS: readonly ((address: string) => string)[] = [
  (address) => `${address}/`,
  (address) => `${address}///`,
  (address) => address.replace('http:', 'HTTP:'),
  (address) => address,
];

/** Lets the default profile name another service for a while, which must be told nothing, and then its own again, perhaps spelt otherwise. */
export async function repoint({ other, service }: Stage, home: Home, dice: Random): Promise<void> {
  await pointAt(home, other);
  const visitor = home.with({ PAS_PASSWORD: undefined });
  await runs(visitor, ['push', '--only', 'number,photo', '--json'], [0, 4, 5, 6]);
  const listed = await visitor.json<{ local_id: string; ident_cely: string | null }[]>('list');
  const shown = listed.filter(({ ident_cely }) => ident_cely !== null);
  if (shown.length > 0) throw new Error(`another service’s records are shown: ${JSON.stringify(shown)}`);
  const journal = await other.control<{ path: string }[]>('GET', '/journal');
  const told = journal.filter(({ path }) => path.startsWith('/api'));
  if (told.length > 0) throw new Error(`another service was told something: ${JSON.stringify(told)}`);
  await pointAt(home, { ...service(), base_url: dice.pick(SPELLINGS)(service().base_url) });
}

async function pointAt(home: Home, service: Service): Promise<void> {
  const account = ['--kind', 'training', '--username', 'archaeologist', '--oai-auth', 'basic'];
  await expectDone(home.pas('init', '--name', 'mock', ...account, ...addressFlags(service), ...PROFILE_FLAGS));
}
