import { hash, randomUUID } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ServerMs } from '../base/clock.ts';
import {
  DAMAGE_HINT,
  describeColumns,
  type GuardedDatabase,
  isText,
  orNull,
} from '../base/disk/database.ts';
import { DatabaseError, PasError } from '../base/errors.ts';
import { Issue } from '../base/issue.ts';
import {
  deserializeMessageValue,
  type Message,
  msg,
  type StoredMessage,
  serializeMessageValue,
} from '../base/message.ts';
import type { AttemptOutcome } from '../base/outcomes.ts';
import type { FindElements } from '../finds/fields.ts';

/** Makes the form of a message that can be stored as JSON, without a language. */
export function makeStoredMessage(message: Message): StoredMessage {
  return serializeMessageValue(message) as StoredMessage;
}

/** Restores what {@link makeStoredMessage} made; the value, as parsed from JSON, is not checked. */
export function parseStoredMessage(stored: StoredMessage): Message {
  return deserializeMessageValue(stored) as Message;
}

/** Fields that each stored issue has; the others are copied. */
type StoredIssue = {
  readonly rule: string;
  readonly severity: Issue['severity'];
  readonly message: StoredMessage;
};

/** Serialises issues as JSON, without a language; null where there are none. */
export function serializeIssues(issues: readonly Issue[]): string | null {
  return issues.length === 0
    ? null
    : JSON.stringify(
        issues.map(({ says, ...issue }) => ({ ...issue, message: serializeMessageValue(says) })),
      );
}

/**
 * Restores what {@link serializeIssues} made; null gives no issues.
 * @throws SyntaxError where the text is no JSON
 */
export function deserializeIssues(text: string | null): Issue[] {
  const issues: StoredIssue[] = JSON.parse(text ?? '[]');
  return issues.map(
    ({ message, ...issue }) => new Issue({ ...issue, says: parseStoredMessage(message) }),
  );
}

/**
 * Makes a UUID of version 7 (RFC 9562): it begins with the time, so that the rows of an import
 * stand beside one another in an index.
 * @param now milliseconds since 1970 UTC
 */
