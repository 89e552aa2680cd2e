import type { Entry } from './outboxes.ts';
import { ACCOUNT_IDS, type Account } from './scenario.ts';
import type { ServiceRecord } from './service.ts';

/** All that a person wants of a find by now: commands change it, and an undo brings it back. */
export type Wish = {
  photos: readonly string[];
  /** And the address of the service that each was asked for; a curator's as well. */
  numbers: readonly { readonly value: string; readonly service: string; readonly by: string }[];
  /** A person has given it up, or removed it, or may have: it need not be made. */
  wasGivenUp: boolean;
  /** It was certainly taken back when the service had so many records of it: there are no more. */
  unwantedWith: number | undefined;
  /** Its place in words, where it was edited before anything was sent. */
  edited: string | undefined;
};

/** A find as the person of a scenario asked for it. */
export type Asked = Wish & {
  readonly id: string;
  readonly note: string;
  readonly account: Account;
  /** Addresses of the services that it was queued for. */
  readonly services: Set<string>;
  /** Its table was imported, as pas said. */
  wasImported: boolean;
  /** Addresses of the services to which copies of it were sent, to see what they would say. */
  readonly rehearsedAt: Set<string>;
  /** Copies of an outbox want these, also after an undo: whoever puts one back wants them again. */
  inCopies: Pick<Wish, 'photos' | 'numbers'>;
};

/** Final state of a service and all homes, with the events that explain its exceptions. */
export type Evidence = {
  readonly service: string;
  readonly records: readonly ServiceRecord[];
  /** Without what is open where a person no longer pushes. */
  readonly homes: readonly (readonly Entry[])[];
  readonly asked: readonly Asked[];
  /** Finds whose records people at the service have changed. */
  readonly curated: ReadonlySet<string>;
  /**
   * Identifiers whose records people at the service have deleted: it may give the last of them
   * again.
   */
  readonly freed: ReadonlySet<string>;
  /** An outbox was restored or copied: what was asked for last is not in all of them. */
  readonly wasCopied: boolean;
  readonly wereClocksSet: boolean;
  /** The service has lost what it had. */
  readonly wasPutBack: boolean;
  /** Without harvesting: a person must settle uncertain entries. */
  readonly isAnonymous: boolean;
  /** A request may come after what was sent later. */
  readonly isLate: boolean;
};

export function judge(evidence: Evidence): string[] {
  return evidence.asked.flatMap((asked) => [
    ...judgeFind(asked, evidence),
    ...judgeChanges(asked, evidence),
  ]);
}

