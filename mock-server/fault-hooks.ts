import type { Answer } from './http-message.ts';

/** The connection ends without an answer: cut with a reset, or left open in silence until the client gives up. */
export class SimulatedDisconnect extends Error {
  readonly kind: 'hang' | 'reset';
  constructor(kind: 'hang' | 'reset') {
    super(kind);
    this.name = 'SimulatedDisconnect';
    this.kind = kind;
  }
}

/** Points inside an operation where a fault can strike: before anything is stored, and after the transaction is committed. */
export type Hooks = {
  /** undefined where there is nothing to wait for: what was planned is then saved before anybody else has a turn. */
  beforeSave(): Promise<void> | undefined;
  afterSave(): void;
};

/** The hooks of a request that no fault strikes. */
export const NO_HOOKS: Hooks = { beforeSave: () => undefined, afterSave: () => {} };

/** An answer that is to leave the server damaged: half of it under its full length. */
export type SentAnswer = Answer & { readonly truncated?: true };
