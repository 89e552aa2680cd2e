import type { Claim, Settlement } from '../../src/outbox/claims.ts';
import type { Random } from '../support/random.ts';
import { Copies, getIdent } from './copies.ts';
import { ReferenceFind } from './reference.ts';

const FINDS = ['F-1', 'F-2', 'F-3'];
const STEPS = 40;
/** Needs no lock. */
const WANTED = 'somebody wants again';

/** Steps of a trace, and the difference between outbox and history. */
export type Traced = { readonly steps: readonly string[]; readonly differs: string | undefined };

/** Random things happen to the copies of an outbox, and to the history. */
export function trace(folder: string, random: Random): Traced {
  const played = new Trace(folder, random);
  try {
    return { differs: played.play(), steps: played.steps };
  } catch (thrown) {
    return {
      differs: `it fails: ${thrown instanceof Error ? thrown.stack : String(thrown)}`,
      steps: played.steps,
    };
  } finally {
    played.close();
  }
}

class Trace {
  readonly #random: Random;
  readonly #copies: Copies;
  readonly #finds = FINDS.map(() => new ReferenceFind());
  /** The copy that is pushed, and what is under way from it. */
  #holder: string | undefined;
  readonly #claims = new Map<number, Claim>();
  /** Entries of a copy that were in flight when it was made. */
  readonly #seen = new Map<string, Set<number>>();
  #records = 0;
  readonly steps: string[] = [];

  constructor(folder: string, random: Random) {
    this.#random = random;
    this.#copies = new Copies(folder, FINDS);
  }

  close(): void {
    this.#copies.close();
  }

