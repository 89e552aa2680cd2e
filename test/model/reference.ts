/**
 * The way of a find to the service, as the one true history has it: what the outbox, its copies and
 * the journal must come to whenever they are merged. Written without a line of theirs.
 */
export type State = 'queued' | 'sending' | 'accepted' | 'refused' | 'uncertain' | 'dropped';

/** Facts of the events about a find that later ones depend on. */
type Standing = { readonly state: State; readonly record: number | null; readonly inDoubt: number };

export class ReferenceFind {
  #now: Standing = { state: 'queued', record: null, inDoubt: 0 };
  /** As it stood before the attempt that has no answer. */
  #before: Standing = this.#now;
  /** As it stood before the last decision, while that can be taken back. */
  #taken: Standing | undefined;
  /** As it stood before it was given up. */
  #given: Standing | undefined;
  /** Records that the service has made for it, and requests that may still come to it. */
  made: number[] = [];
  onItsWay = 0;

  get state(): State {
    return this.#now.state;
  }

  get record(): number | null {
    return this.#now.record;
  }

  /** The view of a machine that does not know the unanswered attempt. */
  get stateBefore(): State {
    return this.#now.state === 'sending' ? this.#before.state : this.#now.state;
  }

  get mayBeUndone(): boolean {
    return this.#taken !== undefined;
  }

  attempt(): void {
    this.#before = this.#now;
    this.#taken = undefined;
    this.#now = { ...this.#now, state: 'sending' };
  }

  answer(settles: 'accepted' | 'refused' | 'queued' | 'unknown', record: number | null): void {
    if (settles === 'unknown')
      this.#now = { state: 'uncertain', record: null, inDoubt: this.#now.inDoubt + 1 };
    else this.#now = { state: settles, record: settles === 'accepted' ? record : null, inDoubt: 0 };
  }

  /** The client no longer waits for the answer. */
  recover(): void {
    if (this.#now.state === 'sending') this.answer('unknown', null);
  }

  found(record: number): void {
    this.#taken = undefined;
    this.#now = { state: 'accepted', record, inDoubt: 0 };
  }

  absent(): void {
    this.#taken = undefined;
    this.#now = { state: 'queued', record: null, inDoubt: 0 };
  }

  decide(kind: 'created' | 'resend' | 'drop', record: number | null): void {
    this.#taken = this.#now;
    if (kind === 'created') this.#now = { state: 'accepted', record, inDoubt: 0 };
    else if (kind === 'resend') this.#now = { state: 'queued', record: null, inDoubt: 0 };
    else {
      this.#given = this.#now;
      this.#now = { ...this.#now, state: 'dropped' };
    }
  }

  /** It is wanted all the same, and nothing is known of it that was not known before. */
  takeBack(): void {
    this.#taken = this.#now;
    this.#now = this.#given ?? this.#now;
  }

  undo(): void {
    if (this.#taken !== undefined) this.#now = this.#taken;
    this.#taken = undefined;
  }

  /** The service gave its record to another find. */
  release(): void {
    this.#taken = undefined;
    this.#now = { state: 'uncertain', record: null, inDoubt: 1 };
  }

  /** Nothing that may have been sent may be sent again. */
  get isWrong(): string | undefined {
    if (this.#now.state !== 'queued') return undefined;
    if (this.made.length > 0) return `it is queued, and the service has ${this.made.join()}`;
    return this.onItsWay > 0 ? 'it is queued, and a request is on its way' : undefined;
  }
}
