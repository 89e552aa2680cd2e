import { groupBy } from '../base/collections.ts';
import { describeColumns, isNumber, isText, orNull } from '../base/disk/database.ts';
import { msg } from '../base/message.ts';
import { FIELDS } from '../finds/fields.ts';
import { formatWithIdentifier } from '../finds/harvested-find.ts';
import { ENTRY_COLUMNS, type EntryState, type HeldQuestion } from './entry.ts';
import { serializeHeldQuestion } from './entry-queries.ts';
import {
  type AnsweredBody,
  type CurrentBody,
  convertReadErrors,
  type Fact,
  type FactOf,
  type FindWish,
  isAttempt,
  listFactsOfKind,
  listNamedAttempts,
  listQuestionCodes,
  parseStoredMessage,
} from './facts.ts';
import { foldSlot, getChangeState, getImportState, type SlotState } from './fold.ts';
import { makeCandidates } from './gate.ts';
import {
  findUnverifiedIntent,
  IMPORT_KEY,
  type Intent,
  type KnownIntent,
  makeImportSlotName,
  parseRecordSubject,
  parseSlotKind,
} from './intents.ts';
import { sortNumbersByChain } from './number-chain.ts';
import type { Outbox } from './open-outbox.ts';

// The table `entries`: what the facts of each subject mean, for all that is read often. Questions,
// lookups and pauses are written by `entry-queries.ts`; all else only here.

const WRITTEN = describeColumns('entries', {
  ...ENTRY_COLUMNS,
  intent: isNumber,
  localId: orNull(isText),
  fact: orNull(isText),
  hidden: orNull(isNumber),
  refusal: orNull(isText),
});

type EntryRow = Omit<ReturnType<typeof WRITTEN.parse>, 'updatedAt'> & {
  /** The questions of two versions and of rows; others are not known from the facts. */
  readonly held: string | null;
};

/**
 * Folds the facts of a subject, and stores the entries that follow from them, in the caller's
 * transaction; the subject's other entries are deleted.
 * @param facts all of the subject
 * @throws DatabaseError where an intent is damaged
 */
export function storeFoldedEntries(outbox: Outbox, subject: string, facts: readonly Fact[]): void {
  convertReadErrors(outbox.path, subject, () => writeRows(outbox, subject, facts));
}

const INSERT_NEW_FIND = `insert into entries (id, key, kind, subject, slot, intent, state, changed,
    local_id, fact, hidden, project, attempts, unknown_attempts, not_before_at, created_at, updated_at)
  select seq, '${IMPORT_KEY}', 'import', subject, slot, :intent, :state, 0,
    :localId, id, 0, :project, 0, 0, 0, :createdAt, :now
  from facts where seq = :fact`;

/**
 * Stores the entry of a new find, which has no fact but one wish, in the caller's transaction: the
 * one that {@link storeFoldedEntries} would store, without reading and folding facts.
 * @param fact row of the wish in the table `facts`
 */
export function storeEntryOfNewFind(
  outbox: Outbox,
  fact: number,
  { localId, createdAt }: FindWish,
  { row, intent, hasDocument }: KnownIntent,
): void {
  outbox.sql(INSERT_NEW_FIND).run({
    fact,
    intent: row,
    state: hasDocument ? 'queued' : 'draft',
    localId: chooseFreeLocalId(outbox, localId, null),
    project: findProject(intent),
    createdAt,
    now: outbox.clock.now(),
  });
}

/** Returns the project of an import; null where it has none, and for any other intent. */
function findProject(intent: Intent | undefined): string | null {
  return (intent?.kind === 'import' ? intent.elements.projekt?.id : undefined) ?? null;
}

function writeRows(outbox: Outbox, subject: string, all: readonly Fact[]): void {
  const slots = groupBy(all, ({ slot }) => slot);
  const importSlot = makeImportSlotName(subject);
  const ofImport = slots.get(importSlot);
  const record = parseRecordSubject(subject);
  const findIntent: FindIntent = (id) => findUnverifiedIntent(outbox, subject, id);
  const find =
    ofImport === undefined ? undefined : makeImportRow(outbox, subject, ofImport, findIntent);
  const rows = find === undefined ? [] : [find];
  // Changes of a find that only another place knows wait for it.
  if (record !== undefined || find !== undefined)
    for (const [slot, facts] of slots) {
      if (slot === importSlot) continue;
      const identCely = record ?? find?.identCely ?? null;
      const changes = makeChangeRows(subject, identCely, facts, findIntent);
      // What is queued for a removed find goes with it, and comes back with it.
      const isShown = ({ state }: EntryRow): boolean => find?.hidden !== 1 || state !== 'queued';
      rows.push(...changes.filter(isShown));
    }
  const known = new Set(outbox.listTexts('select key from entries where subject = ?', subject));
  for (const row of rows) writeEntry(outbox, row, known.has(row.key));
  const keys = new Set(rows.map(({ key }) => key));
  for (const key of known)
    if (!keys.has(key))
      outbox.sql('delete from entries where subject = ? and key = ?').run(subject, key);
}

