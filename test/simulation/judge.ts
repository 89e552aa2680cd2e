import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabaseImage, openSqlite } from '../../src/store/database.ts';
import type { ServiceRecord } from './service.ts';
import type { Account } from './story.ts';

/** What the person of a story asked for. */
export type Asked = {
  readonly id: string;
  readonly note: string;
  readonly account: Account;
  readonly photos: string[];
  /** And the address of the service that each was asked for. */
  readonly numbers: { readonly value: string; readonly service: string }[];
  /** Addresses of the services that it was queued for. */
  readonly services: Set<string>;
  /** Who has sent it to a training service, for which nobody had queued it. */
  readonly copiers: Set<Account>;
};

export type Entry = {
  readonly id: number;
  readonly find: string;
  readonly kind: string;
  readonly state: string;
  readonly ident: string | null;
  readonly username: string;
  readonly value: string | null;
  /** SHA-512 of a photograph. */
  readonly digest: string | null;
  readonly service: string;
  /** When it may have reached the service first, and was tried last, by the clock of its machine. */
  readonly triedFromMs: number | null;
  readonly triedUntilMs: number | null;
  readonly queuedMs: number;
  /** It was proven not to be at the service, and has waited to be sent since. */
  readonly wasAbsent: 0 | 1;
};

/** What a service and all homes hold in the end, and what has happened to make up for what is odd in it. */
export type Evidence = {
  readonly service: string;
  readonly records: readonly ServiceRecord[];
  readonly homes: readonly (readonly Entry[])[];
  readonly asked: readonly Asked[];
  /** Who sent also what others had queued. */
  readonly sentForAll: ReadonlySet<Account>;
  /** Finds whose records people at the service have changed. */
  readonly curated: ReadonlySet<string>;
  /** Identifiers whose records people at the service have deleted: it may give the last of them again. */
  readonly freed: ReadonlySet<string>;
  /** An outbox was put back or copied: what was asked for last is not in all of them. */
  readonly wasCopied: boolean;
  readonly wereClocksSet: boolean;
  /** The service has lost what it had. */
  readonly wasPutBack: boolean;
};

const NEVER_ARRIVED = `('cut', 'never-arrived', 'never-left', 'throttled', 'closed', 'unauthorised')`;

export function entriesOf(home: string): Entry[] {
  return (
    readOutbox<Entry>(
      home,
      `select entries.id, coalesce(local_id, entries.ident_cely) as find, kind, state, entries.ident_cely as ident,
         entries.username as username, entries.value as value, lower(hex(photo_sha512)) as digest, services.address as service,
         (select min(started_at) from attempts where entry_id = entries.id and coalesce(outcome, '') not in ${NEVER_ARRIVED}) as triedFromMs,
         (select max(started_at) from attempts where entry_id = entries.id) as triedUntilMs,
         entries.created_at as queuedMs, exists (select 1 from evidence where entry_id = entries.id and verdict = 'absent') as wasAbsent
       from entries left join finds on finds.id = find_id join services on services.id = entries.service_id order by entries.id`,
    ) ?? []
  );
}

export function documentOf(home: string, find: string): Buffer | undefined {
  const [row] =
    readOutbox<{ document: Buffer }>(
      home,
      `select document from entries join finds on finds.id = find_id
    where kind = 'import' and document is not null and local_id = '${find}'`,
    ) ?? [];
  return row?.document;
}

function readOutbox<T>(home: string, query: string): T[] | undefined {
  const path = join(home, 'outbox.sqlite');
  if (!existsSync(path)) return undefined;
  // Where nothing is in its log only, its bytes are read, which is quicker.
  const outbox = existsSync(`${path}-wal`) ? openSqlite(path) : openDatabaseImage(path, readFileSync(path));
  try {
    return outbox.prepare(query).all() as T[];
  } finally {
    outbox.close();
  }
}

export function judge(evidence: Evidence): string[] {
  return evidence.asked.flatMap((asked) => [...judgeFind(asked, evidence), ...judgeChanges(asked, evidence)]);
}