export function makeUuid(now: number): string {
  const time = now.toString(16).padStart(12, '0');
  // `randomUUID` makes version 4: only its variant and what follows are used.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** A find's row in a table as last imported, for the next import of the table. */
export type TableRow = {
  /** Full path of the table, with the sheet; null for standard input. */
  readonly path: string | null;
  readonly file: string | null;
  readonly row: number | null;
  /** Number that the table gives the find, or digest of its row. */
  readonly key: string;
  /** Absent where they are those of the find. */
  readonly elements?: FindElements | undefined;
  /** The elements as the find last took them, where it was sent before it took `elements`. */
  readonly base?: FindElements | undefined;
  /** SHA-512 of its photographs, by path. */
  readonly photos: Readonly<Record<string, string>>;
};

/** Belongs to the wish for a find, not to its content. */
export type FindWish = {
  readonly localId: string;
  /** Local id of a find that came with the same local id as this one; one of them got another. */
  readonly namesake?: string;
  readonly createdAt: number;
  /** Its rows in the last tables that had it, at most one of each table; the latest comes first. */
  readonly rows: readonly TableRow[];
  /** Rows that an import left out; the find is not sent before a person has answered for each. */
  readonly asked?: readonly AskedRow[] | undefined;
};

/**
 * Stable codes of all questions that hold an entry, and where each comes from. `row`: a row that an
 * import left out, whatever was sent; `copies`: two copies of the outbox. These follow from the
 * facts of the entry. The gate asks the others, from what it learns: when a find enters by a
 * command or a union (`entrance`), on this machine, or by a search of the service.
 */
export const HELD_BASES = {
  'row-near': 'row',
  'row-another': 'row',
  'row-changed': 'row',
  'edited-twice': 'copies',
  'alike-here': 'entrance',
  'two-records': 'machine',
  'local-id-in-use': 'machine',
  'attempted-elsewhere': 'machine',
  'number-used': 'machine',
  'equal-record': 'service',
  'not-searched': 'service',
  'record-not-ours': 'service',
  'equal-photograph': 'service',
  'number-changed': 'service',
} as const;

/** Stable code of a question that holds an entry. */
export type HeldBasis = keyof typeof HELD_BASES;
type HeldOrigin = (typeof HELD_BASES)[HeldBasis];
type BasisFrom<Origin extends HeldOrigin> = {
  readonly [Basis in HeldBasis]: (typeof HELD_BASES)[Basis] extends Origin ? Basis : never;
}[HeldBasis];
/** Codes of questions about a row that an import left out. */
export type RowBasis = BasisFrom<'row'>;
/** Codes of questions that the gate asks. */
export type GateBasis = BasisFrom<'entrance' | 'machine' | 'service'>;

/** Returns the codes of the questions that {@link HELD_BASES} gives this origin. */
export function listQuestionCodes(origin: HeldOrigin): HeldBasis[] {
  return (Object.keys(HELD_BASES) as HeldBasis[]).filter((each) => HELD_BASES[each] === origin);
}

/**
 * A row that an import left out until a person answers: the question, and all that is needed to
 * import the row then. It is stored with the find that it may be.
 */
export type AskedRow = {
  readonly basis: RowBasis;
  readonly question: StoredMessage;
  /** How strongly the find matches the row. */
  readonly matched: RejectedMatch;
  /** Number or digest of the row. */
  readonly key: string;
  /** Local id that it gets as a new find; with `row-changed`, that of the find. */
  readonly localId: string;
  readonly elements: FindElements;
  /** Elements that have a column; undefined for all. */
  readonly covered?: readonly string[] | undefined;
  /** Full paths of its photographs. */
  readonly photos: readonly string[];
  readonly file: string | null;
  readonly row: number | null;
  readonly path: string | null;
};

/** A photograph as it is sent, with the file that it was made from. */
export type Photograph = {
  readonly name: string;
  /** Media type detected from the bytes, such as `image/jpeg`. */
  readonly mediaType: string;
  /** Digests are hexadecimal. */
  readonly sha512: string;
  readonly sizeBytes: number;
  /** Digest of the file before its GPS data were removed; absent where they were not. */
  readonly originalSha512?: string | undefined;
  /** Path of the imported file. */
  readonly source?: string | undefined;
};

/** Returns the SHA-512 of the file as it was added, before its position was removed. */
export function getOriginalDigest({ originalSha512, sha512 }: Photograph): string {
  return originalSha512 ?? sha512;
}

/** Says what is wanted of a slot, from the moment of a command on. */
export type CurrentBody = {
  /** Null where nothing is wanted. */
  readonly intent: string | null;
  /** The intent that was wanted before, where nothing is wanted: it is still shown. */
  readonly was?: string | null;
  /** The find is not shown: it was removed, or its creation was undone. */
  readonly hides: boolean;
  readonly find?: FindWish;
  /** For a number: that of the record when it was wanted; '' for none, null where unknown. */
  readonly expects?: string | null;
  readonly photograph?: Photograph;
  /** Wish that an undo brings back, or that is repeated as part of no command. */
  readonly restores?: string;
  /** Facts of the slot that no longer say what is wanted. */
  readonly replaces: readonly string[];
  readonly command: string | null;
  /** Wall clock: displayed, and the order of what happened to one entry. */
  readonly at: number;
};

/** One request. It says as well that its intent is wanted. */
export type AttemptedBody = {
  readonly intent: string;
  /** The fact by which the intent was wanted. */
  readonly current: string;
  /** All facts of the slot that it knew and that were in force: it replaces and relies on them. */
  readonly basis: readonly string[];
  readonly account: string;
  readonly method: string;
  readonly path: string;
  readonly at: number;
  /**
   * Earliest server time of arrival, and latest time of complete sending; null where the server
   * time is unknown.
   */
  readonly fromMs: ServerMs | null;
  readonly sentByMs: ServerMs | null;
  /** Maximum time for which the service may work on the request after that, in milliseconds. */
  readonly settleMs: number;
  /** Record to change; null for an import. */
  readonly target: string | null;
  readonly localId: string | null;
  /** Compressed {@link AttemptContent}, in base64. */
  readonly content: string;
  /** Makes two attempts of the same content two facts. */
  readonly nonce: string;
};

type AttemptContent = {
  /** Content of the intent. */
  readonly intent: string;
  /** Body of the fact by which it was wanted, as it is stored. */
  readonly current: string;
  readonly document: string | null;
};

/**
 * End of one attempt, also where no answer came. `at` and `notBeforeAt` (0: at once) are by this
 * machine's clock; `issues` is what serializeIssues makes.
 */
export type AnsweredBody = {
  readonly attempt: string;
  readonly outcome: AttemptOutcome;
  /** `uncertain`: the service may or may not have executed it. */
  readonly settles: 'accepted' | 'refused' | 'queued' | 'uncertain';
  readonly at: number;
  readonly status: number | null;
  readonly identCely: string | null;
  readonly serverDateMs: ServerMs | null;
  /** Server time at the end of the attempt, from its answer or by the monotonic clock. */
  readonly endedMs: ServerMs | null;
  readonly notBeforeAt: number;
  readonly reason: StoredMessage | null;
  readonly issues: string | null;
};

/** Conclusion from a harvest about the attempts that it names. */
type EvidenceBody = {
  readonly attempts: readonly string[];
  readonly identCely: string | null;
  readonly at: number;
  readonly serverMs: ServerMs | null;
  /** Stable code of the basis. */
  readonly basis: string;
  readonly reason: StoredMessage;
  readonly candidates: readonly string[];
};

/** Something that an entry may be already. */
export type CandidateIdentity = {
  /** Local id, identifier of a record, file name or number. */
  readonly name: string;
  /**
   * UUID of a find, by which it is known again: another one may get its local id. That of the user
   * of a number ends with the number.
   */
  readonly uuid?: string | undefined;
};
/** A candidate, and how strongly it matches. */
export type Candidate = CandidateIdentity & { readonly matched: RejectedMatch };

/** Returns that by which a candidate is known again, as in the answers of a person. */
export function getCandidateKey({ name, uuid }: CandidateIdentity): string {
  return uuid ?? name;
}

/** How strongly a candidate matched: `same`, or `near` for any weaker match. */
export type RejectedMatch = 'same' | 'near';

/**
 * `created`: this record is the entry's. `resend`: the named attempts did not arrive, or their
 * refusal is overruled; the rejected candidates are others. `abandon`: the named attempts no longer
 * matter. `detach`, by pas: the service gave the record to another find, so what named it does not
 * count. `undo`: what it replaces does not count.
 */
export type DecidedBody = {
  readonly answer: 'created' | 'resend' | 'abandon' | 'detach' | 'undo';
  /** Intent that the decision is about. */
  readonly intent: string | null;
  readonly attempts: readonly string[];
  readonly identCely: string | null;
  /** Candidates that a person says are other things, as strong as they matched then. */
  readonly rejects: readonly Candidate[];
  readonly replaces: readonly string[];
  readonly command: string | null;
  readonly at: number;
  readonly reason: StoredMessage;
};

type BodyOf = {
  readonly current: CurrentBody;
  readonly attempted: AttemptedBody;
  readonly answered: AnsweredBody;
  readonly matched: EvidenceBody;
  readonly absent: EvidenceBody;
  readonly decided: DecidedBody;
};
type FactKind = keyof BodyOf;

/** A find or record, and which of its writes: the import, the number, or one photograph. */
export type Slot = { readonly subject: string; readonly slot: string };

/** Something that happened. It never changes, and its id is a hash of its content. */
export type Fact = {
  readonly [Kind in FactKind]: Slot & {
    readonly id: string;
    readonly kind: Kind;
    readonly body: BodyOf[Kind];
  };
}[FactKind];
/** A fact of one kind. */
export type FactOf<Kind extends FactKind> = Extract<Fact, { readonly kind: Kind }>;

/** Returns the facts of one kind, in their order. */
export function listFactsOfKind<Kind extends FactKind>(
  facts: readonly Fact[],
  kind: Kind,
): FactOf<Kind>[] {
  return facts.filter((fact) => fact.kind === kind) as FactOf<Kind>[];
}

/** Tells if a fact is an attempt, after which the service may have what was sent. */
export function isAttempt({ kind }: Fact): boolean {
  return kind === 'attempted';
}

/** Returns the ids of the attempts that an answer, evidence or a decision is about; else none. */
export function listNamedAttempts(fact: Fact): readonly string[] {
  switch (fact.kind) {
    case 'current':
    case 'attempted':
      return [];
    case 'answered':
      return [fact.body.attempt];
    default:
      return fact.body.attempts;
  }
}

/** A fact without its id. */
export type NewFact = {
  readonly [Kind in FactKind]: Omit<FactOf<Kind>, 'id'>;
}[FactKind];

/** Columns of the table `facts` that outbox and ledger have in common. */
export const FACT_COLUMNS = describeColumns('facts', {
  id: isText,
  kind: isText,
  subject: isText,
  slot: isText,
  command: orNull(isText),
  body: isText,
});
/** A row of the table `facts`, in the outbox and in the ledger. */
export type FactRow = ReturnType<typeof FACT_COLUMNS.parse>;

/** Makes a fact with its id, the hash of kind, subject, slot and body. */
export function makeFact(fact: NewFact): Fact {
  return { ...fact, id: makeFactRow(fact).id } as Fact;
}

/**
 * Makes the row of a fact for the table `facts`, with the id that follows from its content; its
 * `command` is null for a kind of fact without one, and for what no command made.
 */
export function makeFactRow(fact: NewFact): FactRow {
  const { kind, subject, slot } = fact;
  const body = JSON.stringify(fact.body);
  const command = 'command' in fact.body ? fact.body.command : null;
  return { id: hashFact({ kind, subject, slot, body }), kind, subject, slot, command, body };
}

type Hashed = Pick<FactRow, 'kind' | 'subject' | 'slot' | 'body'>;

function hashFact({ kind, subject, slot, body }: Hashed): string {
  return hash('sha256', `${kind}\0${subject}\0${slot}\0${body}`, 'base64url');
}

/**
 * Parses a row of the table `facts`, and verifies its id.
 * @param path of the outbox or ledger, for the error
 * @throws DatabaseError where the row differs from what was written
 */
export function parseFact(path: string, row: unknown): Fact {
  if (!FACT_COLUMNS.isRow(row)) throw makeDamagedError(path, 'facts');
  const { id, kind, subject, slot } = row;
  if (hashFact(row) !== id) throw makeDamagedError(path, id);
  // The hash proves that pas wrote the body for this kind.
  return { id, kind, subject, slot, body: JSON.parse(row.body) } as Fact;
}

/**
 * Returns the facts of an outbox or ledger that match a condition.
 * @param condition SQL after `where`; it may sort and limit, and has `?` for each of `values`
 * @throws DatabaseError where a fact differs from what was written
 */
export function selectFacts(
  { sql, path }: Pick<GuardedDatabase, 'sql'> & { readonly path: string },
  condition: string,
  ...values: readonly unknown[]
): Fact[] {
  const rows = sql(`select * from facts where ${condition}`).all(...values);
  return rows.map((row) => parseFact(path, row));
}

/**
 * Makes the error for stored content that differs from what was written; its hint is how to repair.
 * @param what names it in the message: an id, a table or an entry
 */
export function makeDamagedError(path: string, what: string, cause?: unknown): DatabaseError {
  return new DatabaseError(msg`${path}: ${what} is damaged: it differs from what was written.`, {
    cause,
    damaged: true,
    hint: DAMAGE_HINT,
  });
}

/**
 * Returns the result of `read`, which parses stored values.
 * @param what names the values in the message, as `path` names the outbox
 * @throws a PasError of `read` as it is; DatabaseError (damaged) in place of any other error
 */
export function convertReadErrors<T>(path: string, what: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof PasError) throw thrown;
    throw makeDamagedError(path, what, thrown);
  }
}

/** Compresses the content of an attempt, for {@link unpackAttempt}: raw deflate, in base64. */
export function packAttemptContent(content: AttemptContent): string {
  return deflateRawSync(JSON.stringify(content)).toString('base64');
}

/**
 * Unpacks what an attempt sent, and the fact by which that was wanted, whose id is not verified.
 * @throws Error of zlib or JSON where the content is damaged
 */
export function unpackAttempt({ subject, slot, body }: FactOf<'attempted'>): {
  readonly content: AttemptContent;
  readonly current: FactOf<'current'>;
} {
  const content: AttemptContent = JSON.parse(
    inflateRawSync(Buffer.from(body.content, 'base64')).toString('utf8'),
  );
  const current: CurrentBody = JSON.parse(content.current);
  return { content, current: { id: body.current, kind: 'current', subject, slot, body: current } };
}

/** Query of the 50 commands that changed something last, newest first: their contents are kept. */
export const LAST_COMMANDS =
  'select command from facts where command is not null group by command order by max(seq) desc limit 50';
