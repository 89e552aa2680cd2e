import { listRecords } from '../simulation/service.ts';
import type { Home } from '../support/run-pas.ts';
import type { Stage } from './stage.ts';

export type Planned = {
  readonly localId: string;
  readonly note: string;
  readonly number: string;
  /** SHA-512 of each, in hexadecimal. */
  readonly photos: readonly string[];
};

type Open = { readonly entry: number; readonly find: string; readonly kind: string };
type Status = {
  readonly entries: Record<string, Record<string, number>>;
  readonly needs_person: readonly Open[];
};

const PROJECT = 'C-202400101';
const MAX_TURNS = 6;

/**
 * Pushes and looks until nothing is open; what no harvest can tell is told by a person who looks at
 * the service.
 */
export async function finish(home: Home, stage: Stage): Promise<string[]> {
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    await home.pas('push');
    const { entries, needs_person } = await home.json<Status>('status');
    const waiting = Object.values(entries).some(
      (states) => (states['queued'] ?? 0) + (states['sending'] ?? 0) > 0,
    );
    if (!waiting && needs_person.length === 0) return [];
    // Times are compared by the second.
    stage.mock.clock.advance(2100);
    if (turn < 2) await home.pas('reconcile');
    else await settleByHand(home, stage, needs_person);
  }
  return [`nothing brings it to rest: ${JSON.stringify(await home.json('status'))}`];
}

async function settleByHand(home: Home, stage: Stage, open: readonly Open[]): Promise<void> {
  for (const { find, entry, kind } of open) {
    const { entries } = await home.json<{
      entries: { entry: number; sha512?: string; value?: string }[];
    }>('show', find);
    const sentEntry = entries.find((each) => each.entry === entry);
    const record = listRecords(stage, PROJECT).find(
      ({ note }) => note === find.replace('K-', 'nález '),
    );
    const isThere =
      kind === 'import'
        ? record !== undefined
        : kind === 'photo' && record?.digests.includes(sentEntry?.sha512 ?? '') === true;
    const decision = isThere ? ['--created', String(record?.ident), '--yes'] : ['--resend'];
    await home.do('resolve', find, '--entry', String(entry), ...decision);
  }
}

/** Differences between the service and the plan, each once, in words. */
export async function compare(
  home: Home,
  stage: Stage,
  planned: readonly Planned[],
): Promise<string[]> {
  const madeRecords = listRecords(stage, PROJECT).filter(({ note }) => note.startsWith('nález '));
  const listed =
    await home.json<{ local_id: string; state: string; ident_cely: string | null }[]>('list');
  const problems = planned.flatMap(({ localId, note, number, photos }) => {
    const records = madeRecords.filter((record) => record.note === note);
    const here = listed.filter(({ local_id }) => local_id === localId);
    const [record] = records;
    return [
      records.length === 1 ? '' : `the service has ${localId} ${records.length} times`,
      here.length === 1 && here[0]?.state === 'accepted' && here[0].ident_cely === record?.ident
        ? ''
        : `the outbox has ${localId} as ${JSON.stringify(here)}`,
      String(record?.digests.toSorted()) === String(photos.toSorted())
        ? ''
        : `${localId} has ${record?.digests.length} photographs`,
      record?.number === number ? '' : `${localId} has the number ${record?.number}`,
    ].filter((problem) => problem !== '');
  });
  const otherRecords = madeRecords.filter(
    ({ note }) => !planned.some((plan) => plan.note === note),
  );
  return [...problems, ...otherRecords.map(({ note }) => `nobody planned ${note}`)];
}
