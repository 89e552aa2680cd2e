import type { Home } from '../support/run-pas.ts';
import { type Planned, senderOf } from './planned.ts';
import { ACCOUNT_OF, homeOf, type Sender } from './senders.ts';
import { type ServerFind, serverFinds } from './server-finds.ts';
import { pause, runs, type Stage, untilListed } from './stage.ts';
import type { Tally } from './tally.ts';

type Open = { readonly entry: number; readonly find: string; readonly kind: string; readonly state: string };
type Status = { readonly entries: Record<string, Record<string, number>>; readonly needs_person: readonly Open[] };

export type Listed = { readonly local_id: string; readonly ident_cely: string | null; readonly state: string };

/** Pushes and reconciles until nothing is open. What only a person can settle is settled by looking at the server. */
export async function finish(
  stage: Stage,
  laptop: Home,
  senders: readonly Sender[],
  planned: readonly Planned[],
  tally: Tally,
): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) {
    for (const sender of senders) await runs(homeOf(laptop, sender), ['push', '--json'], [0, 5, 6]);
    const { entries, needs_person } = await laptop.json<Status>('status');
    const open = Object.values(entries).reduce((sum, states) => sum + (states['queued'] ?? 0) + (states['sending'] ?? 0), 0);
    if (open === 0 && needs_person.length === 0) return;
    if (needs_person.length === 0) continue;
    await pause(2600);
    for (const sender of senders) await runs(homeOf(laptop, sender), ['reconcile'], [0, 6]);
    if (turn >= 3) await settleByHand(stage, laptop, planned, tally);
  }
  throw new Error(`the outbox did not come to rest: ${JSON.stringify(await laptop.json<Status>('status'))}`);
}

async function settleByHand(stage: Stage, home: Home, planned: readonly Planned[], tally: Tally): Promise<void> {
  await untilListed(stage);
  const { needs_person } = await home.json<Status>('status');
  const records = await serverFinds(stage.service());
  const taken = new Map((await home.json<Listed[]>('list')).map((find) => [find.ident_cely, find.local_id]));
  for (const { find, kind, entry } of needs_person) {
    const plan = planned.find(({ localId }) => localId === find);
    if (plan === undefined || kind === 'number') continue;
    // Of twins a person takes any record of the account's that is nobody's yet.
    const maker = ACCOUNT_OF[senderOf(plan)];
    const record = records.find((each) =>
      kind === 'import'
        ? each.note === plan.note && each.maker === maker && !taken.has(each.identCely)
        : taken.get(each.identCely) === find,
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
