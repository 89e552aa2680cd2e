import type { Home } from '../support/run-pas.ts';
import type { Listed, Status } from './finish.ts';
import { digestsOf, type Planned, senderOf } from './planned.ts';
import { ACCOUNT_OF, homeOf } from './senders.ts';
import { serverFinds } from './server-finds.ts';
import { type Stage, untilListed } from './stage.ts';

/**
 * The server holds each find, photograph and number exactly once, and the outbox says the same.
 * @param byHand records that colleagues wrote, which must be as they left them
 */
export async function expectEachOnce(
  stage: Stage,
  home: Home,
  planned: readonly Planned[],
  byHand: readonly string[],
): Promise<void> {
  await untilListed(stage);
  const listed = await homeOf(home, 'first').json<Listed[]>('list');
  const other = await homeOf(home, 'second').json<Listed[]>('list');
  if (JSON.stringify(other) !== JSON.stringify(listed)) throw new Error('the accounts of one service see different finds');
  // Nothing of a round is a reason to refuse it.
  const { entries } = await home.json<Status>('status');
  const refused = Object.entries(entries).filter(([, states]) => (states['refused'] ?? 0) > 0);
  if (refused.length > 0) throw new Error(`the outbox calls some refused: ${JSON.stringify(refused)}`);
  const all = await serverFinds(stage.service());
  for (const identCely of byHand) {
    const record = all.find((each) => each.identCely === identCely);
    const owners = listed.filter(({ ident_cely }) => ident_cely === identCely).map(({ local_id }) => local_id);
    if (record === undefined || record.digests.length > 0 || record.number !== '' || owners.length > 0)
      throw new Error(`${identCely}, which a colleague wrote, was taken for ${owners} or changed: ${JSON.stringify(record)}`);
  }
  const records = all.filter(({ identCely }) => !byHand.includes(identCely));
  for (const plan of planned) {
    const { localId, note } = plan;
    const made = records.filter((record) => record.note === note);
    const twins = planned.filter((other) => other.note === note).length;
    const [here, ...others] = listed.filter(({ local_id, ident_cely }) => local_id === localId && ident_cely !== null);
    const sharing = listed.filter(({ ident_cely }) => ident_cely === here?.ident_cely).length;
    const record = made.find(({ identCely }) => identCely === here?.ident_cely);
    const number = plan.number ?? '';
    const problems = [
      made.length === twins ? '' : `the server has it and its twins ${made.length} times in place of ${twins}`,
      here?.state === 'accepted' && others.length === 0
        ? ''
        : `the outbox calls it ${here?.state} and has it ${1 + others.length} times`,
      record !== undefined && sharing === 1
        ? ''
        : `the server calls it ${made.map(({ identCely }) => identCely)}, the outbox ${here?.ident_cely}, which ${sharing} finds have`,
      record?.maker === ACCOUNT_OF[senderOf(plan)] ? '' : `${senderOf(plan)} queued what ${record?.maker} made`,
      // Its own, each once: a twin's would be another digest.
      String(record?.digests.toSorted()) === String(digestsOf(plan).sort())
        ? ''
        : `${record?.digests.length} photographs of ${plan.photos.length}, or others`,
      record?.number === number ? '' : `number ${record?.number} in place of ${number}`,
    ].filter((problem) => problem !== '');
    if (problems.length > 0) throw new Error(`${localId}: ${problems.join('; ')}`);
  }
}