function judgeFind(asked: Asked, evidence: Evidence): string[] {
  const { id, note, services } = asked;
  const { records, service, homes, wasPutBack } = evidence;
  const twins = twinsOf(asked, evidence);
  const alike = records.filter((record) => record.note === note);
  const made = madeOf(asked, evidence);
  const all = homes.flat().filter((entry) => entry.service === service);
  const imports = all.filter(({ find, kind }) => find === id && kind === 'import');
  const inState = (...states: readonly string[]) => imports.filter(({ state }) => states.includes(state));
  const accepted = inState('accepted');
  const wrong = accepted.filter(
    ({ ident }) => !evidence.freed.has(ident ?? '') && !made.some((record) => record.ident === ident),
  );
  const makers = [BY_HAND, ...twins.flatMap((twin) => makersOf(twin, evidence))];
  const others = alike.filter(({ maker }) => !makers.includes(maker));
  const own = makersOf(asked, evidence);
  const most = twins.filter((twin) => makersOf(twin, evidence).some((maker) => own.includes(maker))).length;
  const known = made.filter((record) => accepted.some(({ ident }) => ident === record.ident));
  const sharers = all.filter((entry) => entry.kind === 'import' && entry.state === 'accepted' && entry.find !== id);
  const shared = sharers.filter((entry) =>
    known.some((record) => record.ident === entry.ident && !isForNobodyToTell(record, asked, evidence)),
  );
  const sharedInOne = homes.flatMap((entries) =>
    entries.filter(
      (entry) => sharers.includes(entry) && entries.some((own) => accepted.includes(own) && own.ident === entry.ident),
    ),
  );
  const isForThis = twins.some((twin) => twin.services.has(service));
  return said([
    [made.length > most, `${id} was made ${made.length} times: ${made.map(({ ident }) => ident)}`],
    [made.length > 0 && !isForThis, `${id} was made at ${service}, for which nobody queued it`],
    [others.length > 0, `${id} was made by ${others[0]?.maker}, who did not queue it`],
    [
      wrong.length > 0 && !wasPutBack,
      `${id} is called ${wrong[0]?.ident}, and the service calls it ${made.map(({ ident }) => ident)}`,
    ],
    [inState('refused').length > 0, `${id} is called refused`],
    [
      inState('uncertain').length > 0 && made.length === 1 && isPlain(asked, evidence),
      `${id} is ${made[0]?.ident}, and is in doubt for ever`,
    ],
    [
      inState('queued', 'sending').length > 0 && services.has(service),
      `${id} is still ${inState('queued', 'sending')[0]?.state}, though nothing is in its way`,
    ],
    [shared.length > 0, `${id} and ${shared[0]?.find} are called the same record`],
    [sharedInOne.length > 0 && !wasPutBack, `${id} and ${sharedInOne[0]?.find} are called the same record in one outbox`],
    [
      made.length === 0 && inState('dropped').length > 0 && inState('uncertain').length === 0 && !wasPutBack,
      `${id} was given up by nobody`,
    ],
  ]);
}

/** Nothing has happened that may leave it to a person which record the find is. */
function isPlain(asked: Asked, evidence: Evidence): boolean {
  const { wasCopied, wereClocksSet, wasPutBack, curated, records, sentForAll } = evidence;
  const isAlone = records.filter(({ note }) => note === asked.note).length === 1 && twinsOf(asked, evidence).length === 1;
  return isAlone && !wasCopied && !wereClocksSet && !wasPutBack && !curated.has(asked.id) && sentForAll.size === 0;
}

/** Of finds that are the same in all, and that one person entered at two places and sent at one time, nobody can tell which was made. */
function isForNobodyToTell({ ident, madeMs }: ServiceRecord, asked: Asked, evidence: Evidence): boolean {
  const ids = twinsOf(asked, evidence).map(({ id }) => id);
  return (
    ids.length > 1 &&
    (evidence.wereClocksSet ||
      evidence.homes.flat().filter((entry) => {
        const isNear = madeMs >= maySinceMs(entry) - NEAR_MS && madeMs <= (entry.triedUntilMs ?? madeMs) + NEAR_MS;
        return ids.includes(entry.find) && entry.kind === 'import' && entry.ident === ident && isNear;
      }).length > 1)
  );
}

/** What has waited to be sent since before a look may have been sent by a copy of its outbox meanwhile. */
function maySinceMs({ triedFromMs, queuedMs, wasAbsent }: Entry): number {
  return triedFromMs === null || wasAbsent === 1 ? queuedMs : triedFromMs;
}

/** As long as the service may take for a request, and some. */
const NEAR_MS = 1_200_000;

