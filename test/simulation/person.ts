import type { Asked } from './oracle.ts';
import type { Entry } from './outboxes.ts';
import { ACCOUNT_IDS } from './scenario.ts';
import type { ServiceRecord } from './service.ts';

/** Knowledge of a person who sees the service and all homes. */
export type Known = {
  readonly records: readonly ServiceRecord[];
  readonly asked: ReadonlyMap<string, Asked>;
  /** All entries of all homes that are in use. */
  readonly entries: readonly Entry[];
  /** Nothing that was sent can come to the service any more. */
  readonly isQuiet: boolean;
};

/** The find that an entry is about, also where it got another name because its own was taken. */
export function findAsked(
  { find }: Pick<Entry, 'find'>,
  { asked, records }: Pick<Known, 'asked' | 'records'>,
): Asked | undefined {
  const id = find.replace(/^T-/, 'F-');
  const plannedFind = asked.get(id) ?? asked.get(id.replace(/-\d+$/, ''));
  if (plannedFind !== undefined) return plannedFind;
  const note = records.find(({ ident }) => ident === find)?.note;
  return [...asked.values()].find((each) => each.note === note);
}

/**
 * Answer of a truthful person about a held or uncertain entry; undefined where it cannot be known
 * yet.
 */
export function answerTo(entry: Entry, knowledge: Known): readonly string[] | undefined {
  const asked = findAsked(entry, knowledge);
  if (asked === undefined) return undefined;
  const record = knowledge.records.find(({ ident }) => ident === entry.ident);
  if (entry.kind !== 'import' && record?.isDeleted === true) return ['--drop'];
  if (entry.held === 'record-not-ours' && record?.maker !== ACCOUNT_IDS[asked.account])
    return ['--drop'];
  switch (entry.kind) {
    case 'import':
      // A colleague's.
      if (entry.profile !== asked.account && entry.profile !== 'training') return ['--drop'];
      return answerToImport(entry, asked, knowledge);
    case 'photo':
      if (record?.digests.includes(entry.digest ?? '') === true) return created(record);
      return knowledge.isQuiet ? ['--resend'] : undefined;
    case 'number':
      if (record !== undefined && record.number === entry.value) return created(record);
      if (entry.value !== asked.numbers.at(-1)?.value) return ['--drop'];
      return knowledge.isQuiet ? ['--resend'] : undefined;
  }
}

function answerToImport(
  entry: Entry,
  asked: Asked,
  knowledge: Known,
): readonly string[] | undefined {
  const otherEntries = knowledge.entries.filter(
    ({ kind, service }) => kind === 'import' && service === entry.service,
  );
  const isSame = (other: Entry): boolean => findAsked(other, knowledge) === asked;
  const namesake = otherEntries.find(
    (other) =>
      other.outbox === entry.outbox &&
      other.id !== entry.id &&
      other.state !== 'dropped' &&
      isSame(other),
  );
  if (namesake !== undefined) return ['--drop'];
  const accepted = otherEntries.filter(({ state }) => state === 'accepted');
  const owners = accepted.filter((other) => !isSame(other));
  const records = knowledge.records.filter(
    ({ note, maker }) => note === asked.note && maker === ACCOUNT_IDS[asked.account],
  );
  // A service that was restored gives identifiers again: one that still is another find's here
  // cannot be named.
  const isAnothers = ({ ident }: ServiceRecord): boolean =>
    owners.some(
      (owner) => owner.ident === ident && findAsked(owner, knowledge)?.note !== asked.note,
    );
  if (records.some(isAnothers)) return undefined;
  const free = records.filter(({ ident }) => !owners.some((owner) => owner.ident === ident));
  const elsewhere = accepted.find(isSame)?.ident;
  const record =
    free.find(({ ident }) => ident === elsewhere) ??
    free.find(({ isDeleted }) => !isDeleted) ??
    free[0];
  if (record !== undefined) return record.isDeleted ? ['--drop'] : created(record);
  return knowledge.isQuiet ? ['--resend'] : undefined;
}

function created({ ident }: ServiceRecord): string[] {
  return ['--created', ident, '--yes'];
}