function judgeFind(asked: Asked, evidence: Evidence): string[] {
  const { id, note, services } = asked;
  const { records, service, homes, wasPutBack } = evidence;
  const twins = findTwins(asked, evidence);
  const wasRehearsed = isRehearsed(asked, evidence);
  if (wasRehearsed && !services.has(service)) return [];
  const alike = records.filter((record) => record.note === note);
  const madeRecords = findMade(asked, evidence);
  const all = homes.flat().filter((entry) => entry.service === service);
  const imports = all.filter(({ find, kind }) => find === id && kind === 'import');
  const inState = (...states: readonly string[]) =>
    imports.filter(({ state }) => states.includes(state));
  const accepted = inState('accepted');
  const wrong = accepted.filter(
    ({ ident }) =>
      !evidence.freed.has(ident ?? '') && !madeRecords.some((record) => record.ident === ident),
  );
  const makers = [BY_HAND, ...twins.map(({ account }) => ACCOUNT_IDS[account])];
  const otherRecords = alike.filter(({ maker }) => !makers.includes(maker));
  const most = twins.filter((twin) => twin.account === asked.account).length;
  const knownRecords = madeRecords.filter((record) =>
    accepted.some(({ ident }) => ident === record.ident),
  );
  const sharers = all.filter(
    (entry) => entry.kind === 'import' && entry.state === 'accepted' && entry.find !== id,
  );
  // An outbox learns of a lost record when the service gives its identifier to another of its
  // finds.
  const isGivenAgain = ({ ident }: Entry): boolean => wasPutBack || evidence.freed.has(ident ?? '');
  const mayBeKnown = sharers.filter(
    (entry) => !isGivenAgain(entry) || accepted.some(({ outbox }) => outbox === entry.outbox),
  );
  // Finds that are the same in all, sent from two places, cannot be told apart.
  const isTold = (entry: Entry): boolean => !twins.some(({ id: twin }) => twin === entry.find);
  const shared = mayBeKnown.filter(
    (entry) => isTold(entry) && knownRecords.some(({ ident }) => ident === entry.ident),
  );
  const sharedInOne = homes.flatMap((entries) =>
    entries.filter(
      (entry) =>
        sharers.includes(entry) &&
        entries.some(
          (ownEntry) =>
            accepted.includes(ownEntry) &&
            ownEntry.ident === entry.ident &&
            ownEntry.outbox === entry.outbox,
        ),
    ),
  );
  const isForThis = twins.some((twin) => twin.services.has(service));
  // A person must say first what a row of a table is.
  const open = inState('queued', 'sending').filter(
    ({ isHidden, held }) => isHidden === 0 && held?.startsWith('row-') !== true,
  );
  const edited = madeRecords.filter(
    (record) => asked.edited !== undefined && record.place !== asked.edited,
  );
  return describeEyes([
    [
      madeRecords.length > most && !wasRehearsed,
      `${id} was made ${madeRecords.length} times: ${madeRecords.map(({ ident }) => ident)}`,
    ],
    [
      asked.unwantedWith !== undefined &&
        madeRecords.length > asked.unwantedWith &&
        !evidence.wasCopied &&
        twins.length === 1,
      `${id} was taken back, and was made afterwards`,
    ],
    [
      imports.length === 0 &&
        madeRecords.length === 0 &&
        asked.wasImported &&
        services.has(service) &&
        !asked.wasGivenUp &&
        !evidence.wasCopied,
      `${id} is forgotten`,
    ],
    [
      madeRecords.length > 0 && !isForThis,
      `${id} was made at ${service}, for which nobody queued it`,
    ],
    [
      otherRecords.length > 0,
      `${id} was created by ${otherRecords[0]?.maker}, who did not queue it`,
    ],
    [
      wrong.length > 0 && !wasPutBack,
      `${id} is called ${wrong[0]?.ident}, and the service calls it ${madeRecords.map(({ ident }) => ident)}`,
    ],
    [inState('refused').length > 0, `${id} is called refused`],
    [
      inState('uncertain').length > 0 && madeRecords.length === 1 && isPlain(asked, evidence),
      `${id} is ${madeRecords[0]?.ident}, and is in doubt for ever`,
    ],
    [
      open.length > 0 && services.has(service) && !asked.wasGivenUp,
      `${id} is still ${open[0]?.state}, though nothing is in its way`,
    ],
    [shared.length > 0, `${id} and ${shared[0]?.find} are called the same record`],
    [
      sharedInOne.length > 0 && !wasPutBack,
      `${id} and ${sharedInOne[0]?.find} are called the same record in one outbox`,
    ],
    [
      madeRecords.length === 0 &&
        !asked.wasGivenUp &&
        inState('dropped').length > 0 &&
        inState('uncertain').length === 0 &&
        !wasPutBack,
      `${id} was given up by nobody`,
    ],
    [
      edited.length > 0 && isPlain(asked, evidence),
      `${id} is not as it was edited: ${edited[0]?.place}, and not ${asked.edited}`,
    ],
  ]);
}

