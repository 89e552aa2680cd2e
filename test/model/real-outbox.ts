import { OutboxLeasedError } from '../../src/base/errors.ts';
import { msg } from '../../src/base/message.ts';
import { type HarvestedFind, readHarvestedFind } from '../../src/find/harvested-find.ts';
import { recogniseOutbox, refuseCopy } from '../../src/flows/push/recognise-outbox.ts';
import type { Evidence, LookContext } from '../../src/flows/reconcile/gather-evidence.ts';
import { shownKindOf } from '../../src/flows/reconcile/judge-absence.ts';
import { applyVerdict, judgeImportEntries } from '../../src/flows/reconcile/reconcile-entries.ts';
import type { Verdict } from '../../src/flows/reconcile/verdict.ts';
import { type Claim, claim, recoverInterrupted, settle } from '../../src/outbox/claims.ts';
import { allEntries, entriesInState } from '../../src/outbox/entries.ts';
import type { ImportEntry } from '../../src/outbox/entry.ts';
import { takeLease } from '../../src/outbox/lease.ts';
import type { ServiceOutbox } from '../../src/outbox/open-outbox.ts';
import { acceptedSince, ownerOf } from '../../src/outbox/owners.ts';
import { processTable } from '../../src/outbox/process-table.ts';
import { childOf } from '../../src/xml/element.ts';
import { parseXml } from '../../src/xml/parse.ts';
import { innerOf, PROJECT } from '../support/find-service.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { type Process, playMachine } from '../support/played-machine.ts';
import { answered, CANARY, type CopiedAs, FINDS, MAKER, type Prepared, requestLine } from './prepared-outbox.ts';
import { type Action, type Find, SENDERS, type Sender, type State } from './protocol.ts';

/** Another account, which may not be shown what the maker has made. */
const OTHER = 'U-000002';
const SETTLE_MS = 600_000;
/** Short enough that a whole trace is over before anything has settled by itself. */
const STEP_MS = 1000;

/** Steps that change neither the outbox nor what the service lists, so no look is made anew; a look itself says when it has. */
const UNSEEN: ReadonlySet<string> = new Set([
  'lets it leave',
  'it is lost',
  'it arrives, and its answer is lost',
  'ends',
  'is killed',
  'the outbox is copied',
  'looks, and finds it',
  'looks, and it is not there',
]);

type Made = { readonly identCely: string; readonly atMs: number };

/** What the model leaves open. */
export type Ways = {
  /** A service may list a record at once, or late. */
  readonly indexAllowanceMs: number;
  readonly copiedAs: CopiedAs;
};

/** The outbox of the program itself, with a service that shows what the model says. */
export class RealOutbox {
  readonly #prepared: Prepared;
  readonly #ways: Ways;
  readonly #clock: ManualClock = manualClock(manualClock().now() + 3_600_000);
  readonly #machine = playMachine('linux');
  readonly #processes = new Map<Sender, { readonly process: Process; readonly release: () => void }>();
  readonly #claims = new Map<number, Claim>();
  readonly #made = new Map<number, Made>();
  readonly #claimedAtMs = new Map<number, number>();
  /** Beside whom the other has tried to begin, which takes long, since anybody was killed. */
  readonly #triedBeside = new Set<Sender>();
  readonly #shown = new Map<string, HarvestedFind>();
  /** What looks say, by how much later they come, since what they are made from has changed. */
  readonly #looks = new Map<number, Judged>();
  /** The finds in doubt that were looked for once. */
  #lookedFor: readonly number[] = [];
  /** Those that somebody else has looked for. */
  #askedByOther: readonly number[] = [];
  readonly #entryIds: readonly number[];
  #outbox: ServiceOutbox;

