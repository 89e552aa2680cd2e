import type { Home } from '../support/run-pas.ts';
import type { Planned } from './planned.ts';
import { ACCOUNT_OF, homeOf, SENDERS, type Sender } from './senders.ts';
import { type ServerFind, serverFinds } from './server-finds.ts';
import { pause, runs, type Stage, untilListed } from './stage.ts';
import type { Tally } from './tally.ts';

type Open = { readonly entry: number; readonly find: string; readonly kind: string; readonly state: string };
type Status = { readonly entries: Record<string, Record<string, number>>; readonly needs_person: readonly Open[] };

type Listed = { readonly local_id: string; readonly ident_cely: string | null; readonly state: string };

/** What the profiles of the home say of their finds. */
export async function listedBy(home: Home, senders: readonly Sender[] = SENDERS): Promise<(Listed & { sender: Sender })[]> {
  const lists = [];
  for (const sender of senders) {
    const listed = await homeOf(home, sender).json<Listed[]>('list');
    lists.push(listed.map((find) => ({ ...find, sender })));
  }
  return lists.flat();
}

/** Pushes and reconciles until nothing is open. What only a person can settle is settled by looking at the server. */
export async function finish(
  stage: Stage,
  laptop: Home,
  sender: Sender,
  planned: readonly Planned[],
  tally: Tally,
): Promise<void> {
  const home = homeOf(laptop, sender);
  const shared = planned.filter(({ senders }) => senders.length > 1).map(({ localId }) => localId);
  for (let turn = 0; turn < 12; turn += 1) {
    await runs(home, ['push', '--json'], shared.length > 0 ? [0, 3, 5, 6] : [0, 5, 6]);
    await removeRefused(home, shared);
    const { entries, needs_person } = await home.json<Status>('status');
    const open = Object.values(entries).reduce((sum, states) => sum + (states['queued'] ?? 0) + (states['sending'] ?? 0), 0);
    if (open === 0 && needs_person.length === 0) return;
    if (needs_person.length === 0) continue;
    await pause(2600);
    await runs(home, ['reconcile'], [0, 6]);
    if (turn >= 3) await settleByHand(stage, laptop, sender, planned, tally);
  }
  throw new Error(`the outbox did not come to rest: ${JSON.stringify(await home.json<Status>('status'))}`);
}

/** A find that the other profile sent is not sent by this one, which says how to take it away. */
async function removeRefused(home: Home, shared: readonly string[]): Promise<void> {
  const { needs_person } = await home.json<Status>('status');
  const refused = needs_person.filter(
    ({ find, kind, state }) => kind === 'import' && state === 'refused' && shared.includes(find),
  );
  for (const { find } of refused) await runs(home, ['remove', find, '--yes'], [0]);
}

async function settleByHand(
  stage: Stage,
  laptop: Home,
  sender: Sender,
  planned: readonly Planned[],
  tally: Tally,
): Promise<void> {
  await untilListed(stage);
  const home = homeOf(laptop, sender);
  const { needs_person } = await home.json<Status>('status');
  const records = await serverFinds(stage.service());
  const taken = new Map((await listedBy(laptop)).map((find) => [find.ident_cely, find.local_id]));
  for (const { find, kind, entry } of needs_person) {
    const plan = planned.find(({ localId }) => localId === find);
    if (plan === undefined || kind === 'number') continue;
    // Of twins a person takes any record of the account's that is nobody's yet.
    const record = records.find(({ note, identCely, maker }) =>
      kind === 'import'
        ? note === plan.note && maker === ACCOUNT_OF[sender] && !taken.has(identCely)
        : taken.get(identCely) === find,
    );
    const isThere = kind === 'import' ? record !== undefined : await isAttached(home, find, entry, record);
    const decision = isThere && record !== undefined ? ['--created', record.identCely] : ['--resend'];
    tally.persons += 1;
    await runs(home, ['resolve', find, '--entry', String(entry), ...decision], [0]);
    if (kind === 'import' && record !== undefined) taken.set(record.identCely, find);
  }
}

/** A person looks whether the photograph is among the record's. */
async function isAttached(home: Home, find: string, entry: number, record: ServerFind | undefined): Promise<boolean> {
  const { entries } = await home.json<{ entries: { entry: number; sha512?: string }[] }>('show', find);
  const sha512 = entries.find((each) => each.entry === entry)?.sha512;
  return record?.digests.includes(sha512 ?? '') === true;
}