/** Returns an intent of the subject; undefined where it is unknown. */
type FindIntent = (id: string) => KnownIntent | undefined;

type Wish = {
  readonly id: string;
  readonly body: CurrentBody;
  readonly intent: KnownIntent;
};

/**
 * Returns the wish that is shown, and its intent; of a removed find the last one. Of two versions
 * the one that was not sent is shown, which the service does not have, and a version rather than
 * its removal by another copy. A version of another place whose content is not known here is not
 * shown.
 */
function findWish(
  { wanted }: SlotState,
  facts: readonly Fact[],
  findIntent: FindIntent,
): Wish | undefined {
  const isVersion = ({ body }: FactOf<'current'>): boolean => body.intent !== null;
  const wishes = wanted.kind === 'disputed' ? wanted.wishes.filter(isVersion) : wanted.wishes;
  for (const { id, body } of [...wishes, ...listFactsOfKind(facts, 'current').reverse()]) {
    const name = body.intent ?? body.was ?? null;
    const intent = name === null ? undefined : findIntent(name);
    if (intent !== undefined) return { id, body, intent };
  }
  return undefined;
}

/**
 * Returns this local id where no other find has it, else the first free one of -2, -3 … behind it.
 * @param uuid of the find that is to get the local id; null for a new one
 */
export function chooseFreeLocalId(outbox: Outbox, localId: string, uuid: string | null): string {
  const isTaken = (name: string): boolean =>
    outbox.sql('select 1 from finds where local_id = ? and uuid is not ?').get(name, uuid) !==
    undefined;
  let name = localId;
  for (let count = 2; isTaken(name); count += 1) name = `${localId}-${count}`;
  return name;
}

/**
 * Makes the row of a find.
 * @returns undefined where it is none: it was removed before an attempt, and its local id is free
 * again; or no content of it is known here
 */
function makeImportRow(
  outbox: Outbox,
  uuid: string,
  facts: readonly Fact[],
  findIntent: FindIntent,
): EntryRow | undefined {
  const state = foldSlot(facts);
  const wish = findWish(state, facts, findIntent);
  const isHidden = wish?.body.intent === null && wish.body.hides;
  const find = wish?.body.find;
  if (wish === undefined || find === undefined || (isHidden && !facts.some(isAttempt)))
    return undefined;
  const { intent, body } = wish;
  const folded = getImportState(state);
  const isDraft = !intent.hasDocument && (folded === 'queued' || folded === 'refused');
  const [accepted] = [...state.intents].find(([, each]) => each.state === 'accepted') ?? [];
  const refusal = folded === 'refused' ? findRefusal(state, intent.id) : undefined;
  const versions = state.wanted.kind === 'disputed' ? formatVersions(state, findIntent) : '';
  return {
    ...UNFILLED,
    key: IMPORT_KEY,
    subject: uuid,
    slot: makeImportSlotName(uuid),
    kind: 'import',
    intent: intent.row,
    state: isDraft ? 'draft' : folded,
    changed: accepted !== undefined && accepted !== intent.id ? 1 : 0,
    identCely: state.records[0] ?? null,
    localId: chooseFreeLocalId(outbox, find.localId, uuid),
    fact: wish.id,
    hidden: isHidden ? 1 : 0,
    project: findProject(intent.intent),
    refusal: isDraft ? null : (refusal?.issues ?? null),
    createdAt: find.createdAt,
    ...summarize(facts, undefined, body, state, { folded, refusal, versions }),
  };
}

/** Columns that only an import fills, or only a number or a photograph. */
const UNFILLED = {
  value: null,
  expects: null,
  photograph: null,
  localId: null,
  fact: null,
  hidden: null,
} as const;

