import type { Home } from '../support/run-pas.ts';
import type { Listed } from './finish.ts';
import { digestsOf, type Planned } from './planned.ts';
import { serverFinds } from './server-finds.ts';
import { type Stage, untilListed } from './stage.ts';

/** The server holds each find, photograph and number exactly once, and the outbox says the same. */
export async function expectEachOnce(stage: Stage, home: Home, planned: readonly Planned[]): Promise<void> {
  await untilListed(stage);
  const listed = await home.json<Listed[]>('list');
  const records = await serverFinds(stage.service());
  for (const plan of planned) {
    const { localId, note } = plan;
    const made = records.filter((record) => record.note === note);
    const twins = planned.filter((other) => other.note === note).length;
    const here = listed.find(({ local_id }) => local_id === localId);
    const sharing = listed.filter(({ ident_cely }) => ident_cely === here?.ident_cely).length;
    const record = made.find(({ identCely }) => identCely === here?.ident_cely);
    const number = plan.number ?? '';
    const problems = [
      made.length === twins ? '' : `the server has it and its twins ${made.length} times in place of ${twins}`,
      here?.state === 'accepted' ? '' : `the outbox calls it ${here?.state}`,
      record !== undefined && sharing === 1
        ? ''
        : `the server calls it ${made.map(({ identCely }) => identCely)}, the outbox ${here?.ident_cely}, which ${sharing} finds have`,
      // Its own, each once: a twin's would be another digest.
      String(record?.digests.toSorted()) === String(digestsOf(plan).sort())
        ? ''
        : `${record?.digests.length} photographs of ${plan.photos.length}, or others`,
      record?.number === number ? '' : `number ${record?.number} in place of ${number}`,
    ].filter((problem) => problem !== '');
    if (problems.length > 0) throw new Error(`${localId}: ${problems.join('; ')}`);
  }
}