/** Nothing has happened that may leave it to a person which record the find is. */
function isPlain(asked: Asked, evidence: Evidence): boolean {
  const { wasCopied, wereClocksSet, wasPutBack, isAnonymous, curated, records, homes } = evidence;
  const made = records.filter(({ note }) => note === asked.note);
  const isAlone = made.length === 1 && findTwins(asked, evidence).length === 1;
  // Of a record that was deleted: only a person knows that this is not a correction of it.
  const wasIdentUsed = homes
    .flat()
    .some(
      (entry) => entry.find !== asked.id && isAccepted(entry) && entry.ident === made[0]?.ident,
    );
  return (
    isAlone &&
    !wasIdentUsed &&
    !isAnonymous &&
    !wasCopied &&
    !wereClocksSet &&
    !wasPutBack &&
    !asked.wasGivenUp &&
    !curated.has(asked.id)
  );
}

/** Photographs and numbers. */
function judgeChanges(asked: Asked, evidence: Evidence): string[] {
  const { id } = asked;
  const { service, homes, curated, wasPutBack } = evidence;
  if (isRehearsed(asked, evidence) && !asked.services.has(service)) return [];
  const twins = findTwins(asked, evidence);
  const wishes: readonly Pick<Wish, 'photos' | 'numbers'>[] = evidence.wasCopied
    ? twins.flatMap((twin) => [twin.inCopies, twin])
    : twins;
  const numbers = wishes.flatMap((wish) => wish.numbers);
  const photos = wishes.flatMap((wish) => wish.photos);
  const newest = asked.numbers.at(-1)?.value;
  const records = findMade(asked, evidence);
  // A number may be set for the record by itself, in an outbox that does not have the find.
  const imported = homes
    .flat()
    .filter((entry) => entry.service === service && entry.find === id && isAccepted(entry));
  const isOfFind = (entry: Entry): boolean =>
    entry.service === service &&
    (entry.find === id || imported.some(({ ident }) => ident === entry.find));
  const ofFind = homes.map((entries) => entries.filter(isOfFind));
  const changes = ofFind.flatMap((entries) => {
    const ownEntry = entries.find(isAccepted);
    return entries.flatMap((entry) => {
      const accepted = entry.find === id ? ownEntry : imported[0];
      return entry.kind === 'import' || accepted === undefined ? [] : [{ ...entry, accepted }];
    });
  });
  const inState = (...states: readonly string[]) =>
    changes.filter(({ state }) => states.includes(state));
  // One that is on its way meanwhile may meet another find under the identifier of its own.
  const expected =
    wasPutBack || evidence.freed.size > 0 ? evidence.asked.flatMap((each) => each.photos) : photos;
  const strange = records
    .flatMap(({ digests }) => digests)
    .filter((digest) => !expected.includes(digest));
  const astray = inState('accepted').filter(({ ident, accepted }) => ident !== accepted.ident);
  const findRecord = ({ ident }: Pick<Entry, 'ident'>) =>
    records.find((record) => record.ident === ident);
  const gone = inState('accepted').filter((entry) => {
    const record = findRecord(entry);
    return (
      entry.kind === 'photo' && record !== undefined && !record.digests.includes(entry.digest ?? '')
    );
  });
  const numberEntries = ofFind.flat().filter(({ kind }) => kind === 'number');
  // The order of two outboxes is not visible in them.
  const last =
    new Set(numberEntries.map(({ outbox }) => outbox)).size === 1
      ? numberEntries.findLast(({ state }) => state === 'accepted')
      : undefined;
  const isAtRest =
    numberEntries.every(({ state }) => state === 'accepted' || state === 'dropped') &&
    imported.length === 1;
  const number = findRecord(imported[0] ?? { ident: null })?.number ?? '';
  // Without lookups, the person who pushes last decides.
  const isOfOne = !evidence.isAnonymous || new Set(asked.numbers.map(({ by }) => by)).size === 1;
  const isOnce =
    twins.length === 1 &&
    isOfOne &&
    !evidence.wasCopied &&
    asked.numbers.every((each) => each.service === service);
  // An outbox that was restored and did nothing since does not know what was sent after it was
  // copied.
  const getOrder = (wanted: string | null) =>
    numbers.findLastIndex(({ value }) => value === wanted);
  const isLater = evidence.wasCopied && getOrder(number) > getOrder(last?.value ?? null);
  const isUntouched = !curated.has(id) && !wasPutBack && !asked.wasGivenUp;
  // Without a look a curator's number is not seen, and a request that comes late is not to be
  // called back.
  const isSeen =
    isUntouched ||
    (curated.has(id) &&
      !evidence.isAnonymous &&
      !evidence.isLate &&
      !wasPutBack &&
      !asked.wasGivenUp);
  const unseen = inState('uncertain').filter((entry) => {
    const record = findRecord(entry);
    return (
      entry.kind === 'photo' &&
      record?.isDeleted === false &&
      record.digests.includes(entry.digest ?? '')
    );
  });
  // A later number waits behind one of unknown outcome.
  const isWaiting = (entry: Entry): boolean =>
    entry.kind === 'number' &&
    ofFind.flat().some(({ kind, state }) => kind === 'number' && state === 'uncertain');
  const [left] = inState('queued', 'sending').filter(
    (entry) => entry.isHidden === 0 && !isWaiting(entry),
  );
  const [refused] = inState('refused');
  return describeEyes([
    [strange.length > 0, `${id} has a photograph that nobody gave it`],
    [
      records.some(({ digests }) => new Set(digests).size < digests.length),
      `${id} has a photograph twice`,
    ],
    [gone.length > 0 && !wasPutBack, `${id} has not the photograph that is called accepted`],
    [
      unseen.length > 0 && !wasPutBack && !evidence.isAnonymous,
      `${id} has the photograph that is in doubt for ever`,
    ],
    [astray.length > 0, `a ${astray[0]?.kind} of ${id} is called accepted for ${astray[0]?.ident}`],
    [
      left !== undefined && !wasPutBack && !asked.wasGivenUp,
      `a ${left?.kind} of ${id} is still ${left?.state}, though nothing is in its way`,
    ],
    [refused !== undefined && isUntouched, `a ${refused?.kind} of ${id} is called refused`],
    [
      // A late number can meet a record that a service put back has made since, under a name again.
      number !== '' &&
        !numbers.some(({ value }) => value === number) &&
        !(wasPutBack && evidence.isLate),
      `${id} has the number ${number}, which nobody gave it`,
    ],
    [
      isUntouched && isOfOne && isAtRest && last !== undefined && last.value !== number && !isLater,
      `${id} has the number ${number}, and ${last?.value} was accepted last`,
    ],
    [
      isSeen &&
        isAtRest &&
        isOnce &&
        number !== '' &&
        newest !== number &&
        records[0]?.isDeleted === false,
      `${id} has the number ${number}, and ${newest} was asked for last`,
    ],
  ]);
}

const isAccepted = ({ kind, state }: Entry): boolean => kind === 'import' && state === 'accepted';

const describeEyes = (eyes: readonly (readonly [sees: boolean, says: string])[]): string[] =>
  eyes.flatMap(([sees, says]) => (sees ? [says] : []));

/** The finds that are the same in all that the service is told, itself among them. */
function findTwins({ note }: Asked, { asked }: Evidence): Asked[] {
  return asked.filter((other) => other.note === note);
}

/** Tells if records of this find may be copies of a rehearsal, or of a find that is the same in all. */
function isRehearsed(asked: Asked, evidence: Evidence): boolean {
  return findTwins(asked, evidence).some((twin) => twin.rehearsedAt.has(evidence.service));
}

function findMade(asked: Asked, evidence: Evidence): ServiceRecord[] {
  return evidence.records.filter(
    ({ note, maker }) => note === asked.note && maker === ACCOUNT_IDS[asked.account],
  );
}

/** Account of hand-entered finds: of the archaeologist's organisation, which sees them. */
const BY_HAND = 'U-000409';
