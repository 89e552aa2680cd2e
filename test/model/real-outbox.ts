import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { OutboxLeasedError } from '../../src/base/errors.ts';
import { msg } from '../../src/base/message.ts';
import { readHarvestedFind } from '../../src/find/harvested-find.ts';
import { recogniseOutbox, refuseCopy } from '../../src/flows/push/recognise-outbox.ts';
import type { Evidence, LookContext } from '../../src/flows/reconcile/gather-evidence.ts';
import { shownKindOf } from '../../src/flows/reconcile/judge-absence.ts';
import { applyVerdict, judgeImportEntries } from '../../src/flows/reconcile/reconcile-entries.ts';
import type { Verdict } from '../../src/flows/reconcile/verdict.ts';
import { rememberAccount } from '../../src/outbox/accounts.ts';
import { type Claim, claim, recoverInterrupted, settle } from '../../src/outbox/claims.ts';
import { allEntries, entriesInState, entryById } from '../../src/outbox/entries.ts';
import type { ImportEntry } from '../../src/outbox/entry.ts';
import { evidenceOf } from '../../src/outbox/evidence.ts';
import { openMemory } from '../../src/outbox/history.ts';
import { takeLease } from '../../src/outbox/lease.ts';
import { openOutbox, type ServiceOutbox } from '../../src/outbox/open-outbox.ts';
import { acceptedSince, ownerOf } from '../../src/outbox/owners.ts';
import { processTable } from '../../src/outbox/process-table.ts';
import { openService } from '../../src/outbox/services.ts';
import { copyDatabase } from '../../src/store/database-file.ts';
import { childOf } from '../../src/xml/element.ts';
import { parseXml } from '../../src/xml/parse.ts';
import { innerOf, PROJECT, queueFind } from '../support/find-service.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { type Process, playMachine } from '../support/played-machine.ts';
import { ACCOUNT_ID, ADDRESS, USERNAME } from '../support/temp-outbox.ts';
import { type Action, type Find, SENDERS, type Sender, type State } from './protocol.ts';

const MAKER = 'U-000001';
const SETTLE_MS = 600_000;
/** Short enough that a whole trace is over before anything has settled by itself. */
const STEP_MS = 1000;
export const FINDS = ['F-1', 'F-2', 'F-3'];
const CANARY = `${PROJECT}-N09999`;

type Made = { readonly identCely: string; readonly atMs: number };

/** An outbox with three queued finds and one that was sent before. @returns the path of its file */
export function makeTemplate(folder: string): string {
  const path = join(mkdtempSync(join(folder, 'template-')), 'outbox.sqlite');
  const file = openOutbox(path, manualClock());
  const outbox = openService(file, { address: ADDRESS, username: USERNAME });
  rememberAccount(outbox, { identCely: MAKER, name: 'Eva', email: USERNAME, organisation: 'Museum', role: 'archaeologist' });
  const canary = queueFind(outbox, 'CANARY');
  const claimed = claim(outbox, canary.entryId, requestLine);
  if (claimed !== undefined) settle(outbox, claimed, { state: 'accepted', identCely: CANARY }, answered(file.clock.now()));
  for (const name of FINDS) queueFind(outbox, name);
  copyDatabase(path, `${path}.copy`);
  file.close();
  return `${path}.copy`;
}

const requestLine = () => ({ method: 'POST', path: '/import-xml', accountId: ACCOUNT_ID });
const answered = (nowMs: number) => ({ outcome: 'accepted', status: 201, serverDateAt: nowMs });

/** The outbox of the program itself, with a service that shows what the model says. */
export class RealOutbox {
  readonly #folder: string;
  readonly #indexAllowanceMs: number;
  readonly #clock: ManualClock = manualClock(manualClock().now() + 3_600_000);
  readonly #machine = playMachine('linux');
  readonly #memory: ReturnType<typeof openMemory>;
  readonly #processes = new Map<Sender, { readonly process: Process; readonly release: () => void }>();
  readonly #claims = new Map<number, Claim>();
  readonly #made = new Map<number, Made>();
  readonly #claimedAtMs = new Map<number, number>();
  readonly #entryIds: readonly number[];
  #outbox: ServiceOutbox;

