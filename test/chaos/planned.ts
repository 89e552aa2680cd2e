import { createHash } from 'node:crypto';
import { tinyPng } from '../support/a-season.ts';
import { expectDone, type Home } from '../support/run-pas.ts';
import type { Random } from './random.ts';
import { pickSenders, type Sender } from './senders.ts';

export type Planned = {
  readonly localId: string;
  /** Tells it from all others at the service but its twins, which are the same in every element. */
  readonly note: string;
  readonly longitude: string;
  readonly photos: readonly Buffer[];
  readonly number: string | undefined;
  /** The profiles that import it; it is queued by the first of them, and sent by its account. */
  readonly senders: readonly Sender[];
};

/** The finds of a round. */
export function planFinds(round: number, random: Random, dice: Random): Planned[] {
  const planned = Array.from({ length: random.between(2, 6) }, (_, index): Planned => {
    const localId = `R${round}-${index}`;
    return {
      localId,
      note: `chaos ${localId}`,
      photos: Array.from({ length: random.between(0, 2) }, (__, photo) => tinyPng(round * 100 + index * 10 + photo)),
      number: random.chance(0.5) ? `N ${localId}` : undefined,
      longitude: (14.4 + random.next() * 0.05).toFixed(6),
      senders: ['first'],
    };
  });
  const withSome = dice.chance(0.35) ? withTwins(planned, dice) : planned;
  return dice.chance(0.4) ? withSome.map((find) => sentBy(pickSenders(dice), find)) : withSome;
}

export function senderOf({ senders }: Planned): Sender {
  return senders[0] ?? 'first';
}

/** A researcher may not set numbers. */
function sentBy(senders: readonly Sender[], find: Planned): Planned {
  return { ...find, senders, number: senders.includes('second') ? undefined : find.number };
}

/** Each keeps its own photographs and number. */
function withTwins(planned: readonly Planned[], dice: Random): Planned[] {
  const first = dice.between(0, planned.length - 2);
  const last = Math.min(planned.length - 1, first + dice.between(1, 2));
  const { note, longitude } = planned[first] as Planned;
  return planned.map((find, index) => (index > first && index <= last ? { ...find, note, longitude } : find));
}

export function twinsAmong(planned: readonly Planned[]): number {
  const notes = planned.map(({ note }) => note);
  return notes.filter((note) => notes.indexOf(note) !== notes.lastIndexOf(note)).length;
}

/** Puts finds into the outbox for a profile, with their photographs and numbers. */
export async function queueFinds(home: Home, round: number, planned: readonly Planned[]): Promise<void> {
  if (planned.length === 0) return;
  const rows = planned.map(({ localId, note, longitude, photos }) => {
    const names = photos.map((_, photo) => `${localId}-${photo}.png`);
    for (const [photo, name] of names.entries()) home.file(name, photos[photo] as Buffer);
    return `${localId};C-202400101;1;4326;HES-000867;${longitude};50.08;${note};"${names.join(';')}"`;
  });
  const header = 'local_id;projekt;stav;geom_system;pristupnost;lon;lat;poznamka;photos';
  await expectDone(home.pas('import', home.file(`round-${round}.csv`, [header, ...rows].join('\n'))));
  for (const { localId, number } of planned) {
    if (number !== undefined) await expectDone(home.pas('number', 'set', localId, number));
  }
}

export function digestsOf({ photos }: Planned): string[] {
  return photos.map((bytes) => createHash('sha512').update(bytes).digest('hex'));
}
