import type { Home } from '../support/run-pas.ts';
import type { InUse } from './copies.ts';
import { digestsOf, type Planned, senderOf } from './planned.ts';
import { ACCOUNT_OF, homeOf, type Sender } from './senders.ts';
import { type ServerFind, serverFinds } from './server-finds.ts';
import { pause, runs, type Stage, untilListed } from './stage.ts';
import type { Tally } from './tally.ts';

type Open = { readonly entry: number; readonly find: string; readonly kind: string; readonly state: string };
export type Status = { readonly entries: Record<string, Record<string, number>>; readonly needs_person: readonly Open[] };

export type Listed = { readonly local_id: string; readonly ident_cely: string | null; readonly state: string };

const MOST_TURNS = 16;

/**
 * Pushes and reconciles until nothing is open in any copy. What only a person can settle is settled by looking at the server and at the
 * other copies.
 */
export async function finish(
  stage: Stage,
  copies: readonly InUse[],
  senders: readonly Sender[],
  planned: readonly Planned[],
  tally: Tally,
): Promise<void> {
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    for (const { home, said } of copies)
      for (const sender of senders) await runs(homeOf(home, sender), ['push', '--json', ...said], [0, 5, 6, 11]);
    const all = await answersOf<Status>(copies, 'status');
    if (all.every(isAtRest)) return;
    if (all.every(({ needs_person }) => needs_person.length === 0)) continue;
    await pause(1500);
    for (const { home } of copies) for (const sender of senders) await runs(homeOf(home, sender), ['reconcile'], [0, 6]);
    if (turn >= 3) await settleByHand(stage, copies, planned, tally);
  }
  const left = await answersOf<Status>(copies, 'status');
  throw new Error(`the outbox did not come to rest: ${JSON.stringify(left)}`);
}

/** One after another, so that they can share a process. */
async function answersOf<T>(copies: readonly InUse[], command: string): Promise<T[]> {
  const answers: T[] = [];
  for (const { home } of copies) answers.push(await home.json<T>(command));
  return answers;
}

function isAtRest({ entries, needs_person }: Status): boolean {
  const open = Object.values(entries).reduce((sum, states) => sum + (states['queued'] ?? 0) + (states['sending'] ?? 0), 0);
  return open === 0 && needs_person.length === 0;
}

/** Copy by copy. What the service does not have is sent by the first of them that has it open; the others wait until that one is at rest. */
async function settleByHand(stage: Stage, copies: readonly InUse[], planned: readonly Planned[], tally: Tally): Promise<void> {
  await untilListed(stage);
  for (const [index, { home }] of copies.entries()) {
    const isNext = (await answersOf<Status>(copies.slice(0, index), 'status')).every(isAtRest);
    const { needs_person } = await home.json<Status>('status');
    const others = await answersOf<Listed[]>(copies, 'list');
    const records = await serverFinds(stage.service());
    const taken = new Map((await home.json<Listed[]>('list')).map((find) => [find.ident_cely, find.local_id]));
    for (const { find, kind, entry } of needs_person) {
      const plan = planned.find(({ localId }) => localId === find);
      if (plan === undefined) continue;
      const twins = planned.filter(({ note, localId }) => note === plan.note && localId !== find);
      const free = records.filter((each) => !twins.some((twin) => isMarkedAs(each, twin)));
      const record = recordOf(plan, kind, free, taken, others.flat());
      const isThere = record !== undefined && (kind === 'import' || (await isGiven(home, plan, { kind, entry }, record)));
      if (!isThere && !isNext) continue;
      tally.persons += 1;
      const decision = isThere ? ['--created', record.identCely, '--yes'] : ['--resend'];
      await runs(home, ['resolve', find, '--entry', String(entry), ...decision], [0]);
      if (kind === 'import' && record !== undefined) taken.set(record.identCely, find);
    }
  }
}

/** Of twins a person takes the one that another copy knows to be this one, or any record of the account's that is nobody's yet. */
function recordOf(
  plan: Planned,
  kind: string,
  records: readonly ServerFind[],
  taken: ReadonlyMap<string | null, string>,
  known: readonly Listed[],
): ServerFind | undefined {
  if (kind !== 'import') return records.find(({ identCely }) => taken.get(identCely) === plan.localId);
  const isOf = ({ identCely }: ServerFind, localId: string) =>
    known.some((find) => find.ident_cely === identCely && find.local_id === localId);
  const free = records.filter(
    (each) => each.note === plan.note && each.maker === ACCOUNT_OF[senderOf(plan)] && !taken.has(each.identCely),
  );
  return (
    free.find((each) => isOf(each, plan.localId)) ??
    free.find(({ identCely }) => !known.some((find) => find.ident_cely === identCely))
  );
}

/** Twins are told apart by their photographs and numbers. */
function isMarkedAs({ number, digests }: ServerFind, twin: Planned): boolean {
  return number.startsWith(`N ${twin.localId}`) || digestsOf(twin).some((digest) => digests.includes(digest));
}

/** A person looks whether the record has the photograph, or the number. */
async function isGiven(
  home: Home,
  plan: Planned,
  { kind, entry }: Pick<Open, 'kind' | 'entry'>,
  record: ServerFind,
): Promise<boolean> {
  if (kind === 'number') return record.number === plan.number;
  const { entries } = await home.json<{ entries: { entry: number; sha512?: string }[] }>('show', plan.localId);
  const sha512 = entries.find((each) => each.entry === entry)?.sha512;
  return record.digests.includes(sha512 ?? '');
}
