import type { Readable } from 'node:stream';
import type { Clock, ServerClock } from '../base/clock.ts';
import type { PasError } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import type { OaiClient } from '../harvest/client.ts';
import type { Entry, EntryKind, EntryState } from '../outbox/entry.ts';
import { type EntryScope, findEntryById } from '../outbox/entry-queries.ts';
import type { Photograph } from '../outbox/facts.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import type { PushLockOptions } from '../outbox/push-lock.ts';
import type { Pace } from '../service/http/pacer.ts';
import type { Outcome } from '../service/outcome.ts';
import type { OpenService } from './account.ts';
import type { ReconciledEntry } from './judge-import.ts';

/** How the service is harvested, to find what it may have already. */
export type HarvestAccess = {
  open(): Promise<OaiClient>;
  /** Sign-in: `bearer` as the writing account, `basic` as the user name of the profile. */
  readonly auth: 'none' | 'bearer' | 'basic';
  /** The service's native format, such as `oai_svc`. */
  readonly format: string;
  /** Maximum time in milliseconds until a new record appears in a harvest. */
  readonly indexAllowanceMs: number;
};

/** Write access to a service, and read access where it has a harvest. */
export type ServiceAccess = {
  readonly clock: Clock;
  readonly outbox: Outbox;
  readonly service: OpenService;
  /** Undefined where a person settles uncertain entries. */
  readonly harvesting: HarvestAccess | undefined;
  readonly lock: PushLockOptions;
  readonly onSearch?: (doneCount: number, total: number | undefined) => void;
};

/** Reason for which the service was not searched before sending. */
export type NoSearchReason = 'no-harvesting' | 'anonymous' | 'refused';

/** The last equal refusals of a kind and project since one of it was accepted. Immutable. */
export type RefusalSeries = EntryScope & {
  /** Status and text, equal for all of them. */
  readonly text: string;
  readonly status: number | null;
  readonly reason: Message;
  /** Names of the refused finds and records: each counts once. */
  readonly records: readonly string[];
};

/** All that one push needs, and whom it asks and tells. */
export type PushContext = ServiceAccess & {
  readonly kinds: readonly EntryKind[];
  /** Subjects whose entries are sent; undefined for all. */
  readonly subjects: readonly string[] | undefined;
  /** Maximum number of requests to send entries; with it the push has one round. */
  readonly limit: number | undefined;
  /** At least 1. */
  readonly maxInFlight: number;
  readonly answerTimeoutMs: number;
  /** Maximum time in milliseconds for which the service may work on a request without an answer. */
  readonly settleMs: number;
  readonly pace: Pace;
  readonly report: (event: PushEvent) => void;
  /** Stops new requests; those in flight are awaited. */
  readonly stop: AbortSignal;
  /** Aborts requests in flight as well. */
  readonly abort: AbortSignal;
  /** Identifier of this machine; empty where it has none. */
  readonly machine: string;
  readonly openPhotograph: (photograph: Photograph) => Readable;
  /** Treatment of entries with an open question. */
  readonly onQuestion: 'hold' | 'send';
  readonly lookBackMs: number;
  /**
   * Asks if a service that this machine knows by these addresses has another address now;
   * undefined where no person can be asked.
   */
  readonly confirmSameService?: (addresses: readonly string[], account: string) => Promise<boolean>;
  /** Tells if an outbox of another place is taken over, as a person says. Without it, none is. */
  readonly confirmTakeOver?: () => Promise<boolean>;
  /**
   * Settles which new people the service may create; false where some are not accepted. Without
   * it, all are.
   */
  readonly admitNewPeople?: (mayAsk: boolean) => Promise<boolean>;
  /** Called before each round with the number of entries to send. */
  readonly onRound?: (queued: number) => void;
  readonly onReconciled?: (settled: readonly ReconciledEntry[]) => void;
  /** Kinds and projects that ended with equal refusals in earlier rounds; none by default. */
  readonly ended?: readonly RefusalSeries[];
  /** Called with the error of a failed search for uncertain entries; the push continues. */
  readonly onSearchFailed?: (error: PasError) => void;
  /** Called in each round in which entries are sent without a search. */
  readonly onNotChecked?: (why: NoSearchReason) => void;
  /** Called if the ledger of this machine was missing, or is an older one. */
  readonly onLostLedger?: () => void;
};

/** A push whose account is known. */
export type SignedInPush = PushContext & {
  /** The service's identifier of the sending account. */
  readonly account: string;
  readonly serverClock: ServerClock;
};

type EntryName = Pick<Entry, 'kind' | 'find'> & { readonly entry: number };

/** Something that a push reports while it runs. */
export type PushEvent =
  | (EntryName & {
      readonly type: 'attempt';
      readonly status: number | null;
      readonly ms: number;
      readonly paced_ms: number;
    })
  | (EntryName & {
      readonly type: 'settled';
      readonly state: EntryState;
      readonly ident_cely: string | null;
      readonly reason: Message | null;
    })
  /** Five of them got the same refusal: the others of the kind and project stay queued. */
  | {
      readonly type: 'left_out';
      readonly kind: EntryKind;
      readonly project: string;
      readonly status: number | null;
      readonly reason: Message;
      readonly count: number;
      readonly refused: readonly string[];
    };

/** Returns row, kind and find of an entry, which name it in a {@link PushEvent}. */
export function makeEntryName({ id, kind, find }: Entry): EntryName {
  return { entry: id, kind, find };
}

/**
 * Reports by a `settled` event the state that an entry has now; does nothing where there is no such
 * entry.
 * @param id row of the entry
 */
export function reportSettledEntry({ outbox, report }: PushContext, id: number): void {
  const entry = findEntryById(outbox, id);
  if (entry === undefined) return;
  report({
    type: 'settled',
    ...makeEntryName(entry),
    state: entry.state,
    ident_cely: entry.identCely,
    reason: entry.reason,
  });
}

/** Cause for a push to end before everything was sent. */
export type StopCause =
  | { readonly kind: 'interrupted' }
  /** `new-people`: the service would create people that the user has not accepted. */
  | {
      readonly kind: 'closed' | 'unreachable' | 'not-allowed' | 'in-doubt' | 'new-people';
      readonly reason: Message;
    }
  /** `waiting`: the service has asked for a pause; `not-yet`: the remaining entries are not due. */
  | { readonly kind: 'waiting' | 'not-yet'; readonly reason: Message; readonly untilMs: number };

/**
 * Returns why a push must end after the answer to a probe, or its absence; undefined where the
 * answer shows that the service is open, also where it refuses the account.
 */
export function findStopCauseOfProbe(outcome: Outcome): StopCause | undefined {
  switch (outcome.kind) {
    case 'not-delivered':
    case 'cut':
      return { kind: 'unreachable', reason: outcome.detail };
    case 'closed':
      return { kind: 'closed', reason: outcome.detail };
    case 'uncertain':
      return {
        kind: 'in-doubt',
        reason: msg`the answers may not come from the service: ${outcome.detail}`,
      };
    default:
      return undefined;
  }
}