/** Returns the refusal that counts. */
function findRefusal({ intents, verdicts }: SlotState, intent: string): AnsweredBody | undefined {
  for (const { id } of intents.get(intent)?.attempts ?? []) {
    const verdict = verdicts.get(id);
    if (verdict?.kind === 'refused' && !verdict.isOverruled) return verdict.answer.body;
  }
  return undefined;
}

/**
 * Makes the rows of the numbers or photographs of a slot: what is wanted, was attempted, or was
 * dropped by a person. Intents without a known wish have none.
 * @param identCely the record to change, once it is known
 */
function makeChangeRows(
  subject: string,
  identCely: string | null,
  facts: readonly Fact[],
  findIntent: FindIntent,
): EntryRow[] {
  const state = foldSlot(facts);
  const { wanted } = state;
  // Shows a change that a person gave up, and none that was removed or undone.
  const [last] = wanted.kind === 'nothing' ? wanted.wishes : [];
  const givenUp = last?.body.hides === false ? last.body.was : null;
  const rows = sortNumbersByChain(
    [...new Set([...state.intents.keys(), ...(givenUp == null ? [] : [givenUp])])].flatMap(
      (intent) => findIntent(intent) ?? [],
    ),
  );
  return rows.flatMap(({ row, id: intent, intent: content }): EntryRow[] => {
    const { attempts = [] } = state.intents.get(intent) ?? {};
    const accepted = attempts.find(({ id }) => state.verdicts.get(id)?.kind === 'accepted');
    const wishes = listFactsOfKind(facts, 'current').filter(({ body }) => body.intent === intent);
    const [wish] = wishes;
    if (wish === undefined) return [];
    const folded = getChangeState(state, intent);
    const refusal = folded === 'refused' ? findRefusal(state, intent) : undefined;
    const latest = findLatest(wishes) ?? wish;
    const record = accepted?.body.target ?? identCely;
    return [
      {
        ...UNFILLED,
        key: intent,
        subject,
        slot: wish.slot,
        kind: parseSlotKind(wish.slot),
        intent: row,
        state: folded,
        changed: 0,
        identCely: record,
        project: record === null ? null : parseProjectOfIdent(record),
        value: content?.kind === 'number' ? content.value : null,
        expects: latest.body.expects ?? null,
        photograph:
          latest.body.photograph === undefined ? null : JSON.stringify(latest.body.photograph),
        refusal: refusal?.issues ?? null,
        createdAt: wish.body.at,
        ...summarize(facts, intent, latest.body, state, { folded, refusal, versions: '' }),
      },
    ];
  });
}

/** Parses the project with which a find's identifier begins; '' for a text of another form. */
function parseProjectOfIdent(identCely: string): string {
  return identCely.match(/^(.+)-N\d+$/)?.[1] ?? '';
}

/** Returns the one of several wishes for an intent that no other one replaces. */
function findLatest(wishes: readonly FactOf<'current'>[]): FactOf<'current'> | undefined {
  const replaced = new Set(wishes.flatMap(({ body }) => body.replaces));
  return wishes.findLast(({ id }) => !replaced.has(id));
}

/** @param differences '' where they are unknown */
function makeDispute(differences: string): HeldQuestion {
  const question =
    differences === ''
      ? msg`two copies of this outbox changed it in different ways: change it once more, and that version is sent`
      : msg`two copies of this outbox changed it in different ways (${differences}): set the right values, and that version is sent`;
  return { basis: 'edited-twice', question, candidates: [] };
}

/** Returns `hloubka 22 / 11` for each element that differs between two versions of a find. */
function formatVersions({ wanted }: SlotState, findIntent: FindIntent): string {
  const [shown, other] = wanted.wishes.map(({ body }) => findIntent(body.intent ?? '')?.intent);
  if (shown?.kind !== 'import' || other?.kind !== 'import') return '';
  return FIELDS.flatMap(({ name }) => {
    const mine = formatWithIdentifier(shown.elements[name]) ?? '–';
    const theirs = formatWithIdentifier(other.elements[name]) ?? '–';
    return mine === theirs ? [] : [`${name} ${mine} / ${theirs}`];
  }).join(', ');
}

/** Returns the question about the first row that was left out for this find. */
function makeRowQuestion({ find }: CurrentBody): HeldQuestion | null {
  const [asked] = find?.asked ?? [];
  if (find === undefined || asked === undefined) return null;
  const question = parseStoredMessage(asked.question);
  return { basis: asked.basis, question, candidates: makeCandidates([find.localId]) };
}