  play(): string | undefined {
    while (this.steps.length < STEPS) {
      if (!this.#step()) continue;
      const differs = this.#differs();
      if (differs !== undefined) return differs;
    }
    return undefined;
  }

  #names(): string[] {
    return ['first', 'second'].filter((name) => this.#copies.exists(name));
  }

  /** @returns whether anything was done */
  #step(): boolean {
    const random = this.#random;
    const [at, copy] = [random.between(0, FINDS.length - 1), random.pick(this.#names())];
    const find = this.#finds[at] as ReferenceFind;
    if (random.chance(0.25)) return this.#copyFiles(copy);
    // A request without a waiting client arrives, or it does not.
    if (find.onItsWay > 0 && !this.#claims.has(at) && random.chance(0.3))
      return this.#arrive(find, at);
    return this.#holder === undefined
      ? this.#atRest(find, at, copy)
      : this.#pushing(find, at, this.#holder);
  }

  #say(text: string): true {
    this.steps.push(text);
    return true;
  }

  #copyFiles(copy: string): boolean {
    switch (this.#random.between(0, 3)) {
      case 0:
        this.#copy(copy, 'kept');
        return this.#say(`${copy} is kept`);
      case 1:
        if (!this.#copies.exists('kept') || this.#holder === copy) return false;
        this.#copy('kept', copy);
        return this.#say(`${copy} is as it was kept`);
      case 2:
        if (this.#holder === 'second') return false;
        this.#copy('first', 'second');
        return this.#say('there is a second copy');
      default:
        if (this.#holder !== undefined) return false;
        // Entries without a copy would be lost with it.
        for (const name of this.#names()) this.#copies.merge(name, true);
        this.#copies.loseJournal();
        return this.#say('the journal is lost');
    }
  }

  #copy(from: string, to: string): void {
    this.#copies.copy(from, to);
    this.#seen.set(to, new Set(from === this.#holder ? this.#claims.keys() : this.#seen.get(from)));
  }

  #arrive(find: ReferenceFind, at: number): true {
    find.onItsWay -= 1;
    if (this.#random.chance(0.6)) find.made.push(++this.#records);
    return this.#say(`what was sent for ${at} is over: ${find.made.join()}`);
  }

  #atRest(find: ReferenceFind, at: number, copy: string): boolean {
    if (this.#random.chance(0.4)) {
      this.#copies.begin(copy);
      for (const each of this.#finds) each.recover();
      this.#holder = copy;
      return this.#say(`${copy} is pushed`);
    }
    // As a command begins. It takes the lock, so that nothing is under way any more.
    this.#copies.merge(copy, true);
    const recovered = find.state === 'sending' ? 'uncertain' : find.state;
    const done = this.#decide(find, at, copy, recovered);
    if (done !== undefined && done !== WANTED)
      for (const each of this.#finds) if (each !== find) each.recover();
    return done !== undefined && this.#say(`${copy}: ${done} ${at}`);
  }

  #decide(find: ReferenceFind, at: number, copy: string, state: string): string | undefined {
    const draw = this.#random.between(0, 2);
    if (draw === 0 && find.mayBeUndone && find.state !== 'sending') {
      this.#copies.undo(copy, at, true);
      find.undo();
      return 'a decision is taken back about';
    }
    if (draw === 1 && find.state === 'dropped') {
      this.#copies.takeBack(copy, at);
      find.takeBack();
      return WANTED;
    }
    if (draw === 1 && ['uncertain', 'queued', 'refused'].includes(state)) {
      this.#copies.decide(copy, at, 'drop', null, true);
      find.recover();
      find.decide('drop', null);
      return 'a person gives up';
    }
    if (draw < 2 || state !== 'uncertain' || find.onItsWay > 0) return undefined;
    const [record = null] = find.made;
    const kind = record === null ? 'resend' : 'created';
    this.#copies.decide(copy, at, kind, record, true);
    find.recover();
    find.decide(kind, record);
    return `a person decides ${kind} of`;
  }

  #pushing(find: ReferenceFind, at: number, holder: string): boolean {
    const random = this.#random;
    const claimed = this.#claims.get(at);
    if (random.chance(0.1)) {
      this.#holder = undefined;
      this.#claims.clear();
      return this.#say(`${holder} is killed`);
    }
    if (random.chance(0.08) && this.#claims.size === 0) {
      this.#holder = undefined;
      return this.#say(`${holder} has ended`);
    }
    if (find.state === 'queued' && random.chance(0.1)) {
      this.#copies.decide(holder, at, 'drop', null, false);
      find.decide('drop', null);
      return this.#say(`${holder}, beside its push: a person gives up ${at}`);
    }
    if (claimed !== undefined) return this.#answer(find, at, holder, claimed);
    if (find.state === 'queued') {
      const begun = this.#copies.claim(holder, at);
      if (begun === undefined) throw new Error(`${at} is queued and cannot be sent`);
      this.#claims.set(at, begun);
      find.attempt();
      for (const seen of this.#seen.values()) seen.delete(at);
      find.onItsWay += 1;
      return this.#say(`${at} is sent`);
    }
    if (find.state !== 'uncertain' || find.onItsWay > 0) return false;
    const [record = null] = find.made;
    this.#copies.look(holder, at, record);
    if (record === null) find.absent();
    else find.found(record);
    return this.#say(`a look says of ${at}: ${record ?? 'absent'}`);
  }

  #answer(find: ReferenceFind, at: number, holder: string, claimed: Claim): boolean {
    const random = this.#random;
    const isTorn = random.chance(0.15);
    const [settlement, record] = this.#draw(find);
    this.#claims.delete(at);
    const owner = this.#finds.find(
      (each) => each !== find && each.state === 'accepted' && each.record !== null,
    );
    if (settlement.state === 'accepted' && owner !== undefined && random.chance(0.2)) {
      const lost = owner.record as number;
      this.#copies.reassign(holder, claimed, lost);
      owner.made = [];
      owner.release();
      find.made = [lost];
      find.answer('unknown', null);
      return this.#say(`${at} is given the record ${lost} of another find`);
    }
    this.#copies.settle(holder, claimed, settlement, isTorn);
    find.answer(settlement.state === 'uncertain' ? 'unknown' : settlement.state, record);
    if (isTorn) {
      this.#holder = undefined;
      this.#claims.clear();
    }
    return this.#say(
      `${at} is answered: ${settlement.state} ${record ?? ''}${isTorn ? `, and ${holder} is killed` : ''}`,
    );
  }

  #draw(find: ReferenceFind): [Settlement, number | null] {
    const draw = this.#random.between(0, 5);
    if (draw >= 4) return [{ state: 'uncertain', reason: '' }, null];
    // An answer comes when the request is over.
    find.onItsWay -= 1;
    if (draw === 0) return [{ state: 'refused', reason: '', issues: [] }, null];
    if (draw === 1) return [{ state: 'queued', reason: '', notBeforeAt: 0 }, null];
    find.made.push(++this.#records);
    return [{ state: 'accepted', identCely: getIdent(this.#records) }, this.#records];
  }

  #differs(): string | undefined {
    const wrong = this.#finds.flatMap((find, at) =>
      find.isWrong === undefined ? [] : [`of ${at}: ${find.isWrong}`],
    )[0];
    return wrong ?? this.#names().flatMap((name) => this.#differsIn(name) ?? [])[0];
  }

  /**
   * A copy that is merged is where the history is; without the lock it does not take up what is
   * under way.
   */
  #differsIn(name: string): string | undefined {
    const isHolder = name === this.#holder;
    if (!isHolder) this.#copies.merge(name, this.#holder === undefined);
    const real = FINDS.map((_, at) => {
      const entry = this.#copies.entry(name, at);
      return entry?.state === 'accepted'
        ? `accepted ${Number(entry.identCely?.slice(-5))}`
        : `${entry?.state}`;
    });
    const differences = this.#finds.map((find, at) => {
      const isUnseen =
        !isHolder && this.#holder !== undefined && this.#seen.get(name)?.has(at) !== true;
      const state = isUnseen ? find.stateBefore : find.state;
      return state === 'accepted' ? `accepted ${find.record}` : state;
    });
    return String(real) === String(differences)
      ? undefined
      : `${name} says ${real.join()}, and the history ${differences.join()}`;
  }
}