  constructor(template: string, folder: string, indexAllowanceMs: number) {
    this.#folder = folder;
    this.#indexAllowanceMs = indexAllowanceMs;
    copyFileSync(template, this.#path);
    this.#memory = openMemory(join(folder, 'machine.sqlite'));
    this.#outbox = this.#open();
    this.#entryIds = FINDS.map((name) => allEntries(this.#outbox).find(({ localId }) => localId === name)?.id ?? 0);
  }

  get #path(): string {
    return join(this.#folder, 'outbox.sqlite');
  }

  #open(): ServiceOutbox {
    return openService(openOutbox(this.#path, this.#clock), { address: ADDRESS, username: USERNAME });
  }

  close(): void {
    this.#outbox.close();
    this.#memory.close();
    rmSync(this.#folder, { recursive: true });
  }

  /** Somebody has begun just now: a look whether another may as well takes long. */
  #isJustTaken = false;

  /** @returns whether it went as in the model; false where the outbox waits for more than the model does */
  async take(state: State, { name, find: at, sender }: Action): Promise<boolean> {
    this.#clock.hold(STEP_MS);
    const find = at === null ? undefined : at;
    this.#isJustTaken = name === 'begins';
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
        copyDatabase(this.#path, `${this.#path}.kept`);
        return true;
      case 'the copy is put back':
        this.#putBack();
        return true;
      default:
        throw new Error(`nothing is known of "${name}"`);
    }
  }

  async #begin(sender: Sender): Promise<void> {
    const process = this.#machine.start({ pid: 2000 + sender });
    const lease = takeLease(this.#outbox, { processes: processTable(this.#machine.seenBy(process)) });
    this.#processes.set(sender, { process, release: lease.release });
    await recogniseOutbox(this.#outbox, { memory: this.#memory, machine: '', wasMoved: async () => false });
    recoverInterrupted(this.#outbox);
  }

  #end(sender: Sender, isOrderly: boolean): void {
    const running = this.#processes.get(sender);
    if (running === undefined) return;
    if (isOrderly) running.release();
    this.#machine.end(running.process);
    this.#processes.delete(sender);
  }

  #claim(at: number): Claim {
    const claimed = claim(this.#outbox, this.#entryIds[at] as number, requestLine);
    if (claimed === undefined) throw new Error('what is queued cannot be claimed');
    refuseCopy(this.#outbox, this.#memory);
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

  #putBack(): void {
    this.#outbox.close();
    for (const ending of ['', '-wal', '-shm']) rmSync(this.#path + ending, { force: true });
    copyFileSync(`${this.#path}.kept`, this.#path);
    this.#outbox = this.#open();
  }

  /** The end of a push looks for what is in doubt, and notes when: only from a first look on is it known how long to wait. */
  lookAtOnce(state: State): void {
    for (const [at, { entry }] of state.finds.entries()) {
      if (entry !== 'uncertain' || evidenceOf(this.#outbox, this.#entryIds[at] as number).at(-1)?.verdict === 'undecided')
        continue;
      const { entry: doubtful, verdict, view } = this.#judge(state, at, 0);
      if (verdict.kind === 'undecided') applyVerdict(this.#context, doubtful, verdict, view.nowMs);
    }
  }

  /** As a look at the service goes for one find: judged with all others that are in doubt, and settled alone. */
  #look(state: State, at: number): boolean {
    const { entry, verdict, view } = this.#judge(state, at);
    if (verdict.kind === 'undecided') return false;
    applyVerdict(this.#context, entry, verdict, view.nowMs);
    return true;
  }

  get #context(): LookContext {
    return { outbox: this.#outbox, user: MAKER, harvester: MAKER, settleMs: SETTLE_MS } as LookContext;
  }

  #judge(
    state: State,
    at: number,
    laterMs = this.#waitOf(state.finds[at] as Find),
  ): { entry: ImportEntry; verdict: Verdict; view: Evidence } {
    const doubtful = entriesInState(this.#outbox, 'uncertain').flatMap((each) => (each.kind === 'import' ? [each] : []));
    const entry = doubtful.find(({ id }) => id === this.#entryIds[at]);
    const view = this.#view(state, laterMs);
    const verdict = entry === undefined ? undefined : judgeImportEntries(this.#context, doubtful, view).get(entry.id);
    if (entry === undefined || verdict === undefined) throw new Error('what is in doubt is not judged');
    return { entry, verdict, view };
  }

  /** What the service shows. */
  #view(state: State, laterMs: number): Evidence {
    const listedFinds = [...this.#made].filter(([other]) => (state.finds[other]?.listed ?? 0) > 0);
    const finds = new Map(listedFinds.map(([other, made]) => [made.identCely, harvested(FINDS[other] ?? '', made)] as const));
    const canary = harvested('CANARY', { identCely: CANARY, atMs: manualClock().now() });
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
      harvester: MAKER,
      index: {
        unlisted: new Map([...accepted].filter(([identCely]) => !finds.has(identCely))),
        allowanceMs: this.#indexAllowanceMs,
      },
    };
  }

  /**
   * The model has no time, so a look comes as late as it takes: while a request is on its way it is early, and where all that was made
   * is listed it is late enough.
   */
  #waitOf({ onItsWay, listed, records }: Find): number {
    if (onItsWay > 0 || (listed < records && this.#indexAllowanceMs === 0)) return 0;
    return listed < records ? SETTLE_MS + 10_000 : SETTLE_MS + this.#indexAllowanceMs + 10_000;
  }

  /** In what the outbox is not where the model is: its states, who may begin, what may be claimed, what a look would say. */
  differsFrom(state: State): string | undefined {
    const real = this.#entryIds.map((id) => entryById(this.#outbox, id)?.state);
    const told = state.finds.map(({ entry }) => entry);
    if (real.join() !== told.join()) return `the outbox says ${real.join()}, the model ${told.join()}`;
    for (const [at, find] of state.finds.entries()) {
      const wrong = find.entry === 'uncertain' ? this.#wrongLook(state, at) : undefined;
      if (wrong !== undefined) return wrong;
    }
    return this.#isJustTaken ? this.#wrongBeginning(state) : undefined;
  }

  #wrongLook(state: State, at: number): string | undefined {
    const find = state.finds[at] as Find;
    const { verdict } = this.#judge(state, at);
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

  /** Of the sender that would begin beside the one that runs. */
  #wrongBeginning({ holder, running }: State): string | undefined {
    if (holder === null || !running[holder]) return undefined;
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

/** A record of which the outbox does not know whose it is, or that the index lacks: while there is one, no absence is believed. */
function isUnclear({ entry, records, listed }: Find): boolean {
  return entry === 'accepted' ? listed < records : entry !== 'uncertain' && listed > 0;
}

function harvested(name: string, { identCely, atMs }: Made) {
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