  constructor(prepared: Prepared, ways: Ways) {
    this.#prepared = prepared;
    this.#ways = ways;
    this.#outbox = prepared.begin(this.#clock);
    const entries = allEntries(this.#outbox);
    this.#entryIds = FINDS.map((name) => entries.find(({ localId }) => localId === name)?.id ?? 0);
  }

  /** @returns whether it went as in the model; false where the outbox waits for more than the model does */
  async take(state: State, { name, find: at, sender }: Action): Promise<boolean> {
    this.#clock.hold(STEP_MS);
    if (!UNSEEN.has(name)) this.#looks.clear();
    const find = at === null ? undefined : at;
    switch (name) {
      case 'begins':
        await this.#begin(sender as Sender);
        return true;
      case 'ends':
      case 'is killed':
        this.#end(sender as Sender, name === 'ends');
        return true;
      case 'claims it':
        this.#claims.set(find as number, this.#claim(find as number));
        return true;
      case 'gets no answer':
        this.#settle(find as number, { state: 'uncertain', reason: msg`no answer` });
        return true;
      case 'it arrives, and its answer is lost':
      case 'it arrives, and is answered':
        return this.#arrive(find as number, name === 'it arrives, and is answered');
      case 'lets it leave':
      case 'it is lost':
      case 'the index shows it':
        return true;
      case 'looks, and finds it':
      case 'looks, and it is not there':
        return this.#look(state, find as number);
      case 'the outbox is copied':
        this.#prepared.copy(this.#ways.copiedAs);
        return true;
      case 'the copy is put back':
        this.#outbox = this.#prepared.putBack(this.#clock);
        this.#lookedFor = [];
        return true;
      default:
        throw new Error(`nothing is known of "${name}"`);
    }
  }

  async #begin(sender: Sender): Promise<void> {
    const process = this.#machine.start({ pid: 2000 + sender });
    const lease = takeLease(this.#outbox, { processes: processTable(this.#machine.seenBy(process)) });
    this.#processes.set(sender, { process, release: lease.release });
    await recogniseOutbox(this.#outbox, { memory: this.#prepared.memory, machine: '', wasMoved: async () => false });
    recoverInterrupted(this.#outbox);
  }

  #end(sender: Sender, isOrderly: boolean): void {
    const running = this.#processes.get(sender);
    if (running === undefined) return;
    if (isOrderly) running.release();
    else this.#triedBeside.clear();
    this.#machine.end(running.process);
    this.#processes.delete(sender);
  }

  #claim(at: number): Claim {
    const claimed = claim(this.#outbox, this.#entryIds[at] as number, requestLine);
    if (claimed === undefined) throw new Error('what is queued cannot be claimed');
    refuseCopy(this.#outbox, this.#prepared.memory);
    this.#claimedAtMs.set(at, this.#clock.now());
    return claimed;
  }

  #settle(at: number, settlement: Parameters<typeof settle>[2]): void {
    const claimed = this.#claims.get(at);
    if (claimed === undefined) throw new Error('what nobody has claimed is settled');
    const answer = settlement.state === 'accepted' ? answered(this.#clock.now()) : { outcome: 'uncertain' };
    settle(this.#outbox, claimed, settlement, answer);
  }

  #arrive(at: number, isAnswered: boolean): true {
    const made = { identCely: `${PROJECT}-N0000${at + 1}`, atMs: this.#clock.now() };
    this.#made.set(at, made);
    if (isAnswered) this.#settle(at, { state: 'accepted', identCely: made.identCely });
    return true;
  }

  /** The end of a push looks for what is in doubt, and notes when: only from a first look on is it known how long to wait. */
  lookAtOnce(state: State): void {
    const doubtful = doubtfulIn(state);
    const unseen = doubtful.filter((at) => !this.#lookedFor.includes(at));
    this.#lookedFor = doubtful;
    if (unseen.length === 0) return;
    this.#looks.clear();
    const { verdicts, nowMs } = this.#judge(state, 0);
    for (const at of unseen) {
      const { entry, verdict } = judged(verdicts, at);
      if (verdict.kind === 'undecided') applyVerdict(this.#context, entry, verdict, nowMs);
    }
  }

  /** As a look at the service goes for one find: judged with all others that are in doubt, and settled alone. */
  #look(state: State, at: number): boolean {
    const { verdicts, nowMs } = this.#lookFor(state, at);
    const { entry, verdict } = judged(verdicts, at);
    if (verdict.kind === 'undecided') return false;
    this.#looks.clear();
    applyVerdict(this.#context, entry, verdict, nowMs);
    return true;
  }

  /** Finds that wait for the same are looked for together, and once as long as nothing changes that looks are made from. */
  #lookFor(state: State, at: number): Judged {
    const laterMs = this.#waitOf(state.finds[at] as Find);
    const look = this.#looks.get(laterMs) ?? this.#judge(state, laterMs);
    this.#looks.set(laterMs, look);
    return look;
  }

  get #context(): LookContext {
    return { outbox: this.#outbox, user: MAKER, harvester: MAKER, settleMs: SETTLE_MS } as LookContext;
  }

  /** All that is in doubt, by the place of its find, as a look says so much later. */
  #judge(state: State, laterMs: number, harvester = MAKER): Judged {
    const doubtful = entriesInState(this.#outbox, 'uncertain').flatMap((each) => (each.kind === 'import' ? [each] : []));
    const view = this.#view(state, laterMs, harvester);
    const said = judgeImportEntries(this.#context, doubtful, view);
    const verdicts = new Map<number, JudgedEntry>();
    for (const entry of doubtful) {
      const verdict = said.get(entry.id);
      if (verdict !== undefined) verdicts.set(this.#entryIds.indexOf(entry.id), { entry, verdict });
    }
    return { verdicts, nowMs: view.nowMs };
  }

  /** Read once: nobody changes it. */
  #harvested(name: string, made: Made): HarvestedFind {
    const read = this.#shown.get(name) ?? harvested(name, made);
    this.#shown.set(name, read);
    return read;
  }

  /** What the service shows. */
  #view(state: State, laterMs: number, harvester: string): Evidence {
    const listed = [...this.#made].filter(([other]) => (state.finds[other]?.listed ?? 0) > 0);
    const canary = this.#harvested('CANARY', { identCely: CANARY, atMs: manualClock().now() });
    const finds = new Map(listed.map(([other, made]) => [made.identCely, this.#harvested(FINDS[other] ?? '', made)]));
    const accepted = acceptedSince(this.#outbox, 0, 0);
    return {
      finds: finds.set(CANARY, canary),
      withheld: new Map(),
      deleted: new Map(),
      nowMs: this.#clock.now() + laterMs,
      offsetMs: 0,
      isOwned: (identCely) => ownerOf(this.#outbox, identCely) !== undefined,
      readsAsSent: () => true,
      shown: new Map([[shownKindOf(canary.elements, canary.stav), new Set([MAKER])]]),
      harvester,
      index: {
        unlisted: new Map([...accepted].filter(([identCely]) => !finds.has(identCely))),
        allowanceMs: this.#ways.indexAllowanceMs,
      },
    };
  }

  /**
   * The model has no time, so a look comes as late as it takes: while a request is on its way it is early, and where all that was made
   * is listed it is late enough.
   */
  #waitOf({ onItsWay, listed, records }: Find): number {
    if (onItsWay > 0 || (listed < records && this.#ways.indexAllowanceMs === 0)) return 0;
    return listed < records ? SETTLE_MS + 10_000 : SETTLE_MS + this.#ways.indexAllowanceMs + 10_000;
  }

  /** In what the outbox is not where the model is: its states, who may begin, what may be claimed, what a look would say. */
  differsFrom(state: State): string | undefined {
    const states = this.#outbox.sql('select state from entries where id = ?').pluck();
    const real = this.#entryIds.map((id) => states.get(id)).join();
    const told = state.finds.map(({ entry }) => entry).join();
    if (real !== told) return `the outbox says ${real}, the model ${told}`;
    for (const at of doubtfulIn(state)) {
      const wrong = this.#wrongLook(state, at, judged(this.#lookFor(state, at).verdicts, at).verdict);
      if (wrong !== undefined) return wrong;
    }
    return this.#wrongAbsence(state) ?? this.#wrongBeginning(state);
  }

  #wrongLook(state: State, at: number, verdict: Verdict): string | undefined {
    const find = state.finds[at] as Find;
    const isGone = find.onItsWay === 0 && find.records === 0 && !this.#isIndexBehind(state, at);
    const expected = find.listed > 0 ? 'found' : isGone ? 'absent' : 'undecided';
    if (verdict.kind === expected) return undefined;
    if (verdict.kind === 'undecided' && expected === 'absent' && state.finds.some(isUnclear)) return undefined;
    return `of find ${at} a look says ${verdict.kind} (${verdict.basis}), the model ${expected}`;
  }

  /** What the service has accepted since is not listed either. */
  #isIndexBehind({ finds }: State, at: number): boolean {
    const sinceMs = this.#claimedAtMs.get(at) ?? Number.POSITIVE_INFINITY;
    return finds.some(
      ({ entry, records, listed }, other) =>
        entry === 'accepted' && listed < records && (this.#made.get(other)?.atMs ?? 0) >= sinceMs,
    );
  }

  /** Whoever is not shown what another has made must not find out that it is not there, however late: asked once for each doubt. */
  #wrongAbsence(state: State): string | undefined {
    const doubtful = doubtfulIn(state);
    const unasked = doubtful.filter((at) => !this.#askedByOther.includes(at));
    this.#askedByOther = doubtful;
    if (unasked.length === 0) return undefined;
    const { verdicts } = this.#judge(state, 2 * (SETTLE_MS + this.#ways.indexAllowanceMs), OTHER);
    const absent = unasked.find((at) => judged(verdicts, at).verdict.kind === 'absent');
    return absent === undefined ? undefined : `that find ${absent} is not there is believed of a look that is not shown it`;
  }

  /** Of the sender that would begin beside the one that runs. */
  #wrongBeginning({ holder, running }: State): string | undefined {
    if (holder === null || !running[holder] || this.#triedBeside.has(holder)) return undefined;
    this.#triedBeside.add(holder);
    const other = SENDERS.find((sender) => !running[sender]);
    if (other === undefined) return 'both run';
    const process = this.#machine.start({ pid: 3000 });
    try {
      takeLease(this.#outbox, { processes: processTable(this.#machine.seenBy(process)) }).release();
      return `sender ${other} may begin beside the one that runs`;
    } catch (thrown) {
      if (thrown instanceof OutboxLeasedError) return undefined;
      throw thrown;
    } finally {
      this.#machine.end(process);
    }
  }
}

type JudgedEntry = { readonly entry: ImportEntry; readonly verdict: Verdict };
type Judged = { readonly verdicts: ReadonlyMap<number, JudgedEntry>; readonly nowMs: number };

function judged(verdicts: Judged['verdicts'], at: number): JudgedEntry {
  const found = verdicts.get(at);
  if (found === undefined) throw new Error('what is in doubt is not judged');
  return found;
}

function doubtfulIn({ finds }: State): number[] {
  return finds.flatMap(({ entry }, at) => (entry === 'uncertain' ? [at] : []));
}

/** A record of which the outbox does not know whose it is, or that the index lacks: while there is one, no absence is believed. */
function isUnclear({ entry, records, listed }: Find): boolean {
  return entry === 'accepted' ? listed < records : entry !== 'uncertain' && listed > 0;
}

function harvested(name: string, { identCely, atMs }: Made): HarvestedFind {
  const history = `<historie><datum_zmeny>${new Date(atMs).toISOString()}</datum_zmeny><typ_zmeny>SN01</typ_zmeny><uzivatel id="${MAKER}">x</uzivatel></historie>`;
  const inner = innerOf(name).replace(':tba', identCely);
  const { root } = parseXml(
    Buffer.from(`<svc xmlns="urn:svc/2.2/"><samostatny_nalez>${inner}${history}</samostatny_nalez></svc>`),
  );
  const entity = childOf(root, 'samostatny_nalez');
  const find = entity === undefined ? undefined : readHarvestedFind(entity);
  if (find === undefined) throw new Error('the record cannot be read');
  return find;
}