/** Photographs and numbers. */
function judgeChanges(asked: Asked, evidence: Evidence): string[] {
  const { id } = asked;
  const { service, homes, curated, wasPutBack } = evidence;
  const twins = twinsOf(asked, evidence);
  const [numbers, photos] = [twins.flatMap((twin) => twin.numbers), twins.flatMap((twin) => twin.photos)];
  const newest = asked.numbers.at(-1)?.value;
  const made = madeOf(asked, evidence);
  const ofFind = homes.map((entries) => entries.filter((entry) => entry.find === id && entry.service === service));
  const changes = ofFind.flatMap((entries) => {
    const accepted = entries.find(({ kind, state }) => kind === 'import' && state === 'accepted');
    return accepted === undefined ? [] : entries.filter(({ kind }) => kind !== 'import').map((entry) => ({ ...entry, accepted }));
  });
  const inState = (...states: readonly string[]) => changes.filter(({ state }) => states.includes(state));
  // One that is on its way while the service is put back may meet another find under the identifier of its own.
  const expected = wasPutBack ? evidence.asked.flatMap((each) => each.photos) : photos;
  const strange = made.flatMap(({ digests }) => digests).filter((digest) => !expected.includes(digest));
  const astray = inState('accepted').filter(({ ident, accepted }) => ident !== accepted.ident);
  const recordOf = (entry: Entry) => made.find(({ ident }) => ident === entry.ident);
  const gone = inState('accepted').filter(({ kind, digest, ...entry }) => {
    const record = recordOf({ ...entry, kind, digest });
    return kind === 'photo' && record !== undefined && !record.digests.includes(digest ?? '');
  });
  const sent = ofFind.flat().filter(({ kind }) => kind === 'number');
  const last = sent.findLast(({ state }) => state === 'accepted');
  const isAtRest =
    sent.every(({ state }) => state === 'accepted' || state === 'dropped') && ofFind.flat().filter(isAccepted).length === 1;
  const number = recordOf(ofFind.flat().find(isAccepted) ?? NOTHING)?.number ?? '';
  const isOnce = twins.length === 1 && !evidence.wasCopied && asked.numbers.every((number) => number.service === service);
  // An outbox that was put back and did nothing since does not know what was sent after it was copied.
  const orderOf = (wanted: string | null) => numbers.findLastIndex(({ value }) => value === wanted);
  const isLater = evidence.wasCopied && orderOf(number) > orderOf(last?.value ?? null);
  const isUntouched = !curated.has(id) && !wasPutBack;
  const unseen = inState('uncertain').filter(({ kind, digest, ident, ...entry }) => {
    const record = recordOf({ ...entry, kind, digest, ident });
    return kind === 'photo' && record?.isDeleted === false && record.digests.includes(digest ?? '');
  });
  const [left] = inState('queued', 'sending');
  const [refused] = inState('refused');
  return said([
    [strange.length > 0, `${id} has a photograph that nobody gave it`],
    [made.some(({ digests }) => new Set(digests).size < digests.length), `${id} has a photograph twice`],
    [gone.length > 0 && !wasPutBack, `${id} has not the photograph that is called accepted`],
    [unseen.length > 0 && !wasPutBack, `${id} has the photograph that is in doubt for ever`],
    [astray.length > 0, `a ${astray[0]?.kind} of ${id} is called accepted for ${astray[0]?.ident}`],
    [left !== undefined && !wasPutBack, `a ${left?.kind} of ${id} is still ${left?.state}, though nothing is in its way`],
    [refused !== undefined && isUntouched && evidence.sentForAll.size === 0, `a ${refused?.kind} of ${id} is called refused`],
    [number !== '' && !numbers.some(({ value }) => value === number), `${id} has the number ${number}, which nobody gave it`],
    [
      isUntouched && isAtRest && last !== undefined && last.value !== number && !isLater,
      `${id} has the number ${number}, and ${last?.value} was accepted last`,
    ],
    [
      isUntouched && isAtRest && isOnce && number !== '' && newest !== number,
      `${id} has the number ${number}, and ${newest} was asked for last`,
    ],
  ]);
}

const isAccepted = ({ kind, state }: Entry): boolean => kind === 'import' && state === 'accepted';
const NOTHING = { ident: null } as Entry;

const said = (eyes: readonly (readonly [sees: boolean, says: string])[]): string[] =>
  eyes.flatMap(([sees, says]) => (sees ? [says] : []));

/** The finds that are the same in all that the service is told, itself among them. */
function twinsOf({ note }: Asked, { asked }: Evidence): Asked[] {
  return asked.filter((other) => other.note === note);
}

function madeOf(asked: Asked, evidence: Evidence): ServiceRecord[] {
  const makers = makersOf(asked, evidence);
  return evidence.records.filter(({ note, maker }) => note === asked.note && makers.includes(maker));
}

/** What the service calls those who may have sent it. */
function makersOf({ account, copiers }: Asked, { sentForAll }: Evidence): string[] {
  return [account, ...copiers, ...sentForAll].map((name) => ACCOUNT_IDS[name]);
}

/** Who types finds in by hand: of the archaeologist's organisation, which sees them. */
export const BY_HAND = 'U-000409';

/** What the seed calls them. */
export const ACCOUNT_IDS: Readonly<Record<Account, string>> = {
  archaeologist: 'U-000408',
  researcher: 'U-000102',
  archivist: 'U-000020',
};
