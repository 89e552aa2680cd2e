import { join } from 'node:path';
import { openSqlite } from '../../src/store/database.ts';
import { elementText, importXml, tokenOf } from '../support/contract-requests.ts';
import type { Home } from '../support/run-pas.ts';
import type { Planned } from './planned.ts';
import type { Random } from './random.ts';
import { pause, type Stage } from './stage.ts';

/** Colleagues who may write to the project, and who send nothing from this home. */
const COLLEAGUES = ['archivist', 'admin'] as const;
const MOST_TRIES = 10;

/**
 * A colleague enters one of the finds, too, the same in every element, while the service has no faults.
 * @returns the identifier of that record, which is nobody's here
 */
export async function writeByHand({ service, home }: Stage, planned: readonly Planned[], dice: Random): Promise<string> {
  const [colleague, { localId }] = [dice.pick(COLLEAGUES), dice.pick(planned)];
  const served = { url: service().base_url };
  const token = await tokenOf(served, colleague);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const answer = await importXml(served, documentOf(home, localId), { token });
    const identCely = elementText(answer.text, 'ident_cely');
    if (answer.status === 201 && identCely !== undefined) return identCely;
    if (answer.status !== 429) throw new Error(`${colleague} was answered ${answer.status}: ${answer.text}`);
    await pause(50);
  }
  throw new Error(`${colleague} was throttled ${MOST_TRIES} times`);
}

/** The bytes that `pas` sends for the find. */
function documentOf({ folder }: Home, localId: string): string {
  const outbox = openSqlite(join(folder, 'pas', 'outbox.sqlite'), { readonly: true });
  try {
    const document = outbox
      .prepare(`select document from entries join finds on finds.id = find_id where local_id = ? and kind = 'import'`)
      .pluck()
      .get(localId) as Buffer;
    return document.toString('utf8');
  } finally {
    outbox.close();
  }
}