type Summary = Pick<EntryRow, 'attempts' | 'unknownAttempts' | 'notBeforeAt' | 'held' | 'reason'>;

/**
 * Returns the question that follows from the facts, the number of attempts, what is displayed of
 * the last thing that happened, and when it may be sent again.
 * @param intent of a change; undefined for an import, all of whose versions count
 */
function summarize(
  facts: readonly Fact[],
  intent: string | undefined,
  wish: CurrentBody,
  { verdicts, wanted, decisions, records }: SlotState,
  {
    folded,
    refusal,
    versions,
  }: {
    readonly folded: EntryState;
    readonly refusal: AnsweredBody | undefined;
    readonly versions: string;
  },
): Summary {
  const attempted = listFactsOfKind(facts, 'attempted').filter(
    ({ body }) => intent === undefined || body.intent === intent,
  );
  const ids = new Set(attempted.map(({ id }) => id));
  const unknownAttempts = attempted.filter(({ id }) => {
    const kind = verdicts.get(id)?.kind;
    return kind === 'unknown' || kind === 'open';
  }).length;
  // A find that the service has cannot be edited once more; a number can be set again.
  const isDisputed = wanted.kind === 'disputed' && (intent !== undefined || records.length === 0);
  const rowQuestion = intent === undefined ? makeRowQuestion(wish) : null;
  const question = isDisputed ? makeDispute(versions) : rowQuestion;
  const held = question === null ? null : serializeHeldQuestion(question);
  const inForce = facts.filter(
    (fact) => fact.kind !== 'decided' || (fact.body.answer !== 'undo' && decisions.includes(fact)),
  );
  const last = findLastEvent(inForce, ids, intent);
  // For an entry that waits to be sent, only what happened since it was wanted counts.
  const isNewer = last === undefined || (folded === 'queued' && last.body.at < wish.at);
  if (isNewer) return { attempts: ids.size, unknownAttempts, held, notBeforeAt: 0, reason: null };
  const { reason } = refusal ?? last.body;
  return {
    attempts: ids.size,
    unknownAttempts,
    held,
    notBeforeAt: last.kind === 'answered' ? last.body.notBeforeAt : 0,
    reason: reason === null ? null : JSON.stringify(reason),
  };
}

type Event = FactOf<'answered'> | FactOf<'matched'> | FactOf<'absent'> | FactOf<'decided'>;

/** Returns the last answer, evidence or decision about an entry, by this machine's clock. */
function findLastEvent(
  facts: readonly Fact[],
  attempts: ReadonlySet<string>,
  intent: string | undefined,
): Event | undefined {
  let last: Event | undefined;
  for (const fact of facts) {
    if (fact.kind === 'current' || fact.kind === 'attempted') continue;
    const isOwn =
      listNamedAttempts(fact).some((id) => attempts.has(id)) ||
      (fact.kind === 'decided' && (intent === undefined || fact.body.intent === intent));
    if (isOwn && (last === undefined || fact.body.at >= last.body.at)) last = fact;
  }
  return last;
}

// SQLite keeps a journal of its own for an upsert, which takes three times as long.
const INSERT_ENTRY = `insert into entries (id, ${WRITTEN.columns}, held)
  values ((select min(seq) from facts where subject = :subject and slot = :slot
    and :key in ('${IMPORT_KEY}', body ->> '$.intent')), ${WRITTEN.values}, :held)`;

/** Questions that follow from the facts. */
const OF_FACTS = [...listQuestionCodes('copies'), ...listQuestionCodes('row')]
  .map((basis) => `'${basis}'`)
  .join(', ');

/**
 * A question and a lookup stay as long as the entry is what they were about; a question also while
 * the entry is dropped, so that an undo brings it back.
 */
const UPDATE_ENTRY = `update entries set
    held = case when :held is not null then :held when intent = :intent and held ->> 'basis' not in (${OF_FACTS}) then held end,
    lookup = case when :state = 'uncertain' then lookup end,
    ${WRITTEN.assigned}
  where subject = :subject and key = :key`;

function writeEntry(outbox: Outbox, row: EntryRow, isKnown: boolean): void {
  const updatedAt = outbox.clock.now();
  outbox.sql(isKnown ? UPDATE_ENTRY : INSERT_ENTRY).run({ ...row, updatedAt });
}
